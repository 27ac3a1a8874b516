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
#define WARPZONE_ENV_PARAMETERS(X)                                                                 \
  X(Names, level, (Names{"1-1"}),                                                                  \
    "Level or levels to play, such as '1-1'; 'game' is the whole game from the title screen.")     \
  X(std::string, level_order, "cycle",                                                             \
    "'cycle': env i always plays level i mod n of the n levels; 'random': a new one at every "     \
    "reset.")                                                                                      \
  X(std::string, obs, "pixels",                                                                    \
    "'pixels': stacked grayscale images (stack, height, width); 'rgb': color images; 'tiles': "    \
    "the "                                                                                         \
    "tile grid read from RAM, with features.")                                                     \
  X(std::string, channels, "last",                                                                 \
    "rgb: 'last' for (height, width, 3 * stack), 'first' for (3 * stack, height, width).")         \
  X(Size, size, (Size{0, 0}),                                                                      \
    "(height, width) of images, 8 to 2048 pixels each; (0, 0) means (84, 84) for pixels and the "  \
    "size of the screen for rgb. Resizing averages by area.")                                      \
  X(int, stack, 0, "Frames in one observation; 0 means 4 for pixels, 1 for rgb, 2 for tiles.")     \
  X(int, frame_skip, 4, "Emulated frames per step; the action is held.")                           \
  X(bool, max_pool, false,                                                                         \
    "Pixels and rgb: take the pixel-wise maximum of a step's last two frames.")                    \
  X(bool, show_buttons, false,                                                                     \
    "Pixels: draw the buttons of the last frame as eight blocks in the upper left corner.")        \
  X(std::string, hud, "keep", "The status bar: 'keep', 'mask' (black) or 'crop'.")                 \
  X(Buttons, actions, (Buttons{0x00, 0x80, 0x81, 0x82, 0x83, 0x01, 0x40}),                         \
    "Buttons of each action as bits A, B, Select, Start, Up, Down, Left, Right from bit 0.")       \
  X(double, sticky_prob, 0.0,                                                                      \
    "Probability that the previous buttons stay pressed (sticky actions); see sticky.")            \
  X(std::string, sticky, "frame",                                                                  \
    "When sticky_prob is drawn: 'frame', at each emulated frame, or 'step', once per step, which " \
    "then repeats the whole previous action.")                                                     \
  X(int, noop_max, 0, "Each reset is followed by 0 to noop_max no-op frames, drawn at random.")    \
  X(double, game_start_prob, 0.0,                                                                  \
    "Probability that a level starts as within a whole game: after the screen that announces it, " \
    "whose end sets the rhythm of some enemies, with the buttons of a random action held instead " \
    "of no-op frames, without hidden blocks that contain a life (except in 1-1), and in half of "  \
    "the cases at its halfway page, as after a life lost late in the level.")                      \
  X(std::string, reward, "shaped",                                                                 \
    "'shaped': weighted terms; 'classic': the reward of gym-super-mario-bros 7.4.")                \
  X(std::string, autoreset, "next-step",                                                           \
    "When an episode that ended is reset: 'next-step', 'same-step' or 'disabled'.")                \
  X(int, power, 0, "Mario at the start: 0 small, 1 big, 2 with fire.")                             \
  X(double, random_power, 0.0,                                                                     \
    "Probability that a level starts with Mario big or with fire, equally likely, whatever power " \
    "is.")                                                                                         \
  X(bool, reseed_game, false,                                                                      \
    "Draw the state of the game's random number generator anew at each reset, so that enemies "    \
    "behave differently from the same start.")                                                     \
  X(int, start_random_steps, 0,                                                                    \
    "A reset to a state without no-op frames is followed by a random action, held for 0 to this "  \
    "many steps, unless Mario would not stand or swim afterwards.")                                \
  X(bool, halfway, false, "Start at the level's halfway page, where it has one.")                  \
  X(Blob, start_state, "", "Start from this save state instead of the start of a level.")          \
  X(int, max_steps, 0, "Truncate an episode after this many steps; 0 disables this.")              \
  X(int, stagnation_limit, 0,                                                                      \
    "Truncate an episode after this many steps without progress; 0 disables this.")                \
  X(Choice, one_life, std::nullopt,                                                                \
    "End the episode when a life is lost; None means True except for 'game'.")                     \
  X(Choice, one_level, std::nullopt,                                                               \
    "End the episode when the level is cleared or left; None means True except for 'game'.")       \
  X(bool, exact, false, "Emulate every cycle literally: slow, with identical results.")

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
  bool channels_first = false;  ///< Of rgb images; grey ones always are.
  bool sticky_step = false;     ///< Stickiness is drawn once per step, not once per frame.
  RewardKind reward = RewardKind::kShaped;
  EnvConfig config;  ///< The rest, as given.

  /// Whether a step's last two frames are pooled.
  bool pools() const { return config.max_pool && config.frame_skip > 1; }
  /// Bytes of one image or tile grid, and of a whole observation (features not included).
  std::size_t frame_size() const;
  std::size_t obs_size() const { return frame_size() * static_cast<std::size_t>(stack); }
};

/// Throws std::invalid_argument with one sentence that names the parameter, its value and what is
/// allowed.
LaneSettings check_config(const EnvConfig& config, mario::Game game);
Task parse_task(const std::string& name, mario::Game game);
std::string task_name(const Task& task);

}  // namespace warpzone
