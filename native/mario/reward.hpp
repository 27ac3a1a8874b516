/// Reward as separate terms with weights that may change at any time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace warpzone::mario {

/// A value that moves in a straight line from `start` to `end` over `steps` agent steps of the
/// whole run, and stays there. With 0 steps it is `start` for ever.
struct Anneal {
  double start = 0.0;
  double end = 0.0;
  std::int64_t steps = 0;
  double at(std::int64_t step) const;
};

constexpr Anneal constant(double value) { return {value, value, 0}; }

struct RewardWeights {
  Anneal scale = constant(1.0);      ///< Multiplies everything.
  Anneal distance = constant(0.01);  ///< Per pixel of progress.
  Anneal death = constant(1.0);      ///< Taken away when a life is lost.
  double score = 0.0;                ///< Per point.
  double coin = 0.0;                 ///< Per coin.
  double power = 0.0;                ///< Per level of power gained; taken away when it is lost.
  double clear = 1.0;
  double milestone = 0.0;  ///< Each time progress passes a multiple of the next field.
  std::int32_t milestone_pixels = 256;
  double time = 0.003;           ///< Taken away at every agent step.
  std::int32_t early_steps = 0;  ///< Agent steps of an episode with the heavier weight.
  double early_factor = 1.0;     ///< What the distance weight is multiplied with there.
};

enum class Term : std::uint8_t {
  kDistance,
  kScore,
  kCoin,
  kDeath,
  kClear,
  kMilestone,
  kTime,
  kPower
};
inline constexpr std::size_t kTermCount = 8;
/// Name of each term in metrics, in order.
inline constexpr std::array<const char*, kTermCount> kTermNames = {
    "distance", "score", "coin", "death", "clear", "milestone", "time", "power"};

/// Each term as paid: weighted and scaled.
struct RewardTerms {
  std::array<double, kTermCount> values{};
  double& operator[](Term term) { return values[static_cast<std::size_t>(term)]; }
  double operator[](Term term) const { return values[static_cast<std::size_t>(term)]; }
  double total() const;
  RewardTerms& operator+=(const RewardTerms& other);
};

/// What happened between two agent steps.
struct StepFacts {
  std::int32_t progress_before = 0, progress_now = 0;
  std::int32_t score_before = 0, score_now = 0;
  std::int32_t coins_before = 0, coins_now = 0;
  std::int32_t power_before = 0, power_now = 0;  ///< 0 small, 1 big, 2 fire.
  std::int32_t deaths = 0;                       ///< Lives lost in this step.
  std::int32_t clears = 0;                       ///< Levels cleared in this step.
  std::int64_t episode_step = 0;                 ///< Agent steps of this episode before this one.
  std::int64_t run_step = 0;  ///< Agent steps of the whole run; drives annealing.
};

RewardTerms compute_reward(const StepFacts& facts, const RewardWeights& weights);

}  // namespace warpzone::mario
