/// The pool of lanes, and the arrays that it writes into.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/caller_arrays.hpp"
#include "bindings/screen.hpp"
#include "mario/tiles.hpp"
#include "vector/pool.hpp"

namespace warpzone::bindings {
namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <typename Value>
using Array = CallerArray<Value>;

[[noreturn]] void refuse(const std::string& text) { throw std::invalid_argument(text); }

/// Waypoints far outside every level would overflow the distances between them.
constexpr std::int32_t kFarthest = 1 << 20;

/// Arrays that were checked once and are kept alive.
struct Batch {
  BatchOutput out;
  int rows = 0;
  nb::object keep;
};

/// Arrays of infos as Python hands them over.
using InfoTuple =
    std::tuple<Array<std::int32_t>, Array<std::uint8_t>, Array<float>, Array<std::int32_t>>;

InfoBatch info_batch(const InfoTuple& arrays, std::size_t lanes, const std::string& name) {
  const auto& [numbers, flags, terms, enemies] = arrays;
  InfoBatch info;
  info.numbers = checked_data(numbers, lanes * kInfoNumbers, name + " numbers");
  info.flags = checked_data(flags, lanes * kInfoFlags, name + " flags");
  info.terms = checked_data(terms, lanes * mario::kTermCount, name + " terms");
  info.enemies =
      checked_data(enemies, lanes * mario::ram::kEnemySlots * kEnemyNumbers, name + " enemies");
  return info;
}

Batch make_batch(const Pool& pool, int rows, Array<std::uint8_t> obs,
                 std::optional<Array<std::uint8_t>> features, Array<float> reward,
                 Array<std::uint8_t> terminated, Array<std::uint8_t> truncated, InfoTuple info,
                 std::optional<Array<std::uint8_t>> final_obs,
                 std::optional<Array<std::uint8_t>> final_features,
                 std::optional<InfoTuple> final_info) {
  if (rows < 1 || rows > pool.size()) refuse("a batch has 1 to num_envs rows");
  const auto lanes = static_cast<std::size_t>(rows);
  const std::size_t obs_size = lanes * pool.settings().obs_size();
  const std::size_t feature_size = lanes * mario::kFeatureCount;
  const bool tiles = pool.settings().obs == ObsKind::kTiles;
  const bool same_step = pool.settings().autoreset == Autoreset::kSameStep;
  if (tiles && !features) refuse("features are missing: obs is 'tiles'");
  if (same_step && !final_obs) refuse("final_obs is missing: autoreset is 'same-step'");
  if (same_step && !final_info) refuse("final_info is missing: autoreset is 'same-step'");
  if (tiles && same_step && !final_features) refuse("final_features are missing");
  Batch batch;
  batch.rows = rows;
  batch.out.obs = checked_data(obs, obs_size, "obs");
  if (features) batch.out.features = checked_data(*features, feature_size, "features");
  batch.out.reward = checked_data(reward, lanes, "reward");
  batch.out.terminated = checked_data(terminated, lanes, "terminated");
  batch.out.truncated = checked_data(truncated, lanes, "truncated");
  batch.out.info = info_batch(info, lanes, "info");
  if (final_obs) batch.out.final_obs = checked_data(*final_obs, obs_size, "final_obs");
  if (final_features) {
    batch.out.final_features = checked_data(*final_features, feature_size, "final_features");
  }
  if (final_info) batch.out.final_info = info_batch(*final_info, lanes, "final_info");
  batch.keep = nb::make_tuple(obs, features, reward, terminated, truncated, info, final_obs,
                              final_features, final_info);
  return batch;
}

/// Those of a whole batch: reset, step and observe write one row per lane.
const BatchOutput& whole(const Pool& pool, const Batch& batch) {
  if (batch.rows != pool.size()) refuse("the batch must have one row per env");
  return batch.out;
}

/// Actions of these lanes, in this order; of all lanes without a list.
std::vector<std::int32_t> checked_actions(const Pool& pool,
                                          const Array<const std::int64_t>& actions,
                                          const std::vector<int>* lanes = nullptr) {
  const std::size_t count =
      lanes == nullptr ? static_cast<std::size_t>(pool.size()) : lanes->size();
  const std::int64_t* values = checked_data(actions, count, "actions");
  std::vector<std::int32_t> checked(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (values[i] < 0 || values[i] >= pool.action_count()) {
      const int lane = lanes == nullptr ? static_cast<int>(i) : (*lanes)[i];
      refuse("action " + std::to_string(values[i]) + " of env " + std::to_string(lane) +
             " does not exist; actions are 0 to " + std::to_string(pool.action_count() - 1));
    }
    checked[i] = static_cast<std::int32_t>(values[i]);
  }
  return checked;
}

void send(Pool& pool, const std::vector<int>& lanes, const Array<const std::int64_t>& actions) {
  const std::vector<std::int32_t> checked = checked_actions(pool, actions, &lanes);
  const nb::gil_scoped_release release;
  pool.send(lanes, checked);
}

void send_reset(Pool& pool, const std::vector<int>& lanes,
                const std::vector<std::optional<std::uint64_t>>& seeds) {
  const nb::gil_scoped_release release;
  pool.send_reset(lanes, seeds);
}

std::vector<int> recv(Pool& pool, const Batch& batch) {
  const nb::gil_scoped_release release;
  return pool.recv(batch.rows, batch.out);
}

void step(Pool& pool, const Array<const std::int64_t>& actions, const Batch& batch) {
  const BatchOutput& out = whole(pool, batch);
  const std::vector<std::int32_t> checked = checked_actions(pool, actions);
  const nb::gil_scoped_release release;
  pool.step(checked, out);
}

void reset(Pool& pool, const std::vector<std::optional<std::uint64_t>>& seeds,
           const std::optional<Array<const std::uint8_t>>& mask, const Batch& batch) {
  const BatchOutput& out = whole(pool, batch);
  std::span<const std::uint8_t> chosen;
  if (mask) {
    chosen = {checked_data(*mask, static_cast<std::size_t>(pool.size()), "mask"), mask->size()};
  }
  const nb::gil_scoped_release release;
  pool.reset(seeds, chosen, out);
}

OwnedArray<std::uint8_t> ram_of(Pool& pool) {
  constexpr std::size_t kRam = 2048;
  const auto hold = pool.hold();
  std::vector<std::uint8_t> all(static_cast<std::size_t>(pool.size()) * kRam);
  for (int lane = 0; lane < pool.size(); ++lane) {
    std::copy_n(pool.lane(lane).console().ram(), kRam,
                all.data() + static_cast<std::size_t>(lane) * kRam);
  }
  return array_of(all.data(), {static_cast<std::size_t>(pool.size()), kRam});
}

std::shared_ptr<mario::Route> make_route(const std::vector<std::vector<std::int32_t>>& numbers,
                                         std::int32_t x_tolerance, std::int32_t above,
                                         std::int32_t below, std::int32_t window) {
  std::vector<mario::Waypoint> points;
  for (const auto& point : numbers) {
    if (point.size() != 3) refuse("a waypoint is (area, x, y)");
    const auto near = [](std::int32_t v) { return v >= -kFarthest && v <= kFarthest; };
    if (point[0] < 0 || point[0] > 0xFFFF || !near(point[1]) || !near(point[2])) {
      refuse("waypoint (" + std::to_string(point[0]) + ", " + std::to_string(point[1]) + ", " +
             std::to_string(point[2]) + ") is not in any level");
    }
    points.push_back({static_cast<std::uint16_t>(point[0]), point[1], point[2]});
  }
  const mario::RouteOptions options{x_tolerance, above, below, window};
  return std::make_shared<mario::Route>(points, options);
}

OwnedArray<std::uint8_t> screen_of(Pool& pool, int lane) {
  const auto hold = pool.hold(lane);
  return rgb_screen(pool.lane(lane).drawn());
}

OwnedArray<std::uint8_t> numbers_of(Pool& pool, int lane, int shrink) {
  if (shrink < 1 || shrink > nes::kScreenHeight) {
    throw std::invalid_argument("shrink is " + std::to_string(shrink) + ", not 1 to " +
                                std::to_string(nes::kScreenHeight));
  }
  const auto hold = pool.hold(lane);
  return color_numbers(pool.lane(lane).drawn(), static_cast<std::size_t>(shrink));
}

}  // namespace

void bind_pool(nb::module_& module) {
  nb::class_<Batch>(module, "Batch", "The arrays of a batch, checked and kept.");

  nb::class_<mario::Route>(module, "Route", "Waypoints along which progress is measured.")
      .def(nb::new_(&make_route), "points"_a, "x_tolerance"_a = 16, "above"_a = 40, "below"_a = 40,
           "window"_a = 384);
  nb::class_<Pool>(module, "Pool", "Many games over a few threads.")
      .def(
          "__init__",
          [](Pool* self, const nb::bytes& image, const std::string& game, const EnvConfig& config,
             int lanes, int threads) {
            new (self) Pool(nes::Cartridge::parse(span_of(image), !config.exact), game_named(game),
                            config, lanes, threads);
          },
          "image"_a, "game"_a, "config"_a, "lanes"_a, "threads"_a)
      .def_prop_ro("size", &Pool::size)
      .def_prop_ro("threads", &Pool::threads)
      .def_prop_ro("seconds", &Pool::seconds, "Time spent inside reset, step and recv.")
      .def_prop_ro("height", [](const Pool& p) { return p.settings().height; })
      .def_prop_ro("width", [](const Pool& p) { return p.settings().width; })
      .def_prop_ro("stack", [](const Pool& p) { return p.settings().stack; })
      // A converted array would be a copy, and the caller's own would stay as it is.
      .def("batch", &make_batch, "rows"_a, "obs"_a.noconvert(), "features"_a.noconvert().none(),
           "reward"_a.noconvert(), "terminated"_a.noconvert(), "truncated"_a.noconvert(),
           "info"_a.noconvert(), "final_obs"_a.noconvert().none(),
           "final_features"_a.noconvert().none(), "final_info"_a.noconvert().none(),
           "Checks arrays once, for many steps. An info is a tuple of numbers, flags, terms and "
           "enemies.")
      .def("reset", &reset, "seeds"_a, "mask"_a.none(), "batch"_a)
      .def("step", &step, "actions"_a, "batch"_a)
      .def("send", &send, "lanes"_a, "actions"_a, "Begins steps of some lanes.")
      .def("send_reset", &send_reset, "lanes"_a, "seeds"_a, "Begins resets of some lanes.")
      .def("recv", &recv, "batch"_a,
           "Fills the batch with the lanes that are done first, and returns which they are.")
      .def_prop_ro("in_flight", &Pool::in_flight, "How many lanes `recv` can still return.")
      .def(
          "observe",
          [](Pool& self, const std::vector<int>& lanes, const Batch& batch) {
            self.observe(lanes, whole(self, batch));
          },
          "lanes"_a, "batch"_a, "Writes the present moment of some lanes.")
      .def("ram", &ram_of, "A copy of every lane's RAM.")
      .def("screen", &screen_of, "env"_a, "The screen of an environment, 240 x 256 x 3.")
      .def("color_numbers", &numbers_of, "env"_a, "shrink"_a = 1,
           "Color numbers of every shrink-th row and column of the screen; see color_table().")
      .def(
          "save",
          [](Pool& self, int lane) {
            const auto hold = self.hold(lane);
            const auto blob = self.lane(lane).save();
            return nb::bytes(reinterpret_cast<const char*>(blob.data()), blob.size());
          },
          "lane"_a)
      .def(
          "save_console",
          [](Pool& self, int lane) {
            const auto hold = self.hold(lane);
            const auto blob = self.lane(lane).console().save();
            return nb::bytes(reinterpret_cast<const char*>(blob.data()), blob.size());
          },
          "lane"_a)
      .def(
          "load",
          [](Pool& self, int lane, const nb::bytes& blob, bool keep_random) {
            const auto hold = self.hold(lane);
            self.lane(lane).load(span_of(blob), keep_random);
          },
          "lane"_a, "blob"_a, "keep_random"_a)
      .def(
          "set_level",
          [](Pool& self, int lane, const std::string& level) {
            const auto hold = self.hold(lane);
            self.set_level(lane, level);
          },
          "lane"_a, "level"_a)
      .def(
          "level",
          [](Pool& self, int lane) {
            const auto hold = self.hold(lane);
            return task_name(self.lane(lane).task());
          },
          "lane"_a)
      .def(
          "set_start_state",
          [](Pool& self, int lane, const nb::bytes& blob, bool idle) {
            const auto hold = self.hold(lane);
            self.lane(lane).set_start_state(span_of(blob), idle);
          },
          "lane"_a, "blob"_a, "idle"_a = true)
      .def(
          "set_route",
          [](Pool& self, int lane, std::shared_ptr<mario::Route> route) {
            const auto hold = self.hold(lane);
            self.lane(lane).set_route(std::move(route));
          },
          "lane"_a, "route"_a.none())
      .def(
          "set_step_limit",
          [](Pool& self, int lane, std::int64_t steps) {
            const auto hold = self.hold(lane);
            self.lane(lane).set_step_limit(steps);
          },
          "lane"_a, "steps"_a)
      .def(
          "set_weights",
          [](Pool& self, const mario::RewardWeights& weights) {
            const auto hold = self.hold();
            self.weights() = weights;
          },
          "weights"_a)
      .def("weights", [](Pool& self) {
        const auto hold = self.hold();
        return mario::RewardWeights(self.weights());
      });
  module.def("color_table", &colors_of_numbers, "Red, green and blue of every color number.");
}

}  // namespace warpzone::bindings
