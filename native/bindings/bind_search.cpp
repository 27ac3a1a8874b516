/// Search for solutions of a level, and the replay that proves them.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "mario/signals.hpp"
#include "search/search.hpp"

namespace warpzone::bindings {
namespace nb = nanobind;
using namespace nb::literals;

namespace {

constexpr std::size_t kMegabyte = std::size_t{1} << 20;
// What a trace records per frame: area, x, y, whether the place counts, whether Mario obeys,
// whether a maze checks the path here.
constexpr std::size_t kTraceColumns = 6;

const char* ending_name(search::Ending ending) {
  switch (ending) {
    case search::Ending::kNextLevel:
      return "next-level";
    case search::Ending::kPrincess:
      return "princess";
    case search::Ending::kWarp:
      return "warp";
    case search::Ending::kDeath:
      return "death";
    case search::Ending::kUnfinished:
      break;
  }
  return "unfinished";
}

nb::bytes bytes_of(const std::vector<std::uint8_t>& data) {
  return nb::bytes(reinterpret_cast<const char*>(data.data()), data.size());
}

search::Task make_task(const std::string& game_name, const std::string& level, int frame_skip) {
  const mario::Game game = game_named(game_name);
  return {game, mario::parse_level(level, game), frame_skip};
}

/// A search that only one thread uses at a time; others wait.
struct SharedSearch {
  SharedSearch(std::shared_ptr<const nes::Cartridge> cartridge, const search::Options& options)
      : search(std::move(cartridge), options) {}

  /// Whole rounds until time, frames, or the first solution end it. Returns true when it is done.
  bool run(double seconds, std::int64_t most_frames, bool improve) {
    using Clock = std::chrono::steady_clock;
    const nb::gil_scoped_release release;
    const std::scoped_lock lock(mutex);
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    const auto done = [&] {
      return search.counts().frames >= most_frames || (search.solution() && !improve);
    };
    while (!done() && Clock::now() < end) search.run_round();
    return done();
  }

  nb::dict progress() {
    const std::scoped_lock lock(mutex);
    const search::Archive& archive = search.archive();
    nb::dict counts;
    counts["rounds"] = search.counts().rounds;
    counts["frames"] = search.counts().frames;
    counts["refuted"] = search.counts().refuted;
    counts["cells"] = archive.size();
    counts["forgotten"] = archive.forgotten();
    counts["memory"] = archive.memory();
    counts["memory_limit"] = archive.memory_limit();
    counts["solution_frames"] =
        search.solution() ? nb::cast(search.solution()->result.frames) : nb::none();
    return counts;
  }

  search::Search search;
  std::mutex mutex;
};

struct Replayed {
  search::ReplayResult result;
  std::vector<std::int32_t> trace;
  std::vector<std::vector<std::uint8_t>> states;
};

void note(const std::uint8_t* ram, std::vector<std::int32_t>& trace) {
  const mario::Place place = mario::decode_place(ram);
  trace.insert(trace.end(),
               {place.area, place.x, place.y, place.counts ? 1 : 0, mario::in_control(ram) ? 1 : 0,
                ram[mario::ram::kLoopCommand] != 0 ? 1 : 0});
}

Replayed play(const nb::bytes& image, const std::string& game, const std::string& level,
              int frame_skip, const nb::bytes& inputs, bool trace,
              const std::vector<std::int32_t>& states_at) {
  const search::Task task = make_task(game, level, frame_skip);
  if (frame_skip < 1) throw std::invalid_argument("frame_skip must be at least 1");
  const auto cartridge = nes::Cartridge::parse(span_of(image));
  const auto given = span_of(inputs);
  const std::vector<std::uint8_t> steps(given.begin(), given.end());
  Replayed replayed;
  const nb::gil_scoped_release release;
  nes::Console console(cartridge);
  replayed.result =
      search::replay(console, task, steps, [&](nes::Console& now, std::int32_t frame) {
        if (trace) note(now.ram(), replayed.trace);
        if (std::find(states_at.begin(), states_at.end(), frame) != states_at.end()) {
          replayed.states.push_back(now.save());
        }
      });
  return replayed;
}

OwnedArray<std::int32_t> trace_of(const Replayed& replayed) {
  return array_of(replayed.trace.data(), {replayed.trace.size() / kTraceColumns, kTraceColumns});
}

void bind_way_replay(nb::module_& module) {
  nb::class_<Replayed>(module, "Replay", "What came of playing inputs from power-on.")
      .def_prop_ro(
          "ending", [](const Replayed& r) { return ending_name(r.result.ending); },
          "'next-level', 'princess', 'warp', 'death' or 'unfinished'.")
      .def_prop_ro(
          "frames", [](const Replayed& r) { return r.result.frames; },
          "From the start of the level to the flag, the axe or the warp; else 0.")
      .def_prop_ro("end_level",
                   [](const Replayed& r) { return mario::level_name(r.result.end_level); })
      .def_prop_ro(
          "ending_frames", [](const Replayed& r) { return r.result.ending_frames; },
          "From the start of the level to the moment that decides the ending.")
      .def_prop_ro("area_changes", [](const Replayed& r) { return r.result.area_changes; })
      .def_prop_ro("trace", &trace_of, nb::rv_policy::automatic,
                   "A row for the start and for every frame: area, x, y, counts, obeys, in a maze.")
      .def_prop_ro("states", [](const Replayed& r) {
        nb::list states;
        for (const auto& state : r.states) states.append(bytes_of(state));
        return states;
      });
  module.def("replay", &play, "image"_a, "game"_a, "level"_a, "frame_skip"_a, "inputs"_a,
             "trace"_a = false, "states_at"_a = std::vector<std::int32_t>{},
             "Begins a level from power-on, plays inputs (one controller byte per step), then "
             "none until the game has gone somewhere. `states_at` lists frames to save.");
}

}  // namespace

void bind_search(nb::module_& module) {
  bind_way_replay(module);
  nb::class_<SharedSearch>(module, "Search", "Looks for inputs that clear a level.")
      .def(
          "__init__",
          [](SharedSearch* self, const nb::bytes& image, const std::string& game,
             const std::string& level, int frame_skip, const std::vector<std::uint8_t>& actions,
             bool warps, std::uint64_t seed, int threads, std::size_t memory) {
            search::Options options;
            options.task = make_task(game, level, frame_skip);
            options.buttons = actions;
            options.warps = warps;
            options.seed = seed;
            options.threads = threads;
            options.memory_limit = memory * kMegabyte;
            new (self) SharedSearch(nes::Cartridge::parse(span_of(image)), options);
          },
          "image"_a, "game"_a, "level"_a, "frame_skip"_a = 4,
          "actions"_a = std::vector<std::uint8_t>{}, "warps"_a = false, "seed"_a = 0,
          "threads"_a = 1, "memory"_a = 256)
      .def("run", &SharedSearch::run, "seconds"_a,
           "most_frames"_a = std::numeric_limits<std::int64_t>::max(), "improve"_a = false,
           "Goes on for about so long, in whole rounds. Returns True when the frames are spent or, "
           "unless it shall improve, a solution is found.")
      .def("progress", &SharedSearch::progress, "How far it has come.")
      .def_prop_ro(
          "solution",
          [](SharedSearch& self) -> std::optional<nb::bytes> {
            const std::scoped_lock lock(self.mutex);
            if (!self.search.solution()) return std::nullopt;
            return bytes_of(self.search.solution()->inputs);
          },
          "The inputs of the best solution so far, one controller byte per step, or None.");
}

}  // namespace warpzone::bindings
