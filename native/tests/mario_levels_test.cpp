#include <cstring>
#include <string>

#include "check.hpp"
#include "mario/levels.hpp"
#include "mario/signals.hpp"
#include "mario_support.hpp"

using namespace warpzone;
using namespace warpzone::mario;

namespace {

std::string refusal(std::string_view text, Game game) {
  try {
    parse_level(text, game);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST(levels_parse_by_name) {
  CHECK(parse_level("1-1", Game::kSuperMarioBros) == (Level{1, 1}));
  CHECK(parse_level("8-4", Game::kSuperMarioBros) == (Level{8, 4}));
  CHECK_EQ(level_name({7, 2}), "7-2");
  for (const Level level : all_levels(Game::kSuperMarioBros)) {
    CHECK(parse_level(level_name(level), Game::kSuperMarioBros) == level);
  }
  CHECK_EQ(all_levels(Game::kSuperMarioBros).size(), 32);
  CHECK_EQ(all_levels(Game::kLostLevels).size(), 16);
}

TEST(wrong_level_names_are_refused_by_name) {
  for (const char* text :
       {"", "1", "1-", "1-5", "0-1", "9-1", "1_1", " 1-1", "1-1 ", "11", "a-b", "-1-1", "1-10"}) {
    CHECK_THROWS(parse_level(text, Game::kSuperMarioBros), std::invalid_argument);
  }
  CHECK_EQ(refusal("9-1", Game::kSuperMarioBros), "unknown level \"9-1\"; levels are 1-1 to 8-4");
  CHECK_EQ(refusal("5-1", Game::kLostLevels), "unknown level \"5-1\"; levels are 1-1 to 4-4");
}

TEST(entry_strips_shift_the_area_number) {
  CHECK_EQ(area_number(Game::kSuperMarioBros, {1, 1}), 0);
  CHECK_EQ(area_number(Game::kSuperMarioBros, {1, 2}), 2);
  CHECK_EQ(area_number(Game::kSuperMarioBros, {3, 2}), 1);
  CHECK_EQ(area_number(Game::kSuperMarioBros, {8, 4}), 3);
  CHECK_EQ(area_number(Game::kLostLevels, {3, 2}), 2);
  CHECK_THROWS(area_number(Game::kSuperMarioBros, {9, 1}), std::invalid_argument);
}

TEST(halfway_pages_follow_the_game) {
  CHECK_EQ(halfway_page(Game::kSuperMarioBros, {1, 1}), 5);
  CHECK_EQ(halfway_page(Game::kSuperMarioBros, {2, 3}), 7);
  CHECK_EQ(halfway_page(Game::kSuperMarioBros, {1, 4}), 0);
  CHECK_EQ(halfway_page(Game::kSuperMarioBros, {8, 1}), 0);
}

TEST(every_level_starts_in_its_own_area) {
  const auto cartridge = game_cartridge();
  if (cartridge == nullptr) {
    return;
  }
  // Area type and number within the type, from the game's own list of levels.
  constexpr int kAreas[8][4] = {{0x25, 0x40, 0x26, 0x60}, {0x28, 0x01, 0x27, 0x62},
                                {0x24, 0x35, 0x20, 0x63}, {0x22, 0x41, 0x2C, 0x61},
                                {0x2A, 0x31, 0x26, 0x62}, {0x2E, 0x23, 0x2D, 0x60},
                                {0x33, 0x01, 0x27, 0x64}, {0x30, 0x32, 0x21, 0x65}};
  constexpr int kAreaInType = 0x74F;
  nes::Console console(cartridge);
  for (const Level level : all_levels(Game::kSuperMarioBros)) {
    start_level(console, Game::kSuperMarioBros, level);
    const std::uint8_t* memory = console.ram();
    const Signals signals = decode(memory);
    CHECK_EQ(memory[ram::kAreaType] << 5 | memory[kAreaInType],
             kAreas[level.world - 1][level.stage - 1]);
    CHECK_EQ(signals.world, level.world);
    CHECK_EQ(signals.stage, level.stage);
    CHECK_EQ(signals.x, 40);
    CHECK_EQ(signals.power, 0);
    CHECK_EQ(signals.lives, 2);
    CHECK(signals.in_control);
    CHECK(signals.clock == 400 || signals.clock == 300);
    // A second later the clock has moved and Mario has obeyed.
    for (int frame = 0; frame < 60; ++frame) {
      console.run_frame(nes::button::kRight, false);
    }
    const Signals later = decode(memory);
    CHECK(later.clock < signals.clock);
    CHECK(later.x > signals.x);
  }
}

TEST(a_start_is_always_the_same) {
  const auto cartridge = game_cartridge();
  if (cartridge == nullptr) {
    return;
  }
  nes::Console used(cartridge);
  start_level(used, Game::kSuperMarioBros, {1, 1});
  for (int frame = 0; frame < 500; ++frame) {
    used.run_frame(nes::button::kRight | nes::button::kB, frame % 7 == 0);
  }
  nes::Console fresh(cartridge);
  for (const Level level : {Level{2, 2}, Level{8, 4}}) {
    start_level(used, Game::kSuperMarioBros, level, {1, false});
    start_level(fresh, Game::kSuperMarioBros, level, {1, false});
    CHECK(used.save() == fresh.save());
  }
}

TEST(power_is_there_from_the_start) {
  const auto cartridge = game_cartridge();
  if (cartridge == nullptr) {
    return;
  }
  constexpr int kMarioColor = 0x11;
  constexpr std::uint8_t kRed = 0x16;
  constexpr std::uint8_t kFireWhite = 0x37;
  nes::Console console(cartridge);
  for (int power = 0; power <= 2; ++power) {
    start_level(console, Game::kSuperMarioBros, {1, 1}, {power, false});
    CHECK_EQ(decode(console.ram()).power, power);
    CHECK_EQ(console.ram()[ram::kSize], power == 0 ? 1 : 0);
    CHECK_EQ(console.state().ppu.palette[kMarioColor], power == 2 ? kFireWhite : kRed);
  }
  CHECK_THROWS(start_level(console, Game::kSuperMarioBros, {1, 1}, {3, false}),
               std::invalid_argument);
  CHECK_THROWS(start_level(console, Game::kSuperMarioBros, {9, 1}), std::invalid_argument);
}

TEST(halfway_starts_at_its_page) {
  const auto cartridge = game_cartridge();
  if (cartridge == nullptr) {
    return;
  }
  nes::Console console(cartridge);
  for (const Level level : all_levels(Game::kSuperMarioBros)) {
    start_level(console, Game::kSuperMarioBros, level, {0, true});
    CHECK_EQ(decode(console.ram()).x, halfway_page(Game::kSuperMarioBros, level) * 256 + 40);
  }
}

TEST(the_whole_game_begins_at_1_1) {
  const auto cartridge = game_cartridge();
  if (cartridge == nullptr) {
    return;
  }
  nes::Console game(cartridge);
  nes::Console level(cartridge);
  start_game(game, Game::kSuperMarioBros);
  start_level(level, Game::kSuperMarioBros, {1, 1});
  CHECK(std::memcmp(game.ram(), level.ram(), ram::kSize2KiB) == 0);
}

TEST(the_lost_levels_start_where_they_exist) {
  const auto cartridge = lost_levels_cartridge();
  if (cartridge == nullptr) {
    return;
  }
  nes::Console console(cartridge);
  std::uint16_t last_area = 0;
  for (const Level level : all_levels(Game::kLostLevels)) {
    start_level(console, Game::kLostLevels, level);
    CHECK(in_control(console.ram()));
    CHECK(area_key(console.ram()) != last_area);
    last_area = area_key(console.ram());
  }
}

TEST(a_cartridge_without_the_game_is_refused_by_name) {
  std::vector<std::uint8_t> image(16 + 32768 + 8192, 0);
  const std::uint8_t header[] = {'N', 'E', 'S', 0x1A, 2, 1, 1};
  std::memcpy(image.data(), header, sizeof header);
  // JMP $8000 at the reset vector: runs for ever and shows no title.
  const std::uint8_t loop[] = {0x4C, 0x00, 0x80};
  std::memcpy(image.data() + 16, loop, sizeof loop);
  for (const int vector : {0x7FFA, 0x7FFC, 0x7FFE}) {
    image[static_cast<std::size_t>(16 + vector + 1)] = 0x80;
  }
  nes::Console console(nes::Cartridge::parse(image));
  std::string text;
  try {
    start_level(console, Game::kSuperMarioBros, {4, 2});
  } catch (const std::runtime_error& error) {
    text = error.what();
  }
  CHECK(text.find("level 4-2 did not start") != std::string::npos);
}
