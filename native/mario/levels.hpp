/// The levels by name and how to begin one: from power-on through the title to the moment Mario
/// obeys the controller.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "nes/console.hpp"

namespace warpzone::mario {

enum class Game : std::uint8_t { kSuperMarioBros, kLostLevels };

/// World and stage as people count them, from 1.
struct Level {
  int world = 1;
  int stage = 1;
  bool operator==(const Level&) const = default;
};

/// A level did not start: the program in the cartridge does not behave as the game does.
struct StartError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An announced start lies this many frames before Mario is in control.
constexpr int kLeadFrames = 8;

struct StartOptions {
  int power = 0;         ///< 0 small, 1 big, 2 fire.
  bool halfway = false;  ///< At the level's halfway page; levels without one begin at their start.
  /// As within a game: the screen that announces the level is shown. The slow timers of the game,
  /// which count every 21 frames, are at another point then, and so are enemies that depend on
  /// them, such as lava balls. Hidden blocks with a life are missing after 1-1, as in a game
  /// without many coins.
  bool announced = false;
  bool operator==(const StartOptions&) const = default;
};

/// Reads "4-2". Throws std::invalid_argument naming the text and what would be right.
Level parse_level(std::string_view text, Game game);
std::string level_name(Level level);
/// All levels of a game that can be started, in order.
std::span<const Level> all_levels(Game game);
/// Index of the last one, as level_index counts: its castle ends the game.
std::uint8_t last_level_of(Game game);

/// The number of the area (ram::kArea) in which the level is played. An entry strip, where the
/// game walks Mario into a pipe without asking, is passed over.
int area_number(Game game, Level level);
/// The page at which a life lost late in the level resumes, 0 when there is none.
int halfway_page(Game game, Level level);

/// Switches the console on and begins the level. Nothing is drawn. On return Mario is in control
/// and the clock runs, unless the start is announced; the same arguments always give the same
/// machine state. Throws std::invalid_argument for options out of range or an unknown level,
/// std::runtime_error naming the level when the game does not get there.
void start_level(nes::Console& console, Game game, Level level, const StartOptions& options = {});

/// Switches the console on and begins the whole game, as a person does who presses START.
void start_game(nes::Console& console, Game game);

}  // namespace warpzone::mario
