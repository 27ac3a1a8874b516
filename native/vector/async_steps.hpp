/// Steps of single lanes that are in flight between `send` and `recv`.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/task_queue.hpp"
#include "vector/batch.hpp"
#include "vector/lane.hpp"

namespace warpzone {

/// Raised when a lane in flight is used; the text names it and says what to do.
struct InFlightError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Threads take lanes in the order in which they were sent, and none waits for another. A lane in
/// flight writes only into memory of its own: observation and info stay in the lane until `recv`
/// copies them into the caller's arrays. One caller at a time.
class AsyncSteps {
 public:
  /// The lanes and settings must outlive this.
  AsyncSteps(std::span<const std::unique_ptr<Lane>> lanes, const LaneSettings& settings,
             int threads);

  /// See Pool for these three.
  void send(std::span<const int> lanes, std::span<const std::int32_t> actions);
  void send_reset(std::span<const int> lanes, std::span<const std::optional<std::uint64_t>> seeds);
  std::vector<int> recv(int count, const BatchOutput& out);

  int in_flight() const { return in_flight_; }
  void require_none_in_flight() const;
  void require_not_in_flight(int lane) const;

 private:
  static constexpr std::int32_t kReset = -1;

  /// What was asked of a lane, and what came of it besides observation and info.
  struct alignas(64) Slot {  // A cache line each: neighbours belong to other threads.
    bool in_flight = false;
    std::int32_t action = kReset;
    float reward = 0.0F;
    std::uint8_t terminated = 0, truncated = 0;
    std::string error;
  };

  /// The last moments of episodes, for same-step autoreset; one row per lane.
  struct Finals {
    std::vector<std::uint8_t> obs, features, flags;
    std::vector<std::int32_t> numbers, enemies;
    std::vector<float> terms;

    Finals(std::size_t lanes, const LaneSettings& settings);
    BatchOutput batch();
  };

  void check_lanes(std::span<const int> lanes) const;
  void launch(std::span<const int> lanes);
  void play(int lane);
  LaneOutput output_of(int lane);
  /// Takes failed lanes out of `ready_`. Throws a LaneError if there were any.
  void drop_failed();
  void write_row(int lane, int row, int rows, const BatchOutput& out);
  Slot& slot(int lane) { return slots_[static_cast<std::size_t>(lane)]; }

  std::span<const std::unique_ptr<Lane>> lanes_;
  const LaneSettings& settings_;
  std::vector<Slot> slots_;
  std::optional<Finals> finals_;
  std::deque<int> ready_;  ///< Done, and not returned yet.
  int in_flight_ = 0;
  TaskQueue queue_;  ///< Last: its threads end before anything they use.
};

}  // namespace warpzone
