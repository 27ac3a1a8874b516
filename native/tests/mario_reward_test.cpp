#include <cmath>

#include "check.hpp"
#include "mario/classic.hpp"
#include "mario/reward.hpp"
#include "mario_support.hpp"

using namespace warpzone::mario;

namespace {

RewardWeights nothing() {
  RewardWeights weights;
  weights.distance = weights.death = constant(0.0);
  weights.clear = weights.time = 0.0;
  return weights;
}

bool near(double left, double right) { return std::abs(left - right) < 1e-12; }

void set_clock(Memory& memory, int clock) {
  memory[ram::kClock] = static_cast<std::uint8_t>(clock / 100);
  memory[ram::kClock + 1] = static_cast<std::uint8_t>(clock / 10 % 10);
  memory[ram::kClock + 2] = static_cast<std::uint8_t>(clock % 10);
}

}  // namespace

TEST(distance_pays_per_pixel) {
  RewardWeights weights = nothing();
  weights.distance = constant(0.5);
  StepFacts facts;
  facts.progress_before = 100;
  facts.progress_now = 108;
  const RewardTerms terms = compute_reward(facts, weights);
  CHECK(near(terms[Term::kDistance], 4.0));
  CHECK(near(terms.total(), 4.0));
}

TEST(score_and_coins_pay_their_rise) {
  RewardWeights weights = nothing();
  weights.score = 0.01;
  weights.coin = 0.5;
  StepFacts facts;
  facts.score_before = 100;
  facts.score_now = 300;
  facts.coins_before = 98;
  facts.coins_now = 1;  // three coins, the hundredth became a life
  const RewardTerms terms = compute_reward(facts, weights);
  CHECK(near(terms[Term::kScore], 2.0));
  CHECK(near(terms[Term::kCoin], 1.5));
  facts.score_now = 0;
  CHECK(near(compute_reward(facts, weights)[Term::kScore], 0.0));
}

TEST(power_pays_when_gained_and_takes_when_lost) {
  RewardWeights weights = nothing();
  weights.power = 0.5;
  StepFacts facts;
  facts.power_before = 0;
  facts.power_now = 1;
  CHECK(near(compute_reward(facts, weights)[Term::kPower], 0.5));
  facts.power_before = 2;
  facts.power_now = 0;
  CHECK(near(compute_reward(facts, weights)[Term::kPower], -1.0));
  facts.deaths = 1;  // paid for by the death
  CHECK(near(compute_reward(facts, weights)[Term::kPower], 0.0));
}

TEST(death_takes_and_clear_gives) {
  RewardWeights weights = nothing();
  weights.death = constant(2.0);
  weights.clear = 5.0;
  StepFacts facts;
  facts.deaths = 1;
  CHECK(near(compute_reward(facts, weights)[Term::kDeath], -2.0));
  facts.deaths = 0;
  facts.clears = 1;
  CHECK(near(compute_reward(facts, weights)[Term::kClear], 5.0));
}

TEST(a_milestone_pays_when_it_is_passed) {
  RewardWeights weights = nothing();
  weights.milestone = 3.0;
  weights.milestone_pixels = 100;
  StepFacts facts;
  facts.progress_before = 90;
  facts.progress_now = 99;
  CHECK(near(compute_reward(facts, weights)[Term::kMilestone], 0.0));
  facts.progress_now = 100;
  CHECK(near(compute_reward(facts, weights)[Term::kMilestone], 3.0));
  facts.progress_now = 320;
  CHECK(near(compute_reward(facts, weights)[Term::kMilestone], 9.0));
  weights.milestone_pixels = 0;
  CHECK(near(compute_reward(facts, weights)[Term::kMilestone], 0.0));
}

TEST(time_costs_every_step) {
  RewardWeights weights = nothing();
  weights.time = 0.25;
  CHECK(near(compute_reward({}, weights).total(), -0.25));
}

TEST(the_early_window_weighs_distance_more) {
  RewardWeights weights = nothing();
  weights.distance = constant(1.0);
  weights.early_steps = 10;
  weights.early_factor = 4.0;
  StepFacts facts;
  facts.progress_now = 2;
  facts.episode_step = 9;
  CHECK(near(compute_reward(facts, weights)[Term::kDistance], 8.0));
  facts.episode_step = 10;
  CHECK(near(compute_reward(facts, weights)[Term::kDistance], 2.0));
}

TEST(annealing_is_linear_and_stops_at_the_end) {
  const Anneal anneal{2.0, 1.0, 100};
  CHECK(near(anneal.at(0), 2.0));
  CHECK(near(anneal.at(50), 1.5));
  CHECK(near(anneal.at(100), 1.0));
  CHECK(near(anneal.at(5000), 1.0));
  CHECK(near((Anneal{2.0, 1.0, 0}).at(7), 2.0));
}

TEST(distance_death_and_scale_anneal_each_by_its_own) {
  RewardWeights weights = nothing();
  weights.distance = {1.0, 0.0, 100};
  weights.death = {0.0, 4.0, 200};
  weights.scale = {1.0, 3.0, 100};
  StepFacts facts;
  facts.progress_now = 10;
  facts.deaths = 1;
  facts.run_step = 50;
  const RewardTerms terms = compute_reward(facts, weights);
  CHECK(near(terms[Term::kDistance], 10 * 0.5 * 2.0));
  CHECK(near(terms[Term::kDeath], -1.0 * 2.0));
}

TEST(terms_add_up) {
  RewardTerms sum;
  RewardTerms one;
  one[Term::kTime] = -1.0;
  one[Term::kScore] = 3.0;
  sum += one;
  sum += one;
  CHECK(near(sum[Term::kTime], -2.0));
  CHECK(near(sum.total(), 4.0));
  CHECK(std::is_trivially_copyable_v<RewardWeights>);
}

TEST(classic_pays_movement_of_up_to_five_pixels) {
  ClassicReward reward;
  reward.reset(playing(100).data());
  CHECK_EQ(reward.step(playing(105).data()), 5);
  CHECK_EQ(reward.step(playing(111).data()), 0);
  CHECK_EQ(reward.step(playing(106).data()), -5);
  CHECK_EQ(reward.step(playing(100).data()), 0);
  CHECK_EQ(reward.step(playing(103).data()), 3);
}

TEST(classic_charges_the_clock_but_not_its_refill) {
  ClassicReward reward;
  Memory memory = playing();
  set_clock(memory, 400);
  reward.reset(memory.data());
  set_clock(memory, 399);
  CHECK_EQ(reward.step(memory.data()), -1);
  set_clock(memory, 400);
  CHECK_EQ(reward.step(memory.data()), 0);
}

TEST(classic_death_is_clipped_to_fifteen) {
  ClassicReward reward;
  reward.reset(playing().data());
  Memory memory = playing();
  memory[ram::kPlayerTask] = ram::kTaskDying;
  CHECK_EQ(reward.step(memory.data()), -15);
  CHECK(classic_end_reason(memory.data()) == EndReason::enemy);
  CHECK_EQ(reward.step(playing(40, 300).data()), -15);
  memory[ram::kPlayerTask] = ram::kTaskLifeLost;
  CHECK_EQ(reward.step(memory.data()), -15);
}

TEST(classic_flag_needs_a_flag_not_a_vine) {
  Memory memory = playing();
  memory[ram::kFloatState] = ram::kClimbing;
  CHECK(!classic_flag_get(memory.data()));
  memory[ram::kEnemyType + 2] = 0x31;
  CHECK(classic_flag_get(memory.data()));
  CHECK(classic_end_reason(memory.data()) == EndReason::clear);
  Memory castle = playing();
  castle[ram::kMode] = ram::kWorldEnd;
  CHECK(classic_flag_get(castle.data()));
}
