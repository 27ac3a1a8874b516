#include "check.hpp"
#include "mario/signals.hpp"
#include "mario_support.hpp"

using namespace warpzone::mario;

TEST(positions_are_level_coordinates) {
  Memory memory = playing(0x345, 100);
  memory[ram::kScreenLeftPage] = 2;
  memory[ram::kScreenLeft] = 0xF0;
  const Signals signals = decode(memory.data());
  CHECK_EQ(signals.x, 0x345);
  CHECK_EQ(signals.y, 100);
  CHECK_EQ(signals.screen_left, 0x2F0);
  CHECK_EQ(decode(playing(0, -30).data()).y, -30);
  CHECK_EQ(decode(playing(0, 600).data()).y, 600);
}

TEST(speeds_are_signed) {
  Memory memory = playing();
  memory[ram::kXSpeed] = 0xD8;
  memory[ram::kYSpeed] = 0xFC;
  const Signals signals = decode(memory.data());
  CHECK_EQ(signals.x_speed, -40);
  CHECK_EQ(signals.y_speed, -4);
}

TEST(digits_make_clock_and_score) {
  Memory memory = playing();
  memory[ram::kClock] = 3;
  memory[ram::kClock + 1] = 9;
  memory[ram::kClock + 2] = 7;
  memory[0x7DD] = 1;
  memory[0x7E2] = 5;
  const Signals signals = decode(memory.data());
  CHECK_EQ(signals.clock, 397);
  CHECK_EQ(signals.score, 1000050);
}

TEST(world_and_stage_count_from_one_and_lives_go_negative) {
  Memory memory = playing();
  memory[ram::kWorld] = 7;
  memory[ram::kStage] = 3;
  memory[ram::kLives] = 0xFF;
  const Signals signals = decode(memory.data());
  CHECK_EQ(signals.world, 8);
  CHECK_EQ(signals.stage, 4);
  CHECK_EQ(signals.lives, -1);
  CHECK_EQ(level_index(memory.data()), 31);
}

TEST(all_six_slots_are_read) {
  Memory memory = playing();
  memory[ram::kEnemyActive + 5] = 1;
  memory[ram::kEnemyType + 5] = 0x2E;
  memory[ram::kEnemyXPage + 5] = 1;
  memory[ram::kEnemyX + 5] = 2;
  memory[ram::kEnemyYPage + 5] = 1;
  memory[ram::kEnemyY + 5] = 3;
  const Signals signals = decode(memory.data());
  CHECK(!signals.enemies[0].active);
  CHECK(signals.enemies[5].active);
  CHECK_EQ(signals.enemies[5].type, 0x2E);
  CHECK_EQ(signals.enemies[5].x, 258);
  CHECK_EQ(signals.enemies[5].y, 3);
}

TEST(control_is_lost_in_scripted_moments) {
  CHECK(in_control(playing().data()));
  for (int task = 0; task <= 12; ++task) {
    Memory memory = playing();
    memory[ram::kPlayerTask] = static_cast<std::uint8_t>(task);
    CHECK_EQ(in_control(memory.data()), task == ram::kTaskControl);
  }
  Memory loading = playing();
  loading[ram::kModeTask] = 1;
  CHECK(!in_control(loading.data()));
}

TEST(places_count_on_the_ground_on_vines_in_water_and_on_the_pole) {
  const auto counts = [](auto change) {
    Memory memory = playing();
    change(memory);
    return decode_place(memory.data()).counts;
  };
  CHECK(counts([](Memory&) {}));
  CHECK(counts([](Memory& m) { m[ram::kFloatState] = ram::kClimbing; }));
  CHECK(!counts([](Memory& m) { m[ram::kFloatState] = ram::kJumping; }));
  CHECK(!counts([](Memory& m) { m[ram::kFloatState] = ram::kFalling; }));
  CHECK(counts([](Memory& m) {
    m[ram::kFloatState] = ram::kJumping;
    m[ram::kSwimming] = 1;
  }));
  CHECK(counts([](Memory& m) {
    m[ram::kPlayerTask] = ram::kTaskFlagpole;
    m[ram::kFloatState] = ram::kClimbing;
  }));
  CHECK(!counts([](Memory& m) { m[ram::kPlayerTask] = ram::kTaskDying; }));
  CHECK(!counts([](Memory& m) { m[ram::kPlayerTask] = ram::kTaskVerticalPipe; }));
  CHECK(!counts([](Memory& m) { m[ram::kMode] = ram::kWorldEnd; }));
  CHECK(!counts([](Memory& m) { m[ram::kYPage] = 2; }));
}
