/// What every step reports besides the observation: one list of names.
#pragma once

#include <cstdint>

#include "mario/signals.hpp"
#include "mario/tracker.hpp"

namespace warpzone {

/// X(name, expression over `s` (Signals), `t` (Tracker), `ram`, help)
#define WARPZONE_INFO_NUMBERS(X)                                                           \
  X(x_pos, s.x, "Mario's x in the level")                                                  \
  X(y_pos, height_of(ram), "Mario's height above the bottom of the screen")                \
  X(x_speed, s.x_speed, "sixteenths of a pixel per frame")                                 \
  X(y_speed, s.y_speed, "pixels per frame, downwards")                                     \
  X(screen_left, s.screen_left, "x of the left edge of the screen")                        \
  X(progress, t.progress.total, "pixels covered along the level; never falls")             \
  X(area, s.area, "identifies the area being played")                                      \
  X(area_type, s.area_type, "0 water, 1 ground, 2 underground, 3 castle")                  \
  X(world, s.world, "1-8")                                                                 \
  X(stage, s.stage, "1-4")                                                                 \
  X(life, s.lives, "lives left besides this one")                                          \
  X(time, s.clock, "the game's clock")                                                     \
  X(score, s.score, "points")                                                              \
  X(coins, s.coins, "coins")                                                               \
  X(status, s.power, "0 small, 1 big, 2 with fire")                                        \
  X(player_state, s.player_task, "what runs Mario: 8 is the player, 11 dying, 4 flagpole") \
  X(float_state, s.float_state, "0 ground, 1 jumping, 2 falling, 3 climbing")              \
  X(injury_timer, s.injury_timer, "frames of grace after a hit")                           \
  X(star_timer, s.star_timer, "time left of the star")                                     \
  X(loop_command, s.loop_command, "not 0 where a maze checks the path taken")              \
  X(loop_correct, s.loop_correct, "right turns in this group of a maze")                   \
  X(loop_passes, s.loop_passes, "turns in this group of a maze")                           \
  X(death_cause, static_cast<std::int32_t>(t.episode.events.cause),                        \
    "of the life lost in this step: 0 none, 1 enemy, 2 pit, 3 time")                       \
  X(end_reason, static_cast<std::int32_t>(t.episode.end),                                  \
    "why the episode ended, see below; 0 while it runs")                                   \
  X(clears, t.episode.clears, "levels cleared in this episode")                            \
  X(deaths, t.episode.deaths, "lives lost in this episode")                                \
  X(stagnation, t.episode.stagnation(), "frames without progress")                         \
  X(frames, t.episode.frames, "emulated frames of this episode")                           \
  X(steps, static_cast<std::int32_t>(t.steps), "agent steps of this episode")

#define WARPZONE_INFO_FLAGS(X)                                                         \
  X(flag_get, t.episode.events.clear, "a level was cleared in this step")              \
  X(game_cleared, t.episode.events.game_cleared,                                       \
    "the last castle was cleared in this step: the princess is rescued")               \
  X(death, t.episode.events.death, "a life was lost in this step")                     \
  X(warp, t.episode.events.warp, "a warp pipe led to another world in this step")      \
  X(game_over, t.episode.events.game_over, "no lives are left")                        \
  X(level_changed, t.episode.events.level_changed, "another level began in this step") \
  X(in_control, s.in_control, "the controller decides what Mario does")                \
  X(on_ground, s.on_ground, "Mario stands")                                            \
  X(swimming, s.swimming, "Mario swims")                                               \
  X(crouching, s.crouching, "Mario crouches")

#define WARPZONE_COUNT(name, expression, help) +1
inline constexpr int kInfoNumbers = 0 WARPZONE_INFO_NUMBERS(WARPZONE_COUNT);
inline constexpr int kInfoFlags = 0 WARPZONE_INFO_FLAGS(WARPZONE_COUNT);
#undef WARPZONE_COUNT

#define WARPZONE_INDEX(name, expression, help) name,
enum class InfoNumber : std::uint8_t { WARPZONE_INFO_NUMBERS(WARPZONE_INDEX) };
enum class InfoFlag : std::uint8_t { WARPZONE_INFO_FLAGS(WARPZONE_INDEX) };
#undef WARPZONE_INDEX

/// Of each of the six enemy slots: type (0 when empty), x, y, state.
inline constexpr int kEnemyNumbers = 4;

/// Above the bottom of the screen; more than 255 when Mario is above its top.
inline std::int32_t height_of(const std::uint8_t* ram) {
  const std::int32_t up = 255 - ram[mario::ram::kScreenY];
  return ram[mario::ram::kYPage] < 1 ? 255 + up : up;
}

/// Where one lane's values go: number k at numbers[k * stride], flag k at flags[k * stride].
struct InfoSlot {
  std::int32_t* numbers = nullptr;
  std::uint8_t* flags = nullptr;
  std::ptrdiff_t stride = 1;
  float* terms = nullptr;           ///< kTermCount sums of this episode.
  std::int32_t* enemies = nullptr;  ///< kEnemySlots * kEnemyNumbers.
};

void write_info(const std::uint8_t* ram, const mario::Tracker& tracker, const InfoSlot& out);
/// The same, with what gym-super-mario-bros reports differently: lives are 255 when the game is
/// over, and `flag_get` lasts only as long as it does in the game.
void write_classic_info(const std::uint8_t* ram, const mario::Tracker& tracker, bool flag_get,
                        const InfoSlot& out);

}  // namespace warpzone
