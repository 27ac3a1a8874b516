#include "search/archive.hpp"

#include <algorithm>

namespace warpzone::search {
namespace {

// Half of the choices fall on the newest cells, where the search stands; the others spread.
constexpr double kNewestShare = 0.5;
constexpr std::uint32_t kNewestLeast = 60, kNewestDivisor = 12;
constexpr int kNewestDraws = 6, kAnyDraws = 10;
constexpr int kChooseTries = 32;
// From when on a cell is tired, and how much longer another path to it may be.
constexpr std::uint32_t kTired = 12;
constexpr std::int32_t kMostDetour = 400;
constexpr int kVictimDraws = 16;

}  // namespace

bool Archive::wants(CellKey key, std::int32_t frames) const {
  const auto found = by_key_.find(key);
  return found == by_key_.end() || frames < cells_[found->second].frames;
}

bool Archive::tires_of(CellKey key, std::int32_t frames) const {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return false;
  const Cell& cell = cells_[found->second];
  return cell.stale >= kTired && frames <= cell.frames + kMostDetour;
}

Archive::Slot Archive::insert(CellKey key) {
  Slot slot = static_cast<Slot>(cells_.size());
  if (free_.empty()) {
    cells_.emplace_back();
  } else {
    slot = free_.back();
    free_.pop_back();
    cells_[slot] = Cell{};
  }
  cells_[slot].key = key;
  by_key_.emplace(key, slot);
  order_.push_back(slot);
  return slot;
}

Archive::Change Archive::add(Discovery&& discovery, NodeId parent,
                             std::span<const std::uint8_t> inputs, NodeId& node, Random& random) {
  const auto found = by_key_.find(discovery.key);
  const bool is_new = found == by_key_.end();
  if (!is_new && !wants(discovery.key, discovery.frames) &&
      !(discovery.alternative && tires_of(discovery.key, discovery.frames))) {
    return Change::kNone;
  }
  const Slot slot = is_new ? insert(discovery.key) : found->second;
  Cell& cell = cells_[slot];
  node = trail_.add(parent, inputs);
  if (cell.node != kNoNode) trail_.release(cell.node);
  cell.node = node;
  cell.frames = discovery.frames;
  cell.stale = 0;
  states_memory_ += discovery.state.size() - cell.state.size();
  cell.state = std::move(discovery.state);
  make_room(random, slot);
  return is_new ? Change::kNew : Change::kBetter;
}

void Archive::make_room(Random& random, Slot keep) {
  // The first cell, the start of the level, always stays.
  while (memory() > memory_limit_ && order_.size() > 2) {
    std::size_t victim = 0;
    const auto hopeless = [&](std::size_t position) { return cells_[order_[position]].stale; };
    for (int i = 0; i < kVictimDraws; ++i) {
      const auto last = static_cast<std::uint32_t>(order_.size() - 1);
      const std::size_t position = 1 + random.below(last);
      if (order_[position] == keep) continue;
      if (victim == 0 || hopeless(position) > hopeless(victim)) victim = position;
    }
    if (victim == 0) continue;
    forget(victim);
  }
}

void Archive::forget(std::size_t position) {
  const Slot slot = order_[position];
  Cell& cell = cells_[slot];
  order_.erase(order_.begin() + static_cast<std::ptrdiff_t>(position));
  by_key_.erase(cell.key);
  trail_.release(cell.node);
  states_memory_ -= cell.state.size();
  cell = Cell{};
  free_.push_back(slot);
  ++forgotten_;
}

Archive::Slot Archive::draw_newest(Random& random) const {
  const auto count = static_cast<std::uint32_t>(order_.size());
  const std::uint32_t newest = std::min(count, std::max(kNewestLeast, count / kNewestDivisor));
  Slot best = order_[count - 1 - random.below(newest)];
  for (int i = 1; i < kNewestDraws; ++i) {
    const Slot other = order_[count - 1 - random.below(newest)];
    if (cells_[other].stale < cells_[best].stale) best = other;
  }
  return best;
}

Archive::Slot Archive::draw_any(Random& random) const {
  const auto count = static_cast<std::uint32_t>(order_.size());
  Slot best = order_[random.below(count)];
  for (int i = 1; i < kAnyDraws; ++i) {
    const Slot other = order_[random.below(count)];
    if (cells_[other].chosen < cells_[best].chosen) best = other;
  }
  return best;
}

const Cell* Archive::choose(Random& random, std::int32_t most_frames) {
  for (int i = 0; i < kChooseTries; ++i) {
    const bool newest = random.uniform() < kNewestShare;
    Cell& cell = cells_[newest ? draw_newest(random) : draw_any(random)];
    ++cell.chosen;
    ++cell.stale;
    if (cell.frames < most_frames) return &cell;
  }
  return nullptr;
}

void Archive::praise(CellKey key) {
  const auto found = by_key_.find(key);
  if (found != by_key_.end()) cells_[found->second].stale = 0;
}

}  // namespace warpzone::search
