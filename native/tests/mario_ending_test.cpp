#include "check.hpp"
#include "mario/classic.hpp"
#include "mario/ending.hpp"
#include "mario_support.hpp"

using namespace warpzone::mario;

namespace {

constexpr EndRules kOneLevel{true, true};
constexpr EndRules kWholeGame{false, false};

Events death_by(DeathCause cause) {
  Events events;
  events.death = true;
  events.cause = cause;
  return events;
}

}  // namespace

TEST(nothing_ends_without_an_event) {
  CHECK_EQ(kOneLevel.judge({}), EndReason::running);
  CHECK_EQ(kWholeGame.judge({}), EndReason::running);
}

TEST(a_clear_ends_a_level_and_only_the_last_castle_ends_the_game) {
  Events events;
  events.clear = true;
  CHECK_EQ(kOneLevel.judge(events), EndReason::clear);
  CHECK_EQ(kWholeGame.judge(events), EndReason::running);
  events.game_cleared = true;
  CHECK_EQ(kWholeGame.judge(events), EndReason::clear);
}

TEST(a_death_ends_an_episode_of_one_life_with_its_cause) {
  CHECK_EQ(kOneLevel.judge(death_by(DeathCause::kEnemy)), EndReason::enemy);
  CHECK_EQ(kOneLevel.judge(death_by(DeathCause::kPit)), EndReason::pit);
  CHECK_EQ(kOneLevel.judge(death_by(DeathCause::kTime)), EndReason::time);
  CHECK_EQ(kWholeGame.judge(death_by(DeathCause::kPit)), EndReason::running);
}

TEST(the_last_life_ends_every_episode) {
  Events events;
  events.game_over = true;
  CHECK_EQ(kWholeGame.judge(events), EndReason::game_over);
  CHECK_EQ(kOneLevel.judge(events), EndReason::game_over);
}

TEST(leaving_a_level_is_a_warp_only_through_a_warp_pipe) {
  Events events;
  events.level_changed = true;
  CHECK_EQ(kOneLevel.judge(events), EndReason::level_changed);
  events.warp = true;
  CHECK_EQ(kOneLevel.judge(events), EndReason::warp);
  CHECK_EQ(kWholeGame.judge(events), EndReason::running);
}

TEST(only_limits_truncate) {
  int truncations = 0;
  for (int i = 0; i < kEndReasonCount; ++i) truncations += is_truncation(EndReason(i)) ? 1 : 0;
  CHECK_EQ(truncations, 2);
  CHECK(is_truncation(EndReason::step_limit) && is_truncation(EndReason::stagnation));
}

TEST(the_classic_package_ends_a_level_for_a_reason_too) {
  Memory memory = playing();
  CHECK_EQ(classic_end_reason(memory.data()), EndReason::running);
  memory[ram::kPlayerTask] = ram::kTaskDying;
  CHECK_EQ(classic_end_reason(memory.data()), EndReason::enemy);
  memory[ram::kTimeUp] = 1;
  CHECK_EQ(classic_end_reason(memory.data()), EndReason::time);
  CHECK_EQ(classic_end_reason(playing(40, 300).data()), EndReason::pit);
  memory = playing();
  memory[ram::kMode] = ram::kWorldEnd;
  CHECK_EQ(classic_end_reason(memory.data()), EndReason::clear);
}
