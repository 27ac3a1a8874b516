#include "mario/signals.hpp"

namespace warpzone::mario {
namespace {

std::int32_t decode_digits(const std::uint8_t* digits, int count) {
  std::int32_t value = 0;
  for (int i = 0; i < count; ++i) {
    value = value * 10 + digits[i];
  }
  return value;
}

std::int32_t as_signed(std::uint8_t value) { return static_cast<std::int8_t>(value); }

Enemy decode_enemy(const std::uint8_t* ram, int slot) {
  Enemy enemy;
  enemy.active = ram[ram::kEnemyActive + slot] != 0;
  enemy.type = ram[ram::kEnemyType + slot];
  enemy.state = ram[ram::kEnemyState + slot];
  enemy.x = as_signed(ram[ram::kEnemyXPage + slot]) * 256 + ram[ram::kEnemyX + slot];
  enemy.y = (ram[ram::kEnemyYPage + slot] - 1) * 256 + ram[ram::kEnemyY + slot];
  return enemy;
}

// Free fall never counts, or running off a ledge would pay before it kills.
bool place_counts(const std::uint8_t* ram) {
  if (ram[ram::kMode] != ram::kPlaying || ram[ram::kModeTask] != 3 || ram[ram::kYPage] > 1) {
    return false;
  }
  const std::uint8_t floating = ram[ram::kFloatState];
  if (ram[ram::kPlayerTask] == ram::kTaskFlagpole) {
    return floating == ram::kClimbing;
  }
  return ram[ram::kPlayerTask] == ram::kTaskControl &&
         (floating == ram::kOnGround || floating == ram::kClimbing || ram[ram::kSwimming] != 0);
}

}  // namespace

std::int32_t decode_score(const std::uint8_t* ram) {
  // The last digit on the screen is painted, not stored.
  return decode_digits(ram + ram::kScore, 6) * 10;
}

std::int32_t decode_clock(const std::uint8_t* ram) { return decode_digits(ram + ram::kClock, 3); }

Place decode_place(const std::uint8_t* ram) {
  Place place;
  place.area = area_key(ram);
  place.level = level_index(ram);
  place.counts = place_counts(ram);
  place.endless = ram[ram::kCloudArea] != 0;
  place.x = player_x(ram);
  place.y = player_y(ram);
  return place;
}

Signals decode(const std::uint8_t* ram) {
  Signals s;
  s.x = player_x(ram);
  s.y = player_y(ram);
  s.screen_left = ram[ram::kScreenLeftPage] * 256 + ram[ram::kScreenLeft];
  s.screen_x = ram[ram::kScreenX];
  s.screen_y = ram[ram::kScreenY];
  s.x_speed = as_signed(ram[ram::kXSpeed]);
  s.y_speed = as_signed(ram[ram::kYSpeed]);
  s.area = area_key(ram);
  s.area_type = ram[ram::kAreaType];
  s.world = ram[ram::kWorld] + 1;
  s.stage = ram[ram::kStage] + 1;
  s.lives = as_signed(ram[ram::kLives]);
  s.clock = decode_clock(ram);
  s.score = decode_score(ram);
  s.coins = ram[ram::kCoins];
  s.power = ram[ram::kPower];
  s.player_task = ram[ram::kPlayerTask];
  s.float_state = ram[ram::kFloatState];
  s.mode = ram[ram::kMode];
  s.mode_task = ram[ram::kModeTask];
  s.injury_timer = ram[ram::kInjuryTimer];
  s.star_timer = ram[ram::kStarTimer];
  s.loop_command = ram[ram::kLoopCommand];
  s.loop_correct = ram[ram::kLoopCorrect];
  s.loop_passes = ram[ram::kLoopPasses];
  s.on_ground = s.float_state == ram::kOnGround;
  s.climbing = s.float_state == ram::kClimbing;
  s.swimming = ram[ram::kSwimming] != 0;
  s.crouching = ram[ram::kCrouching] != 0;
  s.in_control = in_control(ram);
  for (int slot = 0; slot < ram::kEnemySlots; ++slot) {
    s.enemies[static_cast<std::size_t>(slot)] = decode_enemy(ram, slot);
  }
  return s;
}

}  // namespace warpzone::mario
