/// The reward and episode ends of gym-super-mario-bros 7.4, for people who move over from it.
#pragma once

#include <cstdint>

#include "mario/end_reason.hpp"
#include "nes/console.hpp"

namespace warpzone::mario {

/// The reward of gym-super-mario-bros 7.4. That package rewards every emulated frame and clips each
/// to [-15, 15]; frame skipping adds the frames up. So `step` is called after every frame, and the
/// caller adds.
struct ClassicReward {
  std::int32_t x_last = 0;
  std::int32_t clock_last = 0;

  void reset(const std::uint8_t* ram);
  std::int32_t step(const std::uint8_t* ram);
};

bool classic_flag_get(const std::uint8_t* ram);
/// Whether and why the package ends the episode of a single level here.
EndReason classic_end_reason(const std::uint8_t* ram);

/// What the package does after a frame that did not end the episode: it continues, with no buttons
/// pressed and nothing rewarded, until scripted moments are over. At most a bounded number of
/// frames.
void classic_skip_scripted(nes::Console& console);

}  // namespace warpzone::mario
