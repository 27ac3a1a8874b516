/// Everything that is followed about one game while it is played: progress, events, reward.
/// Plain data without padding, so that a save state can contain it. The vector lane and the Python
/// reference env both drive this, frame by frame and step by step.
#pragma once

#include <cstdint>

#include "mario/classic.hpp"
#include "mario/episode.hpp"
#include "mario/progress.hpp"
#include "mario/reward.hpp"

namespace warpzone::mario {

struct Tracker {
  Progress progress;
  Episode episode;
  ClassicReward classic;
  std::int32_t classic_reward = 0;  ///< Of the frames of the step in hand.
  std::int32_t progress_before = 0, score_before = 0, coins_before = 0;
  std::int32_t power_before = 0, deaths_before = 0, clears_before = 0;
  std::int32_t unused = 0;
  std::int64_t steps = 0;  ///< Agent steps of this episode.
  RewardTerms sums;        ///< Terms paid in this episode.
  double episode_return = 0.0;

  /// An episode begins in the state that `ram` shows; `last_level` as for Episode::reset.
  void reset(const std::uint8_t* ram, const Route* route, std::uint8_t last_level);
  /// An agent step begins; its frames follow.
  void begin_step() { episode.begin_step(); }
  /// One emulated frame has passed.
  void frame(const std::uint8_t* ram, const Route* route);
  /// An agent step ends: pays its terms. `run_step` drives annealing.
  RewardTerms finish_step(const std::uint8_t* ram, const RewardWeights& weights,
                          std::int64_t run_step);
  /// The same for the classic reward.
  double finish_classic_step();
};

// Floating-point fields rule out has_unique_object_representations: the sizes must add up instead.
static_assert(sizeof(Tracker) == sizeof(Progress) + sizeof(Episode) + sizeof(ClassicReward) +
                                     8 * sizeof(std::int32_t) + sizeof(std::int64_t) +
                                     sizeof(RewardTerms) + sizeof(double),
              "name the padding");

}  // namespace warpzone::mario
