/// Many lanes over a few threads, writing straight into the caller's arrays.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/workers.hpp"
#include "vector/lane.hpp"

namespace warpzone {

/// Raised when lanes failed; the text names each and why. The others have finished their step, and
/// the pool stays usable: the failed lanes want a reset.
struct LaneError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Infos of the whole batch, one row per lane unless stated otherwise.
struct InfoBatch {
  std::int32_t* numbers = nullptr;  ///< [kInfoNumbers][lanes]
  std::uint8_t* flags = nullptr;    ///< [kInfoFlags][lanes]
  float* terms = nullptr;
  std::int32_t* enemies = nullptr;

  InfoSlot slot(int lane, int lanes) const;
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

/// One caller at a time: `reset`, `step` and `observe` wait for each other, and for whoever holds
/// the pool while working on its lanes or weights.
class Pool {
 public:
  Pool(std::shared_ptr<const nes::Cartridge> cartridge, mario::Game game, const EnvConfig& config,
       int lanes, int threads);

  int size() const { return static_cast<int>(lanes_.size()); }
  int threads() const { return workers_.count(); }
  const LaneSettings& settings() const { return context_.settings; }
  int action_count() const { return static_cast<int>(settings().config.actions.size()); }

  /// Begins an episode in every lane that `mask` selects (all when it is empty), after giving lane
  /// i the seed seeds[i] where there is one. Lanes left out write nothing.
  void reset(std::span<const std::optional<std::uint64_t>> seeds,
             std::span<const std::uint8_t> mask, const BatchOutput& out);
  /// One agent step in every lane.
  void step(std::span<const std::int32_t> actions, const BatchOutput& out);
  /// Calls `work` once for every lane, in the pool's threads; which thread gets which lane is left
  /// to chance. Throws LaneError as `step` does.
  void for_each_lane(const std::function<void(int, Lane&)>& work);
  /// Observation and info of the present moment, without a step.
  void observe(std::span<const int> lanes, const BatchOutput& out);

  /// Keeps steps from beginning until the result is destroyed.
  std::unique_lock<std::mutex> hold() { return std::unique_lock(mutex_); }
  Lane& lane(int index);
  /// A level of the game, or the whole game. Throws std::invalid_argument.
  Task task_named(const std::string& level) const { return parse_task(level, context_.game); }
  /// From the lane's next reset on. Any level of the game, not only the configured ones.
  void set_level(int index, const std::string& level);
  mario::RewardWeights& weights() { return context_.weights; }
  /// Time spent in reset and step, in seconds.
  double seconds() const { return seconds_; }

 private:
  template <typename Work>
  void for_lanes(Work work);
  LaneOutput output_of(int lane, const BatchOutput& out) const;

  LaneContext context_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  Workers workers_;
  double seconds_ = 0.0;
  std::mutex mutex_;
};

}  // namespace warpzone
