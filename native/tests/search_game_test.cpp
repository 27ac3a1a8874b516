/// Searches the real game.
#include <cstring>
#include <string>

#include "check.hpp"
#include "mario_support.hpp"
#include "search/search.hpp"

using namespace warpzone;
using namespace warpzone::search;

namespace {

Options options_for(int world, int stage, std::uint64_t seed = 0, int skip = 4) {
  Options options;
  options.task.level = {world, stage};
  options.task.skip = skip;
  options.seed = seed;
  return options;
}

void run_until_found(Search& search) {
  while (!search.solution() && search.counts().frames < 3'000'000) search.run_round();
}

}  // namespace

TEST(a_way_is_found_and_a_replay_on_another_console_agrees) {
  const auto cartridge = mario::game_cartridge();
  if (!cartridge) return;
  for (const int skip : {1, 4}) {
    Search search(cartridge, options_for(1, 4, 0, skip));
    run_until_found(search);
    CHECK(search.solution().has_value());
    if (!search.solution()) continue;
    nes::Console console(cartridge);
    const ReplayResult result = replay(console, search.options().task, search.solution()->inputs);
    CHECK_EQ(result.ending, Ending::kNextLevel);
    CHECK_EQ(result.frames, search.solution()->result.frames);
    CHECK(result.end_level == (mario::Level{2, 1}));
    CHECK_EQ(search.counts().refuted, 0);
  }
}

TEST(the_result_does_not_depend_on_the_number_of_threads) {
  const auto cartridge = mario::game_cartridge();
  if (!cartridge) return;
  std::optional<Solution> alone;
  Counts counts;
  for (const int threads : {1, 2, 5}) {
    Options options = options_for(1, 1, 7);
    options.threads = threads;
    Search search(cartridge, options);
    run_until_found(search);
    for (int i = 0; i < 20; ++i) search.run_round();  // Improving is part of it.
    CHECK(search.solution().has_value());
    if (!search.solution()) return;
    if (!alone) {
      alone = search.solution();
      counts = search.counts();
    }
    CHECK(search.solution()->inputs == alone->inputs);
    CHECK_EQ(search.counts().frames, counts.frames);
    CHECK_EQ(search.counts().rounds, counts.rounds);
  }
}

TEST(improving_never_makes_a_way_longer) {
  const auto cartridge = mario::game_cartridge();
  if (!cartridge) return;
  Search search(cartridge, options_for(1, 1));
  run_until_found(search);
  if (!search.solution()) return;
  const std::int32_t first = search.solution()->result.frames;
  std::int32_t before = first;
  for (int i = 0; i < 150; ++i) {
    search.run_round();
    CHECK(search.solution()->result.frames <= before);
    before = search.solution()->result.frames;
  }
  CHECK(before < first);
}

TEST(a_small_archive_stays_within_its_bound_and_still_finds_a_way) {
  const auto cartridge = mario::game_cartridge();
  if (!cartridge) return;
  Options options = options_for(2, 1);
  options.memory_limit = std::size_t{8} << 20;
  Search search(cartridge, options);
  while (!search.solution() && search.counts().frames < 3'000'000) {
    search.run_round();
    CHECK(search.archive().memory() <= options.memory_limit);
  }
  CHECK(search.solution().has_value());
}

TEST(inputs_that_do_not_clear_are_told_so) {
  const auto cartridge = mario::game_cartridge();
  if (!cartridge) return;
  nes::Console console(cartridge);
  const Task task{mario::Game::kSuperMarioBros, {1, 1}, 1};
  const std::vector<std::uint8_t> running(400, nes::button::kRight | nes::button::kB);
  CHECK_EQ(replay(console, task, running).ending, Ending::kDeath);
  const std::vector<std::uint8_t> waiting(10, 0);
  const ReplayResult idle = replay(console, task, waiting);
  CHECK_EQ(idle.ending, Ending::kUnfinished);
  CHECK_EQ(idle.frames, 0);
  CHECK(!idle.clears());
}

TEST(a_packed_state_brings_back_the_whole_machine) {
  const auto cartridge = mario::game_cartridge();
  if (!cartridge) return;
  nes::Console console(cartridge), other(cartridge);
  mario::start_level(console, mario::Game::kSuperMarioBros, {2, 2});
  const PackedState state(console);
  CHECK(state.size() < sizeof(nes::MachineState) / 2);
  auto scratch = std::make_unique<nes::MachineState>();
  mario::start_level(other, mario::Game::kSuperMarioBros, {5, 1});
  state.restore(other, *scratch);
  for (int i = 0; i < 300; ++i) {
    const auto buttons = static_cast<std::uint8_t>(i / 20 % 2 == 0 ? 0x81 : 0x02);
    console.run_frame(buttons, false);
    other.run_frame(buttons, false);
  }
  CHECK(console.save() == other.save());
}

TEST(options_out_of_range_are_refused) {
  const auto cartridge = mario::game_cartridge();
  if (!cartridge) return;
  Options options = options_for(1, 1);
  options.task.skip = 0;
  CHECK_THROWS(Search(cartridge, options), std::invalid_argument);
  options = options_for(1, 1);
  options.threads = 0;
  CHECK_THROWS(Search(cartridge, options), std::invalid_argument);
  options = options_for(1, 1);
  options.memory_limit = 1000;
  CHECK_THROWS(Search(cartridge, options), std::invalid_argument);
  CHECK_THROWS(Search(cartridge, options_for(9, 1)), std::invalid_argument);
}
