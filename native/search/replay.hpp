/// The proof of a solution: plays it from power-on and checks where the game continues.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "mario/levels.hpp"
#include "mario/signals.hpp"
#include "nes/console.hpp"

namespace warpzone::search {

/// Which level of which game a solution is for, and how its inputs are laid out.
struct Task {
  mario::Game game = mario::Game::kSuperMarioBros;
  mario::Level level;
  int skip = 1;  ///< Frames for each input.
};

enum class Ending : std::uint8_t {
  kUnfinished,  ///< The inputs end and nothing comes of it.
  kNextLevel,   ///< Cleared, and the game continues with the level that follows.
  kPrincess,    ///< Cleared, and the princess thanks Mario: the last level has no next one.
  kWarp,        ///< Gone into another world without a clear.
  kDeath,
};

struct ReplayResult {
  Ending ending = Ending::kUnfinished;
  /// Frames from the start of the level to the flag, the axe or the warp.
  std::int32_t frames = 0;
  std::int32_t ending_frames = 0;  ///< To the moment that decides the ending.
  mario::Level end_level;          ///< Where the game is at the end.
  std::int32_t area_changes = 0;   ///< Pipes, vines and falls into another area along it.

  /// Whether it is the better solution: through fewer areas, which is easier to follow, or else
  /// shorter.
  bool beats(const ReplayResult& other) const {
    return area_changes != other.area_changes ? area_changes < other.area_changes
                                              : frames < other.frames;
  }
  bool clears() const { return ending == Ending::kNextLevel || ending == Ending::kPrincess; }
};

/// Called at the start and after every frame up to the one in which the solution ends.
using Observer = std::function<void(nes::Console& console, std::int32_t frame)>;

/// Switches the console on, begins the level, plays the inputs and then none at all until the game
/// has gone somewhere.
ReplayResult replay(nes::Console& console, const Task& task, std::span<const std::uint8_t> inputs,
                    const Observer& observe = {});

}  // namespace warpzone::search
