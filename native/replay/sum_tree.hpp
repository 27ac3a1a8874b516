/// Proportional sampling: draws a leaf with a probability that is its share of the total.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace warpzone::replay {

/// A tree whose inner nodes hold the sum of what is below them. The children of a node lie side by
/// side with their running sums, in one line of the cache: the child that a share falls on is found
/// by comparing it with all of them, without a branch. All draws go down a level together, so that
/// they wait for memory at the same time and not one after the other.
/// Running sums are always made anew from the weights as they are, so errors of rounding do not add
/// up over the life of the tree.
class SumTree {
 public:
  /// Throws std::invalid_argument for a capacity below 1.
  explicit SumTree(std::int64_t capacity);

  std::int64_t capacity() const { return capacity_; }
  double total() const { return levels_.back().sums.back().back(); }
  std::span<const double> leaves() const;
  /// Memory that is allocated.
  std::size_t bytes() const;

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
  static constexpr std::size_t kSiblings = 8;
  /// The numbers of siblings fill a line of the cache, and begin with it.
  struct alignas(kSiblings * sizeof(double)) Block : std::array<double, kSiblings> {};

  /// Nodes by blocks of siblings; unused ones have weight 0.
  struct Level {
    std::vector<double> weights;
    std::vector<Block> sums;  ///< Of the weights up to each node, from its block's first on.
  };

  void check_index(std::int64_t index) const;
  void add_up(std::size_t level, std::size_t block);
  /// The child of a block that a mass falls on; leaves the mass that is beyond those before it.
  std::size_t descend(std::size_t level, std::size_t block, double& mass) const;

  std::int64_t capacity_;
  std::vector<Level> levels_;  ///< From the leaves to the root's children, a single block.
};

}  // namespace warpzone::replay
