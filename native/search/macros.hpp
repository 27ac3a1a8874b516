/// Random play: buttons held for a while, mostly to the right.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "common/random.hpp"

namespace warpzone::search {

/// The button combinations that may be pressed.
class AllowedButtons {
 public:
  /// Empty means every sensible one: directions, A and B.
  explicit AllowedButtons(std::span<const std::uint8_t> combinations);
  bool contains(std::uint8_t buttons) const { return allowed_[buttons]; }

 private:
  std::array<bool, 256> allowed_{};
};

/// The inputs of one exploration. Each has a leaning of its own: most run to the right, some
/// wander, a few go back.
class Macros {
 public:
  /// `skip` is the number of frames a step takes; inputs never change within one.
  Macros(Random& random, const AllowedButtons& allowed, int skip);

  /// The buttons of the next step.
  std::uint8_t next(bool swimming);

 private:
  std::uint8_t draw_buttons();
  std::uint8_t draw_combination();
  int draw_steps();

  Random& random_;
  const AllowedButtons& allowed_;
  int skip_;
  double right_, left_;  ///< Shares of macros in either direction.
  std::uint8_t buttons_ = 0;
  int steps_left_ = 0;
  int steps_held_ = 0;
  bool taps_ = false;  ///< A is let go and pressed anew, as swimming asks for.
};

}  // namespace warpzone::search
