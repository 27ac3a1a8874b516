#include "search/trail.hpp"

#include <algorithm>

namespace warpzone::search {

NodeId Trail::add(NodeId parent, std::span<const std::uint8_t> inputs) {
  Node node;
  node.parent = parent;
  node.references = 1;
  for (const std::uint8_t buttons : inputs) {
    if (node.runs.empty() || node.runs.back().buttons != buttons ||
        node.runs.back().steps == UINT8_MAX) {
      node.runs.push_back({buttons, 0});
    }
    ++node.runs.back().steps;
  }
  node.runs.shrink_to_fit();
  memory_ += size_of(node);
  if (parent != kNoNode) hold(parent);
  if (free_.empty()) {
    nodes_.push_back(std::move(node));
    return static_cast<NodeId>(nodes_.size() - 1);
  }
  const NodeId id = free_.back();
  free_.pop_back();
  nodes_[id] = std::move(node);
  return id;
}

void Trail::hold(NodeId node) { ++nodes_[node].references; }

void Trail::release(NodeId id) {
  while (id != kNoNode && --nodes_[id].references == 0) {
    const NodeId parent = nodes_[id].parent;
    memory_ -= size_of(nodes_[id]);
    nodes_[id] = Node{};
    free_.push_back(id);
    id = parent;
  }
}

std::vector<std::uint8_t> Trail::inputs_to(NodeId id) const {
  std::vector<std::uint8_t> backwards;
  for (; id != kNoNode; id = nodes_[id].parent) {
    const std::vector<Run>& runs = nodes_[id].runs;
    for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
      backwards.insert(backwards.end(), run->steps, run->buttons);
    }
  }
  std::reverse(backwards.begin(), backwards.end());
  return backwards;
}

}  // namespace warpzone::search
