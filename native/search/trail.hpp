/// Every way that the search has gone, as a tree: a knot is reached from its parent by some inputs.
///
/// Ways share their beginnings. A knot never changes, so what leads to a place stays right when an
/// earlier place on it gets a shorter way; it goes when nobody refers to it any more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace warpzone::search {

using KnotId = std::uint32_t;
inline constexpr KnotId kNoKnot = UINT32_MAX;

class Trail {
 public:
  /// The beginning of a new tree or branch, with one reference that the caller holds.
  KnotId add(KnotId parent, std::span<const std::uint8_t> inputs);
  void hold(KnotId knot);
  /// Gives one reference back.
  void release(KnotId knot);

  /// All inputs from the root to the knot, one a step.
  std::vector<std::uint8_t> inputs_to(KnotId knot) const;
  std::size_t memory() const { return memory_; }

 private:
  struct Run {
    std::uint8_t buttons;
    std::uint8_t steps;
  };
  struct Knot {
    KnotId parent = kNoKnot;
    std::uint32_t references = 0;
    std::vector<Run> runs;
  };
  static std::size_t size_of(const Knot& knot) {
    return sizeof(Knot) + knot.runs.capacity() * sizeof(Run);
  }

  std::vector<Knot> knots_;
  std::vector<KnotId> free_;
  std::size_t memory_ = 0;
};

}  // namespace warpzone::search
