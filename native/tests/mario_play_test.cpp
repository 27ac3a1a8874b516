/// Plays the real game: inputs found by search, and a few pokes to bring about what is rare.
#include <algorithm>
#include <cstdio>
#include <span>
#include <sstream>
#include <string>

#include "check.hpp"
#include "mario/episode.hpp"
#include "mario/levels.hpp"
#include "mario/objects.hpp"
#include "mario/progress.hpp"
#include "mario/signals.hpp"
#include "mario_support.hpp"

using namespace warpzone;
using namespace warpzone::mario;

namespace {

// Buttons and frames, from the start of the level. The European release only: Mario is a little
// slower in the others.
constexpr const char* kClear11 =
    "82:8 83:10 22:14 81:7 83:53 40:5 82:4 83:10 82:40 23:2 81:11 92:10 83:19 80:12 01:3 82:5 "
    "83:2 80:17 81:18 83:51 43:5 83:15 03:26 83:8 80:35 83:11 43:3 81:3 42:68 83:11 81:2 "
    "82:57 83:20 81:8 82:31 81:18 80:24 20:22 82:88 42:38 82:29 81:24 80:3 82:7 83:14 82:2 "
    "42:25 83:25 22:34 A3:19 90:6 23:8 82:7 83:17 81:6 83:38 23:3 01:3 82:4 83:18 82:13 83:9 "
    "90:6 92:8 83:21 43:9 82:6 22:3 83:2 82:60 83:22 80:15 83:15 92:11 93:25 82:7 41:5 82:8 "
    "02:2 83:14 82:7 83:16 80:11 83:38 80:2 83:14 80:2 02:5 82:10 81:29 83:7 82:10 80:9 83:36 "
    "40:8 82:4 83:20 81:5 83:5 82:23 81:4 82:28 83:12 80:13 83:70 82:11 A3:8";
constexpr const char* kClear14 =
    "81:9 82:6 83:4 82:48 83:31 82:28 83:28 93:6 82:4 03:26 92:3 82:10 81:3 82:14 83:10 02:11 "
    "83:103 82:44 83:13 81:11 83:8 82:14 93:7 22:5 83:16 82:25 43:6 82:25 83:14 92:17 21:6 "
    "83:8 82:10 81:8 82:24 23:28 80:7 01:4 82:2 83:9 82:14 83:31 82:6 83:40 00:5 82:5";
constexpr const char* kWarp12 =
    "43:24 82:48 83:17 82:12 80:27 83:21 82:17 80:56 83:12 82:21 83:7 82:16 83:15 80:10 81:5 "
    "83:54 82:8 83:51 80:6 40:10 80:11 82:9 83:14 82:2 83:4 52:8 81:12 82:23 83:3 82:12 42:2 "
    "92:14 22:19 82:18 81:4 83:6 80:7 83:15 82:42 83:38 03:11 42:27 43:11 82:19 22:6 81:21 "
    "21:8 83:22 23:6 80:7 A0:5 83:8 82:18 83:5 81:12 02:8 82:2 83:29 80:64 83:63 42:49 82:13 "
    "43:2 82:23 03:10 82:8 83:18 42:61 82:15 81:16 83:6 80:13 82:10 42:12 83:48 82:25 00:2 "
    "82:6 83:30 82:21 83:15 82:23 01:8 83:13 13:6 80:24 82:10 83:30 02:4 83:44 82:12 42:5 "
    "03:10 22:17 83:19 82:10 83:29 23:3 40:11 22:17 40:6 43:2 42:26 41:46 83:18 03:47 42:6 "
    "00:10 82:22 80:10 40:8 43:9 42:5 43:4 22:4 82:16 02:30 00:6 82:38 00:4 43:21 02:11 43:18 "
    "42:18 81:12 83:29 82:4 83:18 80:26 93:3 83:11 80:5 02:2 82:1 81:11 83:11 80:5 43:2 42:21 "
    "43:14 00:4 02:26 21:8 83:35 41:16 82:9 42:11 43:29 23:14";

/// One game followed frame by frame, as a lane does it.
struct Play {
  explicit Play(const std::shared_ptr<const nes::Cartridge>& cartridge, Level level,
                const StartOptions& options = {})
      : console(cartridge) {
    start_level(console, Game::kSuperMarioBros, level, options);
    episode.reset(console.ram(), last_level_of(Game::kSuperMarioBros));
    progress.reset(decode_place(console.ram()));
  }

  void frame(std::uint8_t buttons) {
    console.run_frame(buttons, false);
    const std::int32_t before = progress.total;
    const bool rose = progress.update(decode_place(console.ram()));
    CHECK_EQ(rose, progress.total > before);
    CHECK(progress.total >= before);
    episode.update(console.ram(), rose);
  }

  void hold(std::uint8_t buttons, int frames) {
    for (int i = 0; i < frames; ++i) {
      frame(buttons);
    }
  }

  /// Holds the buttons until the condition is true; false when it never is.
  template <typename Condition>
  bool until(std::uint8_t buttons, int limit, Condition condition) {
    for (int i = 0; i < limit && !condition(); ++i) {
      frame(buttons);
    }
    return condition();
  }

  void follow(const char* way) {
    std::istringstream words(way);
    std::string word;
    while (words >> word) {
      const int buttons = std::stoi(word.substr(0, 2), nullptr, 16);
      hold(static_cast<std::uint8_t>(buttons), std::stoi(word.substr(3)));
    }
  }

  bool dead() const { return episode.events.death; }
  Signals signals() const { return decode(console.ram()); }

  nes::Console console;
  Episode episode;
  Progress progress;
};

std::shared_ptr<const nes::Cartridge> european() {
  auto cartridge = game_cartridge();
  if (cartridge != nullptr) {
    constexpr std::uint8_t kSpeeds[] = {0xD0, 0xE4, 0xED, 0x30, 0x1C, 0x13};
    const std::span program(cartridge->program(), 0x8000);
    if (std::search(program.begin(), program.end(), std::begin(kSpeeds), std::end(kSpeeds)) ==
        program.end()) {
      std::printf("skipped: not the European release\n");
      return nullptr;
    }
  }
  return cartridge;
}

}  // namespace

TEST(running_into_the_first_enemy_is_death_by_enemy) {
  const auto cartridge = game_cartridge();
  if (cartridge == nullptr) {
    return;
  }
  Play play(cartridge, {1, 1});
  CHECK(play.until(nes::button::kRight, 600, [&] { return play.dead(); }));
  CHECK_EQ(play.episode.events.cause, DeathCause::kEnemy);
  CHECK(play.progress.total > 100 && play.progress.total < 400);
  CHECK(play.until(0, 600, [&] { return play.signals().lives == 1; }));
  // The next life is the same level, and what was walked before is not paid again.
  CHECK(play.until(0, 600, [&] { return in_control(play.console.ram()); }));
  const std::int32_t before = play.progress.total;
  play.hold(nes::button::kRight, 60);
  CHECK_EQ(play.progress.total, before);
  CHECK_EQ(play.episode.deaths, 1);
  CHECK(!play.episode.events.level_changed);
}

TEST(running_off_a_ledge_is_death_by_pit_and_pays_nothing) {
  const auto cartridge = game_cartridge();
  if (cartridge == nullptr) {
    return;
  }
  Play play(cartridge, {1, 3});
  std::int32_t last_ground = 0;
  CHECK(play.until(nes::button::kRight | nes::button::kB, 600, [&] {
    const Signals now = play.signals();
    last_ground = now.on_ground ? now.x : last_ground;
    return play.dead();
  }));
  CHECK_EQ(play.episode.events.cause, DeathCause::kPit);
  CHECK_EQ(play.progress.total, last_ground - 40);
  CHECK(play.signals().x > last_ground + 20);
  CHECK(play.until(0, 600, [&] { return play.signals().lives == 1; }));
}

TEST(big_mario_survives_the_first_enemy) {
  const auto cartridge = game_cartridge();
  if (cartridge == nullptr) {
    return;
  }
  for (const int power : {1, 2}) {
    Play play(cartridge, {1, 1}, {power, false});
    CHECK(play.until(nes::button::kRight, 600, [&] { return play.signals().power == 0; }));
    CHECK(!play.dead());
    CHECK(!in_control(play.console.ram()));
    play.hold(0, 60);
    CHECK(in_control(play.console.ram()));
    CHECK(play.signals().injury_timer > 0);
  }
}

TEST(the_clock_running_out_is_death_by_time) {
  const auto cartridge = game_cartridge();
  if (cartridge == nullptr) {
    return;
  }
  Play play(cartridge, {1, 1});
  play.console.ram()[ram::kClock] = 0;
  play.console.ram()[ram::kClock + 1] = 0;
  play.console.ram()[ram::kClock + 2] = 2;
  CHECK(play.until(0, 600, [&] { return play.dead(); }));
  CHECK_EQ(play.episode.events.cause, DeathCause::kTime);
  CHECK_EQ(play.signals().clock, 0);
  CHECK(play.until(0, 900, [&] { return play.signals().lives == 1; }));
}

TEST(the_third_death_ends_the_game) {
  const auto cartridge = game_cartridge();
  if (cartridge == nullptr) {
    return;
  }
  Play play(cartridge, {1, 1});
  CHECK(play.until(nes::button::kRight, 6000, [&] { return play.episode.events.game_over; }));
  CHECK_EQ(play.episode.deaths, 3);
  CHECK_EQ(play.signals().lives, -1);
}

TEST(falling_out_of_the_clouds_leads_back_to_the_level) {
  const auto cartridge = game_cartridge();
  if (cartridge == nullptr) {
    return;
  }
  Play play(cartridge, {2, 1});
  play.console.ram()[ram::kCloudArea] = 1;
  play.console.ram()[ram::kYPage] = 2;
  play.console.ram()[ram::kFloatState] = ram::kFalling;
  play.frame(0);
  CHECK(
      play.until(0, 900, [&] { return in_control(play.console.ram()) && play.signals().y < 256; }));
  CHECK(!play.dead());
  CHECK_EQ(play.signals().lives, 2);
}

TEST(the_flagpole_of_1_1_leads_to_1_2) {
  const auto cartridge = european();
  if (cartridge == nullptr) {
    return;
  }
  Play play(cartridge, {1, 1});
  play.follow(kClear11);
  CHECK(play.episode.events.clear);
  CHECK(!play.dead());
  CHECK_EQ(play.signals().player_task, ram::kTaskFlagpole);
  CHECK(play.progress.total > 3000);
  CHECK(!play.episode.events.level_changed);
  CHECK(play.until(0, 2000, [&] { return play.episode.events.level_changed; }));
  CHECK_EQ(play.signals().stage, 2);
  CHECK(!play.episode.events.warp && !play.dead());
  CHECK_EQ(play.episode.clears, 1);
}

TEST(the_score_on_the_screen_is_the_score) {
  const auto cartridge = european();
  if (cartridge == nullptr) {
    return;
  }
  Play play(cartridge, {1, 1});
  play.follow(kClear11);
  play.until(0, 2000, [&] { return play.episode.events.level_changed; });
  play.hold(0, 200);
  // The status bar is the top of the first nametable: six digits, blank when leading, and a
  // painted zero.
  constexpr int kFirstDigit = 0x62;
  constexpr int kBlank = 0x24;
  std::int32_t shown = 0;
  for (int i = 0; i < 7; ++i) {
    const int tile = play.console.state().ppu.vram[kFirstDigit + i];
    shown = shown * 10 + (tile == kBlank ? 0 : tile);
  }
  CHECK_EQ(play.signals().score, shown);
  CHECK(shown > 1000);
}

TEST(the_axe_of_1_4_leads_to_2_1) {
  const auto cartridge = european();
  if (cartridge == nullptr) {
    return;
  }
  Play play(cartridge, {1, 4});
  play.follow(kClear14);
  CHECK(play.episode.events.clear);
  CHECK_EQ(play.signals().mode, ram::kWorldEnd);
  CHECK(play.until(0, 3000, [&] { return play.episode.events.level_changed; }));
  CHECK_EQ(play.signals().world, 2);
  CHECK_EQ(play.signals().stage, 1);
  CHECK(!play.episode.events.warp && !play.dead());
  CHECK_EQ(play.episode.clears, 1);
}

TEST(the_warp_zone_of_1_2_is_a_warp_and_no_clear) {
  const auto cartridge = european();
  if (cartridge == nullptr) {
    return;
  }
  Play play(cartridge, {1, 2});
  play.follow(kWarp12);
  CHECK(play.episode.events.warp);
  CHECK(play.episode.events.level_changed);
  CHECK(!play.episode.events.clear && !play.dead());
  CHECK(play.signals().world > 1);
  CHECK(play.until(0, 600, [&] { return in_control(play.console.ram()); }));
  CHECK_EQ(play.signals().stage, 1);
}
