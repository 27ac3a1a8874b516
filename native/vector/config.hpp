/// The one list of environment parameters. The struct, the Python class, its defaults, its help
/// and the documentation are all made from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mario/levels.hpp"

namespace warpzone {

using Names = std::vector<std::string>;
using Buttons = std::vector<std::uint8_t>;
using Size = std::pair<int, int>;
using Blob = std::string;
using Choice = std::optional<bool>;

/// X(type, name, default, help)
#define WARPZONE_ENV_PARAMETERS(X)                                                              \
  X(Names, level, (Names{"1-1"}),                                                               \
    "Level or levels to play, such as '1-1'; 'game' is the whole game from the title screen.")  \
  X(std::string, level_order, "cycle",                                                          \
    "'cycle': env i always plays levels[i mod n]; 'random': a new one at every reset.")         \
  X(std::string, obs, "pixels",                                                                 \
    "'pixels': grey pictures, stacked (stack, height, width); 'rgb': colour pictures (height, " \
    "width, 3 * stack); 'tiles': the tile grid read from RAM, with features.")                  \
  X(Size, size, (Size{0, 0}),                                                                   \
    "(height, width) of pictures; (0, 0) means (84, 84) for pixels and full size for rgb.")     \
  X(int, stack, 0,                                                                              \
    "Pictures or grids in one observation; 0 means 4 for pixels, 1 for rgb, 2 for "             \
    "tiles.")                                                                                   \
  X(int, frame_skip, 4, "Emulated frames for each step; the action is held.")                   \
  X(bool, max_pool, false, "Pixels: take the brighter of a step's last two frames for each.")   \
  X(bool, show_buttons, false,                                                                  \
    "Pixels: show the buttons of the last frame as eight blocks in the upper left corner.")     \
  X(std::string, hud, "keep", "The status bar: 'keep', 'mask' (black) or 'crop'.")              \
  X(Buttons, actions, (Buttons{0x00, 0x80, 0x81, 0x82, 0x83, 0x01, 0x40}),                      \
    "Buttons of each action as bits A, B, Select, Start, Up, Down, Left, Right from bit 0.")    \
  X(double, sticky_prob, 0.0,                                                                   \
    "Chance, at each emulated frame, that the buttons of the frame before stay pressed.")       \
  X(int, noop_max, 0, "Up to so many frames without buttons follow a reset, drawn at random.")  \
  X(std::string, reward, "shaped",                                                              \
    "'shaped': terms with weights; 'classic': as gym-super-mario-bros 7.4.")                    \
  X(std::string, autoreset, "next-step",                                                        \
    "What follows an episode's end: 'next-step', 'same-step' or 'disabled'.")                   \
  X(int, power, 0, "Mario at the start: 0 small, 1 big, 2 with fire.")                          \
  X(bool, halfway, false, "Start at the level's halfway page, where it has one.")               \
  X(Blob, start_state, "", "Start from this save state instead of a level's start.")            \
  X(int, max_steps, 0, "Truncate an episode after so many steps; 0 means never.")               \
  X(int, stagnation_limit, 0, "Truncate after so many steps without progress; 0 means never.")  \
  X(Choice, one_life, std::nullopt,                                                             \
    "End the episode with the first life lost; by default so except for 'game'.")               \
  X(Choice, one_level, std::nullopt,                                                            \
    "End the episode with the level cleared or left; by default so except for 'game'.")         \
  X(bool, exact, false, "Emulate on the literal path: slow, bit by bit the same.")

struct EnvConfig {
#define WARPZONE_FIELD(type, name, value, help) type name = value;
  WARPZONE_ENV_PARAMETERS(WARPZONE_FIELD)
#undef WARPZONE_FIELD
};

enum class ObsKind : std::uint8_t { kPixels, kRgb, kTiles };
enum class Hud : std::uint8_t { kKeep, kMask, kCrop };
enum class RewardKind : std::uint8_t { kShaped, kClassic };
enum class Autoreset : std::uint8_t { kNextStep, kSameStep, kDisabled };

/// A level to play, or the whole game.
struct Task {
  bool whole_game = false;
  mario::Level level;
  bool operator==(const Task&) const = default;
};

/// The configuration, checked and ready for use.
struct LaneSettings {
  std::vector<Task> tasks;
  bool random_task = false;
  ObsKind obs = ObsKind::kPixels;
  Hud hud = Hud::kKeep;
  Autoreset autoreset = Autoreset::kNextStep;
  int height = 84, width = 84, stack = 4;
  RewardKind reward = RewardKind::kShaped;
  EnvConfig config;  ///< The rest, as given.

  /// Bytes of one picture or grid, and of a whole observation (features not included).
  std::size_t plane_size() const;
  std::size_t obs_size() const { return plane_size() * static_cast<std::size_t>(stack); }
};

/// Throws std::invalid_argument with one sentence that names the parameter, its value and what is
/// allowed.
LaneSettings check_config(const EnvConfig& config, mario::Game game);
Task parse_task(const std::string& name, mario::Game game);
std::string task_name(const Task& task);

}  // namespace warpzone
