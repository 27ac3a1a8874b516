/// Plays whole rollouts: each of a pool's threads takes lanes and plays them to the end, choosing
/// actions with the network, without waiting for other lanes and without leaving native code.
///
/// What is written depends on the weights, the lanes and their random streams alone, not on the
/// number of threads.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "policy/episode_starts.hpp"
#include "policy/network.hpp"
#include "policy/snapshots.hpp"
#include "vector/pool.hpp"

namespace warpzone::policy {

/// Where a rollout of T steps of N lanes is written: [T, N] unless said otherwise. The caller keeps
/// the arrays alive.
struct RolloutArrays {
  int steps = 0;  ///< T
  std::int64_t* actions = nullptr;
  float* log_probs = nullptr;  ///< Of the actions.
  float* values = nullptr;     ///< Of the states before the steps and after the last, [T + 1, N].
  float* final_values = nullptr;  ///< Of the state in which a step cut an episode; 0 elsewhere.
  float* rewards = nullptr;
  std::uint8_t* terminated = nullptr;
  std::uint8_t* truncated = nullptr;
  std::uint8_t* first = nullptr;       ///< An episode begins with this observation, [T + 1, N].
  std::int32_t* progress = nullptr;    ///< After the step; the end of an episode that it ended.
  std::int32_t* stagnation = nullptr;  ///< Frames without progress, likewise.
  Index* active = nullptr;             ///< Lists of active inputs, [T + 1, N, capacity].
  std::uint64_t* random = nullptr;     ///< Streams that actions are drawn from, [N]; moved on.
  /// Actions that replace the policy's choice; negative where it chooses. May be left out.
  const std::int16_t* forced = nullptr;
  std::uint8_t* grids = nullptr;     ///< Dense observations, [T + 1, N, ...]; may be left out.
  std::uint8_t* features = nullptr;  ///< The same.
};

/// How an episode ended: the info of its last step.
struct EpisodeEnd {
  std::int32_t step = 0, lane = 0;
  std::int64_t start = kOwnStart;  ///< Where it had begun.
  std::string level;
  std::array<std::int32_t, kInfoNumbers> numbers{};
  std::array<std::uint8_t, kInfoFlags> flags{};
  std::array<float, mario::kTermCount> terms{};
};

/// How long all lanes of a rollout took, added up over threads, in seconds.
struct PlayTimes {
  double acting = 0.0;  ///< Listing active inputs, deciding and sampling.
  double total = 0.0;   ///< That, and stepping the lanes.
};

class RolloutPlayer {
 public:
  /// The pool must outlive the player. Throws std::invalid_argument where observations, actions or
  /// autoreset do not fit.
  RolloutPlayer(Pool& pool, std::shared_ptr<const Network> network);

  Pool& pool() { return pool_; }
  const Network& network() const { return *network_; }
  int lanes() const { return pool_.size(); }

  /// Plays a rollout from the present moment of every lane. Throws LaneError as the pool does; what
  /// was written is then of no use.
  void play(const RolloutArrays& out);

  /// Episodes that ended in the last rollout, by step, then by lane.
  std::vector<EpisodeEnd> ends() const;
  /// Snapshots taken in the last rollout, in the same order.
  std::vector<Snapshot> snapshots() const;
  /// Of the last rollout.
  PlayTimes times() const;

  // To be changed between rollouts only.
  EpisodeStarts& starts(int lane);
  SnapshotRecorder& recorder(int lane);
  SnapshotRules& rules() { return rules_; }

 private:
  /// What is kept of a lane from rollout to rollout.
  struct Follower {
    EpisodeStarts starts;
    SnapshotRecorder recorder;
    std::vector<EpisodeEnd> ends;
    PlayTimes times;
  };
  class LanePlay;

  Follower& follower(int lane);

  Pool& pool_;
  std::shared_ptr<const Network> network_;
  SnapshotRules rules_;
  std::vector<Follower> followers_;
};

}  // namespace warpzone::policy
