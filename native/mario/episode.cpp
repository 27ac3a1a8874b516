#include "mario/episode.hpp"

#include "mario/ram.hpp"
#include "mario/signals.hpp"

namespace warpzone::mario {
namespace {

bool running(const std::uint8_t* ram) {
  return ram[ram::kMode] == ram::kPlaying && ram[ram::kModeTask] == 3;
}

// Below the screen nothing can save Mario, unless he fell out of a cloud: then the game takes him
// back to the level, provided that there is time left.
bool in_deadly_pit(const std::uint8_t* ram) {
  return ram[ram::kPlayerTask] == ram::kTaskControl && ram[ram::kYPage] >= 2 &&
         ram[ram::kYPage] < 0x80 && (ram[ram::kCloudArea] == 0 || ram[ram::kTimeUp] != 0);
}

DeathCause death_cause(const std::uint8_t* ram) {
  if (!running(ram)) {
    return DeathCause::kNone;
  }
  const std::uint8_t task = ram[ram::kPlayerTask];
  const bool dying = task == ram::kTaskDying || task == ram::kTaskLifeLost;
  if (!dying && !in_deadly_pit(ram)) {
    return DeathCause::kNone;
  }
  if (ram[ram::kTimeUp] != 0) {
    return DeathCause::kTime;
  }
  return task == ram::kTaskDying ? DeathCause::kEnemy : DeathCause::kPit;
}

bool on_flagpole(const std::uint8_t* ram) {
  return running(ram) && ram[ram::kPlayerTask] == ram::kTaskFlagpole &&
         ram[ram::kFloatState] == ram::kClimbing;
}

// The game looks for the axe under Mario's feet only while he is on the screen and not dying, and
// from that frame on runs neither enemies, hammers nor the clock: who takes the axe has won. The
// tests for life are for snapshots taken in odd moments.
bool took_axe(const std::uint8_t* ram) {
  return ram[ram::kMode] == ram::kWorldEnd && ram[ram::kPlayerTask] != ram::kTaskDying &&
         ram[ram::kPlayerTask] != ram::kTaskLifeLost && ram[ram::kYPage] == 1;
}

}  // namespace

void Episode::reset(const std::uint8_t* ram, std::uint8_t last_level_index) {
  *this = Episode{};
  last_level = last_level_index;
  world = ram[ram::kWorld];
  stage = ram[ram::kStage];
  mode = ram[ram::kMode];
}

bool Episode::update(const std::uint8_t* ram, bool progress_rose) {
  ++frames;
  if (progress_rose) {
    last_progress = frames;
  } else if (!in_control(ram)) {
    ++last_progress;
  }
  bool news = false;
  news |= update_level(ram);
  news |= update_clear(ram);
  news |= update_death(ram);
  mode = ram[ram::kMode];
  return news;
}

bool Episode::update_level(const std::uint8_t* ram) {
  if (ram[ram::kWorld] == world && ram[ram::kStage] == stage) {
    return false;
  }
  // Worlds change at the end of a castle (mode 2 until that very frame) or through a warp pipe.
  const bool warped = ram[ram::kWorld] != world && mode == ram::kPlaying && !level_cleared;
  events.warp |= warped;
  world = ram[ram::kWorld];
  stage = ram[ram::kStage];
  level_cleared = false;
  events.level_changed = true;
  return true;
}

bool Episode::update_clear(const std::uint8_t* ram) {
  if (level_cleared || dying || !(on_flagpole(ram) || took_axe(ram))) {
    return false;
  }
  level_cleared = true;
  events.clear = true;
  events.game_cleared |= level_index(ram) == last_level;
  ++clears;
  return true;
}

bool Episode::update_death(const std::uint8_t* ram) {
  bool news = false;
  if (ram[ram::kLives] == 0xFF || ram[ram::kMode] == ram::kGameOver) {
    news = !events.game_over;
    events.game_over = true;
  }
  const DeathCause cause = death_cause(ram);
  if (cause == DeathCause::kNone) {
    dying = dying && !in_control(ram);
    return news;
  }
  if (dying) {
    return news;
  }
  dying = true;
  events.death = true;
  events.cause = cause;
  ++deaths;
  return true;
}

}  // namespace warpzone::mario
