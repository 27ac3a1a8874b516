/// The arrays that a batch of lanes writes into.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "vector/lane.hpp"

namespace warpzone {

/// Raised when lanes failed; the text names each and why. The others have finished their step, and
/// the pool stays usable: the failed lanes want a reset.
struct LaneError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws a LaneError if any of these, one per lane, is not empty.
void throw_errors(std::span<const std::string> errors);

/// Infos of the whole batch, one row per lane unless stated otherwise.
struct InfoBatch {
  std::int32_t* numbers = nullptr;  ///< [kInfoNumbers][rows]
  std::uint8_t* flags = nullptr;    ///< [kInfoFlags][rows]
  float* terms = nullptr;
  std::int32_t* enemies = nullptr;

  InfoSlot slot(int row, int rows) const;
};

/// Arrays of the whole batch, one row per lane. The caller keeps them alive.
struct BatchOutput {
  std::uint8_t* obs = nullptr;
  std::uint8_t* features = nullptr;
  float* reward = nullptr;
  std::uint8_t* terminated = nullptr;
  std::uint8_t* truncated = nullptr;
  InfoBatch info;
  // Same-step autoreset only; written where an episode ended.
  std::uint8_t* final_obs = nullptr;
  std::uint8_t* final_features = nullptr;
  InfoBatch final_info;
};

/// Where the lane writes that has this row of a batch of so many rows.
LaneOutput row_of(const BatchOutput& batch, int row, int rows, const LaneSettings& settings);

}  // namespace warpzone
