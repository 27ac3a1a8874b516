/// Game knowledge as single pieces: what the readable Python environment is made of.
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <string>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/ram_view.hpp"
#include "mario/classic.hpp"
#include "mario/game_random.hpp"
#include "mario/levels.hpp"
#include "mario/signals.hpp"
#include "mario/tiles.hpp"
#include "mario/tracker.hpp"
#include "vector/config.hpp"
#include "vector/image.hpp"
#include "vector/info.hpp"
#include "vector/lane_state.hpp"

namespace warpzone::bindings {
namespace nb = nanobind;
using namespace nb::literals;
using nes::Console;

mario::Game game_named(const std::string& name) {
  if (name == "smb") return mario::Game::kSuperMarioBros;
  if (name == "lost-levels") return mario::Game::kLostLevels;
  throw std::invalid_argument("game is '" + name + "'; it must be 'smb' or 'lost-levels'");
}

namespace {

using Ram = nb::ndarray<const std::uint8_t, nb::shape<2048>, nb::c_contig, nb::device::cpu>;

void start(Console& console, const std::string& game_name, const std::string& level, int power,
           bool halfway, bool announced) {
  const mario::Game game = game_named(game_name);
  const Task task = parse_task(level, game);
  if (task.whole_game) {
    mario::start_game(console, game);
  } else {
    mario::start_level(console, game, task.level, {power, halfway, announced});
  }
}

/// What is written to RAM before START to begin a level.
nb::dict level_numbers(const std::string& game_name, const std::string& level_name) {
  const mario::Game game = game_named(game_name);
  const mario::Level level = mario::parse_level(level_name, game);
  nb::dict result;
  result["world"] = level.world - 1;
  result["stage"] = level.stage - 1;
  result["area"] = mario::area_number(game, level);
  result["halfway_page"] = mario::halfway_page(game, level);
  return result;
}

std::vector<std::string> level_names(const std::string& game) {
  std::vector<std::string> names;
  for (const mario::Level& level : mario::all_levels(game_named(game))) {
    names.push_back(mario::level_name(level));
  }
  return names;
}

/// Calls `write` with room for one game's info.
template <typename Write>
nb::dict info_of(Write write) {
  std::array<std::int32_t, kInfoNumbers> numbers{};
  std::array<std::uint8_t, kInfoFlags> flags{};
  std::array<float, mario::kTermCount> terms{};
  std::vector<std::int32_t> enemies(mario::ram::kEnemySlots * kEnemyNumbers);
  write(InfoSlot{numbers.data(), flags.data(), 1, terms.data(), enemies.data()});
  nb::dict result;
  std::size_t index = 0;
#define WARPZONE_PUT(name, expression, help) result[#name] = numbers[index++];
  WARPZONE_INFO_NUMBERS(WARPZONE_PUT)
#undef WARPZONE_PUT
  index = 0;
#define WARPZONE_PUT(name, expression, help) result[#name] = flags[index++] != 0;
  WARPZONE_INFO_FLAGS(WARPZONE_PUT)
#undef WARPZONE_PUT
  result["reward_terms"] = array_of(terms.data(), {mario::kTermCount});
  result["enemies"] = array_of(enemies.data(), {mario::ram::kEnemySlots, kEnemyNumbers});
  return result;
}

/// Planes of the whole screen, one per channel.
template <std::size_t Count>
std::vector<std::uint8_t> planes_of(const ImageWriter& image, const Console& console,
                                    const std::array<nes::Channel, Count>& channels) {
  constexpr std::size_t kPixels = nes::kScreenHeight * nes::kScreenWidth;
  std::vector<std::uint8_t> planes(kPixels * Count);
  for (std::size_t i = 0; i < Count; ++i) {
    image.read_plane(console, channels[i], planes.data() + i * kPixels);
  }
  return planes;
}

OwnedArray<std::uint8_t> grey_of(const ImageWriter& image, const Console& console) {
  const auto planes = planes_of<1>(image, console, {nes::Channel::kGrey});
  return array_of(planes.data(), {nes::kScreenHeight, nes::kScreenWidth});
}

OwnedArray<std::uint8_t> rgb_of(const ImageWriter& image, const Console& console) {
  const auto planes =
      planes_of<3>(image, console, {nes::Channel::kRed, nes::Channel::kGreen, nes::Channel::kBlue});
  return array_of(planes.data(), {3, nes::kScreenHeight, nes::kScreenWidth});
}

}  // namespace

void bind_game(nb::module_& module) {
  module.def("start", &start, "console"_a, "game"_a, "level"_a, "power"_a = 0, "halfway"_a = false,
             "announced"_a = false,
             "Switches the console on and begins a level ('1-1') or the whole game ('game').");
  module.def(
      "check",
      [](const EnvConfig& config, const std::string& game) {
        check_config(config, game_named(game));
      },
      "config"_a, "game"_a, "Raises ConfigError for values that are not allowed.");
  module.def(
      "stack_of",
      [](const EnvConfig& config, const std::string& game) {
        return check_config(config, game_named(game)).stack;
      },
      "config"_a, "game"_a, "Frames in one observation.");
  module.def(
      "console_state",
      [](const nb::bytes& blob) {
        const auto part = console_part(span_of(blob));
        return nb::bytes(reinterpret_cast<const char*>(part.data()), part.size());
      },
      "blob"_a, "The machine's part of a save state, whether a lane or a console made it.");
  module.attr("RANDOM_REGISTERS") = mario::kRandomRegisters;
  module.attr("LEAD_FRAMES") = mario::kLeadFrames;
  module.def(
      "random_register",
      [](std::uint32_t number) {
        const auto bytes = mario::random_register(number);
        return nb::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      },
      "number"_a, "A state of the game's random number generator, as RAM holds it from 0x7A7 on.");
  module.def("level_numbers", &level_numbers, "game"_a, "level"_a,
             "World, stage and area as RAM has them, and the halfway page (0 without one).");
  module.def("level_names", &level_names, "game"_a, "All levels of a game, in order.");
  module.def(
      "classic_end_reason",
      [](RamView ram) { return static_cast<int>(mario::classic_end_reason(ram.data)); }, "ram"_a,
      "Whether and why gym-super-mario-bros ends a single-level episode here, as a number of "
      "END_REASONS.");
  module.def(
      "classic_flag_get", [](RamView ram) { return mario::classic_flag_get(ram.data); }, "ram"_a,
      "What gym-super-mario-bros reports as flag_get.");
  module.def("classic_skip_scripted", &mario::classic_skip_scripted, "console"_a,
             "Runs on to the next moment in which Mario obeys, as gym-super-mario-bros does.");
  module.def(
      "tiles",
      [](RamView ram) {
        std::array<std::uint8_t, mario::kTileBytes> out{};
        mario::write_tiles(ram.data, out.data());
        return array_of(out.data(), {mario::kTilePlanes, mario::kTileRows, mario::kTileColumns});
      },
      "ram"_a, "The tile grid around Mario: planes, rows, columns.");
  module.def(
      "features",
      [](RamView ram, std::uint8_t buttons) {
        std::array<std::uint8_t, mario::kFeatureCount> out{};
        mario::write_features(ram.data, buttons, out.data());
        return array_of(out.data(), {mario::kFeatureCount});
      },
      "ram"_a, "buttons"_a, "What the tile grid is too coarse for.");
  module.def("feature_name", &mario::feature_name, "index"_a);

  std::vector<std::string> terms(mario::kTermNames.begin(), mario::kTermNames.end());
  module.attr("REWARD_TERMS") = nb::tuple(nb::cast(terms));
  module.attr("TILES_SHAPE") =
      nb::make_tuple(mario::kTilePlanes, mario::kTileRows, mario::kTileColumns);
  module.attr("FEATURE_COUNT") = mario::kFeatureCount;
  module.attr("ENEMY_SHAPE") = nb::make_tuple(mario::ram::kEnemySlots, kEnemyNumbers);
  nb::dict numbers, flags;
#define WARPZONE_HELP(name, expression, help) numbers[#name] = help;
  WARPZONE_INFO_NUMBERS(WARPZONE_HELP)
#undef WARPZONE_HELP
#define WARPZONE_HELP(name, expression, help) flags[#name] = help;
  WARPZONE_INFO_FLAGS(WARPZONE_HELP)
#undef WARPZONE_HELP
  module.attr("INFO_NUMBERS") = numbers;
  module.attr("INFO_FLAGS") = flags;
  nb::dict reasons;
#define WARPZONE_HELP(name, help) reasons[#name] = help;
  WARPZONE_END_REASONS(WARPZONE_HELP)
#undef WARPZONE_HELP
  module.attr("END_REASONS") = reasons;

  nb::class_<mario::Tracker>(module, "Tracker", "Follows one game: progress, events, reward terms.")
      .def(nb::init<>())
      .def(
          "reset",
          [](mario::Tracker& self, RamView ram, const std::string& game) {
            self.reset(ram.data, nullptr, mario::last_level_of(game_named(game)));
          },
          "ram"_a, "game"_a, "An episode begins here.")
      .def("begin_step", &mario::Tracker::begin_step,
           "An agent step begins: events are those of this step from here on.")
      .def(
          "frame", [](mario::Tracker& self, RamView ram) { self.frame(ram.data, nullptr); },
          "ram"_a, "One emulated frame has passed.")
      .def(
          "finish_step",
          [](mario::Tracker& self, RamView ram, const mario::RewardWeights& weights,
             std::int64_t run_step) {
            const mario::RewardTerms terms = self.finish_step(ram.data, weights, run_step);
            return std::vector<double>(terms.values.begin(), terms.values.end());
          },
          "ram"_a, "weights"_a, "run_step"_a, "Pays the terms of an agent step.")
      .def("finish_classic_step", &mario::Tracker::finish_classic_step)
      .def(
          "info",
          [](const mario::Tracker& self, RamView ram) {
            return info_of([&](const InfoSlot& out) { write_info(ram.data, self, out); });
          },
          "ram"_a, "Everything known about the moment.")
      .def(
          "classic_info",
          [](const mario::Tracker& self, RamView ram, bool flag_get) {
            return info_of(
                [&](const InfoSlot& out) { write_classic_info(ram.data, self, flag_get, out); });
          },
          "ram"_a, "flag_get"_a,
          "The same as gym-super-mario-bros reports it, of a copy of the RAM.");

  nb::class_<ImageWriter>(module, "ImageWriter", "Turns screens into the images of observations.")
      .def(
          "__init__",
          [](ImageWriter* self, const EnvConfig& config, const std::string& game) {
            const LaneSettings settings = check_config(config, game_named(game));
            new (self) ImageWriter(settings.height, settings.width, settings.hud);
          },
          "config"_a, "game"_a)
      .def_prop_ro("height", &ImageWriter::height)
      .def_prop_ro("width", &ImageWriter::width)
      .def("grey", &grey_of, "console"_a,
           "Brightness of the whole screen, 240 x 256; a masked status bar is black.")
      .def("rgb", &rgb_of, "console"_a, "The same in color, 3 x 240 x 256.")
      .def(
          "resize",
          [](const ImageWriter& self,
             nb::ndarray<const std::uint8_t, nb::shape<240, 256>, nb::c_contig, nb::device::cpu>
                 plane) {
            std::vector<std::uint8_t> out(self.size());
            self.resize(plane.data(), out.data());
            return array_of(out.data(), {self.height(), self.width()});
          },
          "plane"_a, "Crops a plane of the whole screen and resizes it by area.");
}

}  // namespace warpzone::bindings
