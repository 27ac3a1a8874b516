#include "mario/reward.hpp"

#include <algorithm>

namespace warpzone::mario {
namespace {

std::int32_t milestones_passed(std::int32_t before, std::int32_t now, std::int32_t pixels) {
  return pixels > 0 ? now / pixels - before / pixels : 0;
}

// A hundred coins become a life and the count starts again.
std::int32_t coins_gained(std::int32_t before, std::int32_t now) {
  return now >= before ? now - before : now + 100 - before;
}

}  // namespace

double Anneal::at(std::int64_t step) const {
  if (steps <= 0) {
    return start;
  }
  const double share = std::clamp(static_cast<double>(step) / static_cast<double>(steps), 0.0, 1.0);
  return start + (end - start) * share;
}

double RewardTerms::total() const {
  double sum = 0.0;
  for (const double value : values) {
    sum += value;
  }
  return sum;
}

RewardTerms& RewardTerms::operator+=(const RewardTerms& other) {
  for (std::size_t i = 0; i < kTermCount; ++i) {
    values[i] += other.values[i];
  }
  return *this;
}

RewardTerms compute_reward(const StepFacts& facts, const RewardWeights& weights) {
  const bool early = facts.episode_step < weights.early_steps;
  const double distance =
      weights.distance.at(facts.run_step) * (early ? weights.early_factor : 1.0);
  RewardTerms terms;
  terms[Term::kDistance] = distance * (facts.progress_now - facts.progress_before);
  // The score only falls when a new game begins.
  terms[Term::kScore] = weights.score * std::max(facts.score_now - facts.score_before, 0);
  terms[Term::kCoin] = weights.coin * coins_gained(facts.coins_before, facts.coins_now);
  terms[Term::kDeath] = -weights.death.at(facts.run_step) * facts.deaths;
  terms[Term::kClear] = weights.clear * facts.clears;
  terms[Term::kMilestone] =
      weights.milestone *
      milestones_passed(facts.progress_before, facts.progress_now, weights.milestone_pixels);
  terms[Term::kTime] = -weights.time;
  // A life that is lost takes its power along; the death is paid for already.
  terms[Term::kPower] =
      facts.deaths > 0 ? 0.0 : weights.power * (facts.power_now - facts.power_before);
  const double scale = weights.scale.at(facts.run_step);
  for (double& value : terms.values) {
    value *= scale;
  }
  return terms;
}

}  // namespace warpzone::mario
