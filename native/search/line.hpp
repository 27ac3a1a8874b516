/// The best solution so far, with save states and places along it: what variations of it start
/// from.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "search/packed_state.hpp"
#include "search/replay.hpp"

namespace warpzone::search {

class Line {
 public:
  struct Stop {
    std::size_t step = 0;
    PackedState state;
  };
  /// Where Mario is after a step.
  struct Point {
    std::uint16_t area = 0;
    std::int32_t x = 0;
  };

  /// To be called at the start and after every frame of the solution, then `finish`.
  void record(const nes::Console& console, std::int32_t frame, int skip);
  void finish(std::vector<std::uint8_t> inputs) { inputs_ = std::move(inputs); }

  std::span<const std::uint8_t> inputs() const { return inputs_; }
  /// The last stop at or before a step.
  const Stop& stop_before(std::size_t step) const;
  /// Whether `ram` shows Mario near where the solution has him after `step` steps.
  bool passes(const std::uint8_t* ram, std::size_t step) const;

 private:
  std::vector<std::uint8_t> inputs_;
  std::vector<Stop> stops_;
  std::vector<Point> points_;  ///< Index 0 is the start.
};

}  // namespace warpzone::search
