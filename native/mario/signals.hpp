/// What the RAM says, as plain numbers.
#pragma once

#include <array>
#include <cstdint>

#include "mario/ram.hpp"

namespace warpzone::mario {

/// Where Mario is, as far as progress is concerned; cheap enough for every frame.
struct Place {
  std::uint16_t area = 0;  ///< Address of the area's layout: unique to an area.
  std::uint8_t level = 0;  ///< (world - 1) * 4 + (stage - 1).
  bool counts = false;     ///< On solid ground, climbing, on the pole or swimming; not falling.
  bool endless = false;    ///< A bonus area above the clouds: its lift goes right for ever.
  std::int32_t x = 0;      ///< Level coordinates.
  std::int32_t y = 0;      ///< Downwards from the top of the screen; negative above it.
};

struct Enemy {
  bool active = false;
  std::uint8_t type = 0;
  std::uint8_t state = 0;
  std::int32_t x = 0;  ///< Level coordinates.
  std::int32_t y = 0;  ///< As Place::y.
};

struct Signals {
  std::int32_t x = 0, y = 0;
  std::int32_t screen_x = 0, screen_y = 0;
  std::int32_t screen_left = 0;  ///< Level coordinate of the left edge of the screen.
  std::int32_t x_speed = 0, y_speed = 0;
  std::int32_t area = 0;       ///< Address of the area's layout.
  std::int32_t area_type = 0;  ///< 0 water, 1 ground, 2 underground, 3 castle.
  std::int32_t world = 1, stage = 1;
  std::int32_t lives = 0;  ///< Lives left besides this one; -1 when the game is over.
  std::int32_t clock = 0;
  std::int32_t score = 0;  ///< Points as shown on the screen.
  std::int32_t coins = 0;
  std::int32_t power = 0;  ///< 0 small, 1 big, 2 fire.
  std::int32_t player_task = 0, float_state = 0;
  std::int32_t mode = 0, mode_task = 0;
  std::int32_t injury_timer = 0, star_timer = 0;
  std::int32_t loop_command = 0, loop_correct = 0, loop_passes = 0;
  bool on_ground = false, climbing = false, swimming = false, crouching = false;
  bool in_control = false;
  std::array<Enemy, ram::kEnemySlots> enemies;
};

/// Reads the whole 2 KiB. Pure.
Signals decode(const std::uint8_t* ram);

/// True when the controller decides what Mario does: not in pipes, on the flagpole, growing,
/// shrinking, dying, or while the game loads.
inline bool in_control(const std::uint8_t* ram) {
  return ram[ram::kPlayerTask] == ram::kTaskControl && ram[ram::kMode] == ram::kPlaying &&
         ram[ram::kModeTask] == 3;
}

/// Negative where Mario leans out of the left edge of an area.
inline std::int32_t player_x(const std::uint8_t* ram) {
  return static_cast<std::int8_t>(ram[ram::kXPage]) * 256 + ram[ram::kX];
}
inline std::int32_t player_y(const std::uint8_t* ram) {
  return (ram[ram::kYPage] - 1) * 256 + ram[ram::kY];
}
inline std::uint16_t area_key(const std::uint8_t* ram) {
  return static_cast<std::uint16_t>(ram[ram::kAreaData] | ram[ram::kAreaData + 1] << 8);
}
inline std::uint8_t level_index(const std::uint8_t* ram) {
  return static_cast<std::uint8_t>(ram[ram::kWorld] * 4 + ram[ram::kStage]);
}

Place decode_place(const std::uint8_t* ram);

/// Points as shown on the screen.
std::int32_t decode_score(const std::uint8_t* ram);
std::int32_t decode_clock(const std::uint8_t* ram);

}  // namespace warpzone::mario
