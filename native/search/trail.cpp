#include "search/trail.hpp"

#include <algorithm>

namespace warpzone::search {

KnotId Trail::add(KnotId parent, std::span<const std::uint8_t> inputs) {
  Knot knot;
  knot.parent = parent;
  knot.references = 1;
  for (const std::uint8_t buttons : inputs) {
    if (knot.runs.empty() || knot.runs.back().buttons != buttons ||
        knot.runs.back().steps == UINT8_MAX) {
      knot.runs.push_back({buttons, 0});
    }
    ++knot.runs.back().steps;
  }
  knot.runs.shrink_to_fit();
  memory_ += size_of(knot);
  if (parent != kNoKnot) hold(parent);
  if (free_.empty()) {
    knots_.push_back(std::move(knot));
    return static_cast<KnotId>(knots_.size() - 1);
  }
  const KnotId id = free_.back();
  free_.pop_back();
  knots_[id] = std::move(knot);
  return id;
}

void Trail::hold(KnotId knot) { ++knots_[knot].references; }

void Trail::release(KnotId id) {
  while (id != kNoKnot && --knots_[id].references == 0) {
    const KnotId parent = knots_[id].parent;
    memory_ -= size_of(knots_[id]);
    knots_[id] = Knot{};
    free_.push_back(id);
    id = parent;
  }
}

std::vector<std::uint8_t> Trail::inputs_to(KnotId id) const {
  std::vector<std::uint8_t> backwards;
  for (; id != kNoKnot; id = knots_[id].parent) {
    const std::vector<Run>& runs = knots_[id].runs;
    for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
      backwards.insert(backwards.end(), run->steps, run->buttons);
    }
  }
  std::reverse(backwards.begin(), backwards.end());
  return backwards;
}

}  // namespace warpzone::search
