/// Proportional sampling: draws a leaf with a probability that is its share of the total.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace warpzone::replay {

/// A binary tree whose inner nodes hold the sum of what is below them. Changing a leaf and drawing
/// one each take a step a level. A parent is always the sum of its children as they are, so errors
/// of rounding do not add up over the life of the tree.
class SumTree {
 public:
  /// Throws std::invalid_argument for a capacity below 1.
  explicit SumTree(std::int64_t capacity);

  std::int64_t capacity() const { return capacity_; }
  double total() const { return nodes_[1]; }
  std::span<const double> leaves() const;

  /// Gives leaves new weights; where an index comes twice, the later one counts. Throws
  /// std::invalid_argument, with nothing changed, for an index out of range or a weight that is
  /// negative or not finite.
  void set(std::span<const std::int64_t> indices, std::span<const double> weights);

  /// Fills `out` with the weights of leaves. Throws std::invalid_argument for an index out of
  /// range.
  void get(std::span<const std::int64_t> indices, std::span<double> out) const;

  /// Fills `out` with the leaves at these shares (from 0 to below 1) of the total. Never draws a
  /// leaf without weight. Throws std::invalid_argument when no leaf has any.
  void find(std::span<const double> shares, std::span<std::int64_t> out) const;

 private:
  void check_index(std::int64_t index) const;
  void descend(std::span<const double> shares, std::span<std::int64_t> out) const;

  std::int64_t capacity_;
  std::int64_t first_leaf_;    ///< The leaves' number rounded up to a power of two.
  std::vector<double> nodes_;  ///< The children of node i are 2i and 2i + 1; the root is 1.
};

}  // namespace warpzone::replay
