#include "mario/levels.hpp"

#include <array>
#include <memory>
#include <optional>
#include <stdexcept>

#include "mario/ram.hpp"
#include "mario/signals.hpp"

namespace warpzone::mario {
namespace {

constexpr int kStagesPerWorld = 4;
// Boot and title take about 35 frames, loading about 150; a level that needs more is stuck.
constexpr int kTitleFrames = 240;
constexpr int kLoadFrames = 900;

template <std::size_t Worlds>
constexpr auto make_levels() {
  std::array<Level, Worlds * kStagesPerWorld> levels{};
  for (std::size_t i = 0; i < levels.size(); ++i) {
    levels[i] = {static_cast<int>(i) / kStagesPerWorld + 1,
                 static_cast<int>(i) % kStagesPerWorld + 1};
  }
  return levels;
}

constexpr auto kMarioLevels = make_levels<8>();
// The mapper-0 edition of The Lost Levels holds the data of four worlds; its tables point all
// further ones at one unused area.
constexpr auto kLostLevels = make_levels<4>();

using WorldPages = std::array<std::uint8_t, kStagesPerWorld>;
constexpr std::array<WorldPages, 8> kMarioHalfway = {{{5, 6, 4, 0},
                                                      {6, 5, 7, 0},
                                                      {6, 6, 4, 0},
                                                      {6, 6, 4, 0},
                                                      {6, 6, 4, 0},
                                                      {6, 6, 6, 0},
                                                      {6, 5, 7, 0},
                                                      {0, 0, 0, 0}}};
constexpr std::array<WorldPages, 4> kLostHalfway = {
    {{6, 6, 6, 0}, {9, 7, 6, 0}, {6, 6, 7, 0}, {7, 7, 6, 0}}};

// Worlds in which Mario is walked into a pipe before stage 2: the strip is an area of its own.
bool has_entry_strip(Game game, int world) {
  if (game == Game::kLostLevels) {
    return world == 1 || world == 3;
  }
  return world == 1 || world == 2 || world == 4 || world == 7;
}

int world_count(Game game) { return static_cast<int>(all_levels(game).size()) / kStagesPerWorld; }

bool exists(Game game, Level level) {
  return level.world >= 1 && level.world <= world_count(game) && level.stage >= 1 &&
         level.stage <= kStagesPerWorld;
}

std::string range_text(Game game) { return "1-1 to " + std::to_string(world_count(game)) + "-4"; }

void require_level(Game game, Level level) {
  if (!exists(game, level)) {
    throw std::invalid_argument("level " + level_name(level) + " does not exist; levels are " +
                                range_text(game));
  }
}

void write_level(nes::Console& console, Game game, Level level) {
  std::uint8_t* memory = console.ram();
  memory[ram::kWorld] = static_cast<std::uint8_t>(level.world - 1);
  memory[ram::kStage] = static_cast<std::uint8_t>(level.stage - 1);
  memory[ram::kArea] = static_cast<std::uint8_t>(area_number(game, level));
}

// The level is written before every press, since the game turns it into an area when START is
// seen. Returns false when the title screen never ends.
bool pass_title(nes::Console& console, Game game, Level level) {
  const std::uint8_t* memory = console.ram();
  for (int frame = 0; frame < kTitleFrames; ++frame) {
    const bool menu = memory[ram::kMode] == ram::kTitle && memory[ram::kModeTask] == 3;
    if (memory[ram::kMode] == ram::kPlaying) {
      return true;
    }
    // Only a fresh press counts, so START is held every other frame.
    const bool press = menu && frame % 2 == 0;
    if (press) {
      write_level(console, game, level);
    }
    console.run_frame(press ? nes::button::kStart : 0, false);
  }
  return false;
}

// Returns the number of frames, or nothing when Mario never is in control.
std::optional<int> wait_for_control(nes::Console& console, bool announced) {
  std::uint8_t* memory = console.ram();
  for (int frame = 0; frame < kLoadFrames; ++frame) {
    if (in_control(memory) && decode_clock(memory) > 0) {
      return frame;
    }
    if (!announced) memory[ram::kPreLevelTimer] = 0;
    console.run_frame(0, false);
  }
  return std::nullopt;
}

void fail(Level level, const std::string& what) {
  throw StartError("level " + level_name(level) + " did not start: " + what +
                   "; check the game's image with `warpzone rom status`");
}

void start(nes::Console& console, Game game, Level level, const StartOptions& options) {
  console.power_on();
  if (!pass_title(console, game, level)) {
    fail(level, "the title screen did not accept START");
  }
  // The area is laid out from the next frame on; size, colors and first page follow from these.
  std::uint8_t* memory = console.ram();
  memory[ram::kSize] = options.power == 0 ? 1 : 0;
  memory[ram::kPower] = static_cast<std::uint8_t>(options.power);
  if (options.halfway) {
    memory[ram::kHalfwayPage] = static_cast<std::uint8_t>(halfway_page(game, level));
  }
  // The game grants the first such block, in 1-1, and later ones only for many coins.
  if (options.announced && level != all_levels(game).front()) memory[ram::kHiddenLife] = 0;
  const auto before = std::make_unique<nes::MachineState>();
  console.snapshot(*before);
  const std::optional<int> frames = wait_for_control(console, options.announced);
  if (!frames) {
    fail(level, "Mario was not in control after " + std::to_string(kLoadFrames) + " frames");
  }
  if (level_index(memory) != (level.world - 1) * kStagesPerWorld + level.stage - 1 ||
      memory[ram::kArea] != area_number(game, level)) {
    fail(level, "the game began another level");
  }
  if (options.announced) {
    console.restore(*before);
    for (int frame = kLeadFrames; frame < *frames; ++frame) console.run_frame(0, false);
  }
}

}  // namespace

std::span<const Level> all_levels(Game game) {
  if (game == Game::kLostLevels) {
    return kLostLevels;
  }
  return kMarioLevels;
}

std::uint8_t last_level_of(Game game) {
  return static_cast<std::uint8_t>(all_levels(game).size() - 1);
}

Level parse_level(std::string_view text, Game game) {
  if (text.size() == 3 && text[1] == '-') {
    const Level level{text[0] - '0', text[2] - '0'};
    if (exists(game, level)) {
      return level;
    }
  }
  throw std::invalid_argument("unknown level \"" + std::string(text) + "\"; levels are " +
                              range_text(game));
}

std::string level_name(Level level) {
  return std::to_string(level.world) + "-" + std::to_string(level.stage);
}

int area_number(Game game, Level level) {
  require_level(game, level);
  const bool strip = level.stage >= 2 && has_entry_strip(game, level.world);
  return level.stage - 1 + (strip ? 1 : 0);
}

int halfway_page(Game game, Level level) {
  require_level(game, level);
  const auto world = static_cast<std::size_t>(level.world - 1);
  const auto stage = static_cast<std::size_t>(level.stage - 1);
  return game == Game::kLostLevels ? kLostHalfway[world][stage] : kMarioHalfway[world][stage];
}

void start_level(nes::Console& console, Game game, Level level, const StartOptions& options) {
  require_level(game, level);
  if (options.power < 0 || options.power > 2) {
    throw std::invalid_argument("power must be 0 (small), 1 (big) or 2 (fire), not " +
                                std::to_string(options.power));
  }
  start(console, game, level, options);
}

void start_game(nes::Console& console, Game game) { start(console, game, {1, 1}, {}); }

}  // namespace warpzone::mario
