/// The envelope of a lane's save state: versioned, checksummed, tied to the shape of observations.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mario/tracker.hpp"
#include "vector/config.hpp"

namespace warpzone {

struct LaneParts {
  std::span<const std::uint8_t> console, lane, frames;
};

/// True for an envelope, false for anything else (a bare console's state, say).
bool is_lane_state(std::span<const std::uint8_t> blob);

std::vector<std::uint8_t> pack_lane_state(std::span<const std::uint8_t> console,
                                          std::span<const std::uint8_t> lane,
                                          std::span<const std::uint8_t> frames,
                                          const LaneSettings& settings);

/// Throws nes::StateError with the reason.
LaneParts unpack_lane_state(std::span<const std::uint8_t> blob, std::size_t lane_size,
                            const LaneSettings& settings);

/// More agent steps than any run takes; a state that claims more was forged.
inline constexpr std::int64_t kMostSteps = std::int64_t{1} << 60;

/// Whether a tracker read from a state can be worked with: no truth that is neither true nor false,
/// no index out of its table, no number so large that counting on would overflow. A checksum keeps
/// accidents out, but anybody can write one.
bool is_sound(const mario::Tracker& tracker);

/// The console's part of either kind of state.
std::span<const std::uint8_t> console_part(std::span<const std::uint8_t> blob);

}  // namespace warpzone
