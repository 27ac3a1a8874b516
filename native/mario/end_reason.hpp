/// Why an episode ended. This list is the only one: infos, logs, evaluations, metrics, videos and
/// the documentation take their names from it.
#pragma once

#include <cstdint>

namespace warpzone::mario {

/// X(name, help); the position is the number in infos.
#define WARPZONE_END_REASONS(X)                                            \
  X(running, "the episode has not ended")                                  \
  X(clear, "the level was cleared (for 'game': the last castle)")          \
  X(enemy, "a life was lost to an enemy")                                  \
  X(pit, "a life was lost in a pit")                                       \
  X(time, "a life was lost because the game's clock ran out")              \
  X(game_over, "the last life was lost in an episode that allows several") \
  X(warp, "a warp pipe led to another world")                              \
  X(level_changed, "another level began without a clear or a warp")        \
  X(step_limit, "truncated: the step limit was reached")                   \
  X(stagnation, "truncated: no progress for too long")

#define WARPZONE_NAME(name, help) name,
enum class EndReason : std::uint8_t { WARPZONE_END_REASONS(WARPZONE_NAME) };
#undef WARPZONE_NAME

#define WARPZONE_COUNT(name, help) +1
inline constexpr int kEndReasonCount = 0 WARPZONE_END_REASONS(WARPZONE_COUNT);
#undef WARPZONE_COUNT

/// True for limits that the user set; the game itself would have gone on.
constexpr bool is_truncation(EndReason reason) {
  return reason == EndReason::step_limit || reason == EndReason::stagnation;
}

}  // namespace warpzone::mario
