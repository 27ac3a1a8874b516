#include "mario/tracker.hpp"

#include "mario/ram.hpp"
#include "mario/signals.hpp"

namespace warpzone::mario {

void Tracker::reset(const std::uint8_t* ram, const Route* route, std::uint8_t last_level) {
  *this = Tracker{};
  progress.reset(decode_place(ram), route);
  episode.reset(ram, last_level);
  classic.reset(ram);
  score_before = decode_score(ram);
  coins_before = ram[ram::kCoins];
  power_before = ram[ram::kPower];
}

void Tracker::frame(const std::uint8_t* ram, const Route* route) {
  const bool rose = progress.update(decode_place(ram), route);
  episode.update(ram, rose);
  classic_reward += classic.step(ram);
}

RewardTerms Tracker::finish_step(const std::uint8_t* ram, const RewardWeights& weights,
                                 std::int64_t run_step) {
  StepFacts facts;
  facts.progress_before = progress_before;
  facts.progress_now = progress.total;
  facts.score_before = score_before;
  facts.score_now = decode_score(ram);
  facts.coins_before = coins_before;
  facts.coins_now = ram[ram::kCoins];
  facts.power_before = power_before;
  facts.power_now = ram[ram::kPower];
  facts.deaths = episode.deaths - deaths_before;
  facts.clears = episode.clears - clears_before;
  facts.episode_step = steps;
  facts.run_step = run_step;
  const RewardTerms terms = compute_reward(facts, weights);

  progress_before = facts.progress_now;
  score_before = facts.score_now;
  coins_before = facts.coins_now;
  power_before = facts.power_now;
  deaths_before = episode.deaths;
  clears_before = episode.clears;
  classic_reward = 0;
  ++steps;
  sums += terms;
  episode_return += terms.total();
  return terms;
}

double Tracker::finish_classic_step() {
  const double reward = classic_reward;
  classic_reward = 0;
  ++steps;
  episode_return += reward;
  return reward;
}

}  // namespace warpzone::mario
