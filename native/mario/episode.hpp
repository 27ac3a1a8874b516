/// What ends an episode, and why. Updated at every emulated frame, since some of the signs last
/// only a few frames.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "mario/end_reason.hpp"

namespace warpzone::mario {

enum class DeathCause : std::uint8_t { kNone, kEnemy, kPit, kTime };

/// What has happened since `Episode::begin_step`, or since reset without one.
struct Events {
  bool clear = false;         ///< The flagpole is touched or the axe taken alive.
  bool game_cleared = false;  ///< The same in the last castle: the princess is rescued.
  bool death = false;
  bool warp = false;  ///< A warp pipe was entered: another world without a clear.
  bool game_over = false;
  bool level_changed = false;  ///< Another level began.
  DeathCause cause = DeathCause::kNone;
};

/// Follows one game. Plain data without padding, as Progress is.
struct Episode {
  Events events;
  std::uint8_t world = 0, stage = 0;   ///< 0-based, at the last frame.
  std::uint8_t last_level = 0;         ///< Index of the game's last castle, as level_index counts.
  std::uint8_t mode = 0;               ///< ram::Mode at the last frame.
  bool dying = false;                  ///< A life is being lost right now.
  bool level_cleared = false;          ///< The present level, whose ending may still be running.
  EndReason end = EndReason::running;  ///< Set by whoever judges the step.
  std::array<std::uint8_t, 2> reserved{};
  std::int32_t clears = 0;  ///< Since reset, for episodes that continue after a clear.
  std::int32_t deaths = 0;  ///< Since reset, for episodes that continue after a death.
  std::int32_t frames = 0;  ///< Since reset.
  std::int32_t last_progress = 0;

  /// `last_level_index` distinguishes a cleared game from a cleared castle; see last_level_of.
  void reset(const std::uint8_t* ram, std::uint8_t last_level_index);
  /// An agent step begins: events are those of this step from here on.
  void begin_step() { events = Events{}; }
  /// To be called after every emulated frame. Returns true when something happened.
  bool update(const std::uint8_t* ram, bool progress_rose);
  /// Frames since progress rose, those in which Mario does not obey left out.
  std::int32_t stagnation() const { return frames - last_progress; }

 private:
  bool update_level(const std::uint8_t* ram);
  bool update_clear(const std::uint8_t* ram);
  bool update_death(const std::uint8_t* ram);
};

static_assert(std::has_unique_object_representations_v<Episode>, "name the padding");

}  // namespace warpzone::mario
