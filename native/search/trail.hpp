/// Every path that the search has taken, as a tree: a node is reached from its parent by inputs.
///
/// Paths share their beginnings. A node never changes, so what leads to a place stays right when an
/// earlier place on it gets a shorter path; it is freed when nothing refers to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace warpzone::search {

using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = UINT32_MAX;

class Trail {
 public:
  /// The beginning of a new tree or branch, with one reference that the caller holds.
  NodeId add(NodeId parent, std::span<const std::uint8_t> inputs);
  void hold(NodeId node);
  /// Gives one reference back.
  void release(NodeId node);

  /// All inputs from the root to the node, one per step.
  std::vector<std::uint8_t> inputs_to(NodeId node) const;
  std::size_t memory() const { return memory_; }

 private:
  struct Run {
    std::uint8_t buttons;
    std::uint8_t steps;
  };
  struct Node {
    NodeId parent = kNoNode;
    std::uint32_t references = 0;
    std::vector<Run> runs;
  };
  static std::size_t size_of(const Node& node) {
    return sizeof(Node) + node.runs.capacity() * sizeof(Run);
  }

  std::vector<Node> nodes_;
  std::vector<NodeId> free_;
  std::size_t memory_ = 0;
};

}  // namespace warpzone::search
