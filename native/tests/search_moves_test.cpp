/// Random inputs and the cells they lead through, without the game.
#include <map>
#include <set>

#include "check.hpp"
#include "mario_support.hpp"
#include "search/cell.hpp"
#include "search/macros.hpp"

using namespace warpzone;
using namespace warpzone::search;
using namespace warpzone::nes::button;
namespace ram = warpzone::mario::ram;

namespace {

std::vector<std::uint8_t> play(const AllowedButtons& allowed, std::uint64_t seed, int skip,
                               bool swimming = false, int steps = 400) {
  Random random{seed};
  Macros macros(random, allowed, skip);
  std::vector<std::uint8_t> inputs;
  for (int i = 0; i < steps; ++i) inputs.push_back(macros.next(swimming));
  return inputs;
}

}  // namespace

TEST(the_same_seed_plays_the_same) {
  const AllowedButtons all({});
  CHECK(play(all, 3, 4) == play(all, 3, 4));
  CHECK(play(all, 3, 4) != play(all, 4, 4));
}

TEST(only_allowed_combinations_are_pressed) {
  const std::vector<std::uint8_t> set = {0, kRight, kRight | kA, kDown};
  const AllowedButtons allowed(set);
  std::map<std::uint8_t, int> pressed;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    for (const bool swimming : {false, true}) {
      for (const std::uint8_t buttons : play(allowed, seed, 4, swimming)) ++pressed[buttons];
    }
  }
  for (const auto& [buttons, times] : pressed) CHECK(allowed.contains(buttons));
  CHECK_EQ(pressed.size(), set.size());
}

TEST(start_and_select_are_never_pressed) {
  const AllowedButtons all({});
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    for (const std::uint8_t buttons : play(all, seed, 1)) {
      CHECK_EQ(buttons & (kStart | kSelect), 0);
    }
  }
}

TEST(most_play_runs_to_the_right_and_some_to_the_left) {
  const AllowedButtons all({});
  int right = 0, left = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    for (const std::uint8_t buttons : play(all, seed, 4)) {
      right += (buttons & kRight) != 0 ? 1 : 0;
      left += (buttons & kLeft) != 0 ? 1 : 0;
    }
  }
  CHECK(right > 2 * left);
  CHECK(left > 1000);
}

TEST(under_water_a_is_pressed_again_and_again) {
  const std::vector<std::uint8_t> set = {0, kA};
  const AllowedButtons allowed(set);
  const auto presses = [&](bool swimming) {
    int count = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto inputs = play(allowed, seed, 4, swimming);
      for (std::size_t i = 1; i < inputs.size(); ++i) {
        count += (inputs[i] & kA) != 0 && (inputs[i - 1] & kA) == 0 ? 1 : 0;
      }
    }
    return count;
  };
  CHECK(presses(true) > presses(false) * 3 / 2);
}

TEST(cells_tell_places_apart) {
  std::set<CellKey> keys;
  const auto note = [&](const mario::Memory& memory) {
    const auto key = cell_of(memory.data());
    CHECK(key.has_value());
    keys.insert(key.value_or(0));
  };
  note(mario::playing(40, 176));
  note(mario::playing(56, 176));
  note(mario::playing(40, 160));
  note(mario::playing(-3, 176));
  note(mario::playing(40, -20));
  for (const auto address : {ram::kAreaData, ram::kLoopCorrect, ram::kLoopPasses}) {
    mario::Memory memory = mario::playing(40, 176);
    ++memory[address];
    note(memory);
  }
  mario::Memory running = mario::playing(40, 176);
  running[ram::kXSpeed] = 40;
  note(running);
  CHECK_EQ(keys.size(), 9);
}

TEST(a_cell_is_sixteen_pixels_wide) {
  const auto cell = [](int x) { return *cell_of(mario::playing(x, 176).data()); };
  CHECK_EQ(cell(32), cell(47));
  CHECK(cell(47) != cell(48));
}

TEST(there_is_no_cell_where_nothing_can_be_done) {
  const auto without = [](ram::Address address, std::uint8_t value) {
    mario::Memory memory = mario::playing();
    memory[address] = value;
    return !cell_of(memory.data()).has_value();
  };
  CHECK(without(ram::kPlayerTask, ram::kTaskDying));
  CHECK(without(ram::kPlayerTask, ram::kTaskFlagpole));
  CHECK(without(ram::kPlayerTask, ram::kTaskVerticalPipe));
  CHECK(without(ram::kModeTask, 1));
  CHECK(without(ram::kY, 0xE0));
  mario::Memory diving = mario::playing(40, 0xE0);
  diving[ram::kSwimming] = 1;
  CHECK(cell_of(diving.data()).has_value());
}
