#include "check.hpp"
#include "mario/episode.hpp"
#include "mario/levels.hpp"
#include "mario_support.hpp"

using namespace warpzone::mario;

namespace {

Episode begun(Game game = Game::kSuperMarioBros) {
  Episode episode;
  episode.reset(playing().data(), last_level_of(game));
  return episode;
}

/// The axe of a world's castle has just been taken.
Memory at_the_axe(int world) {
  Memory memory = playing();
  memory[ram::kMode] = ram::kWorldEnd;
  memory[ram::kModeTask] = 0;
  memory[ram::kWorld] = static_cast<std::uint8_t>(world - 1);
  memory[ram::kStage] = 3;
  return memory;
}

}  // namespace

TEST(nothing_happens_while_mario_walks) {
  Episode episode = begun();
  for (int x = 41; x < 60; ++x) {
    CHECK(!episode.update(playing(x).data(), true));
  }
  CHECK(!episode.events.death && !episode.events.clear && !episode.events.warp);
  CHECK(!episode.events.level_changed && !episode.events.game_over);
}

TEST(an_enemy_kills_once) {
  Episode episode = begun();
  Memory memory = playing();
  memory[ram::kPlayerTask] = ram::kTaskDying;
  CHECK(episode.update(memory.data(), false));
  CHECK(!episode.update(memory.data(), false));
  memory[ram::kPlayerTask] = ram::kTaskLifeLost;
  CHECK(!episode.update(memory.data(), false));
  CHECK(episode.events.death);
  CHECK_EQ(episode.events.cause, DeathCause::kEnemy);
  CHECK_EQ(episode.deaths, 1);
}

TEST(a_second_life_can_be_lost_too) {
  Episode episode = begun();
  Memory memory = playing();
  memory[ram::kPlayerTask] = ram::kTaskDying;
  episode.update(memory.data(), false);
  episode.update(playing().data(), false);
  CHECK(episode.update(memory.data(), false));
  CHECK_EQ(episode.deaths, 2);
}

TEST(a_pit_kills_as_soon_as_mario_is_below_the_screen) {
  Episode episode = begun();
  CHECK(!episode.update(playing(40, 250).data(), false));
  CHECK(episode.update(playing(40, 256).data(), false));
  CHECK_EQ(episode.events.cause, DeathCause::kPit);
  Memory memory = playing(40, 700);
  memory[ram::kPlayerTask] = ram::kTaskLifeLost;
  CHECK(!episode.update(memory.data(), false));
  CHECK_EQ(episode.deaths, 1);
}

TEST(falling_out_of_a_cloud_does_not_kill) {
  Episode episode = begun();
  Memory memory = playing(40, 300);
  memory[ram::kCloudArea] = 1;
  CHECK(!episode.update(memory.data(), false));
  CHECK(!episode.events.death);
}

TEST(above_the_screen_is_no_pit) {
  Episode episode = begun();
  Memory memory = playing(40, -20);
  CHECK_EQ(memory[ram::kYPage], 0);
  CHECK(!episode.update(memory.data(), false));
}

TEST(the_clock_kills) {
  Episode episode = begun();
  Memory memory = playing();
  memory[ram::kPlayerTask] = ram::kTaskDying;
  memory[ram::kTimeUp] = 1;
  episode.update(memory.data(), false);
  CHECK_EQ(episode.events.cause, DeathCause::kTime);
}

TEST(the_flagpole_clears_once) {
  Episode episode = begun();
  Memory memory = playing();
  memory[ram::kPlayerTask] = ram::kTaskFlagpole;
  memory[ram::kFloatState] = ram::kClimbing;
  CHECK(episode.update(memory.data(), false));
  CHECK(!episode.update(memory.data(), false));
  CHECK(episode.events.clear);
  CHECK(!episode.events.level_changed);
  Memory next = playing();
  next[ram::kStage] = 1;
  CHECK(episode.update(next.data(), false));
  CHECK(episode.events.level_changed);
  CHECK(!episode.events.warp);
  CHECK_EQ(episode.clears, 1);
}

TEST(a_vine_is_no_flagpole) {
  Episode episode = begun();
  Memory memory = playing();
  memory[ram::kFloatState] = ram::kClimbing;
  CHECK(!episode.update(memory.data(), false));
  memory[ram::kPlayerTask] = ram::kTaskVine;
  CHECK(!episode.update(memory.data(), false));
}

TEST(the_axe_clears_and_the_next_world_is_no_warp) {
  Episode episode = begun();
  Memory memory = playing();
  memory[ram::kMode] = ram::kWorldEnd;
  memory[ram::kModeTask] = 0;
  CHECK(episode.update(memory.data(), false));
  CHECK(episode.events.clear);
  Memory next = playing();
  next[ram::kWorld] = 1;
  CHECK(episode.update(next.data(), false));
  CHECK(episode.events.level_changed);
  CHECK(!episode.events.warp);
}

TEST(events_are_those_of_the_step) {
  Episode episode = begun();
  Memory memory = playing();
  memory[ram::kPlayerTask] = ram::kTaskDying;
  episode.begin_step();
  episode.update(memory.data(), false);
  episode.update(memory.data(), false);
  CHECK(episode.events.death);
  episode.begin_step();
  episode.update(memory.data(), false);
  CHECK(!episode.events.death);
  CHECK_EQ(episode.events.cause, DeathCause::kNone);
  CHECK_EQ(episode.deaths, 1);
}

TEST(only_the_last_castle_clears_the_game) {
  for (int world = 1; world <= 8; ++world) {
    Episode episode = begun();
    CHECK(episode.update(at_the_axe(world).data(), false));
    CHECK(episode.events.clear);
    CHECK_EQ(episode.events.game_cleared, world == 8);
  }
}

TEST(the_lost_levels_end_with_their_fourth_castle) {
  for (int world = 1; world <= 4; ++world) {
    Episode episode = begun(Game::kLostLevels);
    episode.update(at_the_axe(world).data(), false);
    CHECK_EQ(episode.events.game_cleared, world == 4);
  }
}

TEST(a_warp_pipe_is_reported_apart) {
  Episode episode = begun();
  Memory memory = playing();
  memory[ram::kPlayerTask] = ram::kTaskVerticalPipe;
  memory[ram::kWorld] = 3;
  CHECK(episode.update(memory.data(), false));
  CHECK(episode.events.warp);
  CHECK(episode.events.level_changed);
  CHECK(!episode.events.clear);
}

TEST(the_last_life_ends_the_game) {
  Episode episode = begun();
  Memory memory = playing();
  memory[ram::kPlayerTask] = ram::kTaskLifeLost;
  memory[ram::kLives] = 0xFF;
  episode.update(memory.data(), false);
  CHECK(episode.events.game_over);
}

TEST(stagnation_counts_frames_without_progress) {
  Episode episode = begun();
  for (int i = 0; i < 10; ++i) {
    episode.update(playing().data(), false);
  }
  CHECK_EQ(episode.stagnation(), 10);
  episode.update(playing().data(), true);
  CHECK_EQ(episode.stagnation(), 0);
}

TEST(stagnation_leaves_out_scripted_moments) {
  Episode episode = begun();
  episode.update(playing().data(), false);
  Memory memory = playing();
  memory[ram::kPlayerTask] = ram::kTaskVerticalPipe;
  for (int i = 0; i < 10; ++i) {
    episode.update(memory.data(), false);
  }
  CHECK_EQ(episode.stagnation(), 1);
}

TEST(an_episode_is_plain_data) { CHECK(std::is_trivially_copyable_v<Episode>); }
