/// Many lanes over a few threads, writing straight into the caller's arrays.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/workers.hpp"
#include "vector/async_steps.hpp"
#include "vector/batch.hpp"
#include "vector/lane.hpp"

namespace warpzone {

/// One caller at a time: all methods that move lanes wait for each other, and for whoever holds the
/// pool while working on its lanes or weights. While lanes are in flight, between `send` and
/// `recv`, whatever touches them or all lanes throws InFlightError.
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
  /// Begins steps of some lanes and returns at once; `recv` returns their results. Throws
  /// InFlightError or std::invalid_argument, and then begins none.
  void send(std::span<const int> lanes, std::span<const std::int32_t> actions);
  /// The same with resets. `seeds` has one item per lane of the pool, or none.
  void send_reset(std::span<const int> lanes, std::span<const std::optional<std::uint64_t>> seeds);
  /// Waits for the `count` lanes that are done first and returns them, in the order of the rows of
  /// `out`; the caller's thread plays lanes meanwhile. Throws std::invalid_argument when fewer are
  /// in flight, and LaneError once lanes have failed: those are not in flight any more, the results
  /// of the others stay for the next call.
  std::vector<int> recv(int count, const BatchOutput& out);
  /// How many lanes `recv` can still return.
  int in_flight();

  /// Calls `work` once for every lane, in the pool's threads; which thread gets which lane is left
  /// to chance. Throws LaneError as `step` does.
  void for_each_lane(const std::function<void(int, Lane&)>& work);
  /// Observation and info of the present moment, without a step.
  void observe(std::span<const int> lanes, const BatchOutput& out);

  /// Keeps steps from beginning until the result is destroyed. Throws InFlightError while lanes are
  /// in flight.
  std::unique_lock<std::mutex> hold();
  /// The same for whoever works on one lane only: others may be in flight.
  std::unique_lock<std::mutex> hold(int lane);
  Lane& lane(int index);
  /// A level of the game, or the whole game. Throws std::invalid_argument.
  Task task_named(const std::string& level) const { return parse_task(level, context_.game); }
  /// From the lane's next reset on. Any level of the game, not only the configured ones.
  void set_level(int index, const std::string& level);
  mario::RewardWeights& weights() { return context_.weights; }
  /// Time spent in reset, step and recv, in seconds.
  double seconds() const { return seconds_; }

 private:
  template <typename Work>
  void for_lanes(Work work);
  AsyncSteps& async();
  LaneOutput output_of(int lane, const BatchOutput& out) const {
    return row_of(out, lane, size(), settings());
  }

  LaneContext context_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  Workers workers_;
  std::unique_ptr<AsyncSteps> async_;  ///< Made when first needed.
  double seconds_ = 0.0;
  std::mutex mutex_;
};

}  // namespace warpzone
