/// The envelope of a lane's save state: versioned, checksummed, tied to the shape of observations.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vector/config.hpp"

namespace warpzone {

struct LaneParts {
  std::span<const std::uint8_t> console, lane, planes;
};

/// True for an envelope, false for anything else (a bare console's state, say).
bool is_lane_state(std::span<const std::uint8_t> blob);

std::vector<std::uint8_t> pack_lane_state(std::span<const std::uint8_t> console,
                                          std::span<const std::uint8_t> lane,
                                          std::span<const std::uint8_t> planes,
                                          const LaneSettings& settings);

/// Throws nes::StateError with the reason.
LaneParts unpack_lane_state(std::span<const std::uint8_t> blob, std::size_t lane_size,
                            const LaneSettings& settings);

/// The console's part of either kind of state.
std::span<const std::uint8_t> console_part(std::span<const std::uint8_t> blob);

}  // namespace warpzone
