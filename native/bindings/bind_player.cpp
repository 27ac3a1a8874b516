/// The network that acts natively, and the player that fills rollouts with it.
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/caller_arrays.hpp"
#include "mario/tiles.hpp"
#include "policy/network.hpp"
#include "policy/rollout_player.hpp"

namespace warpzone::bindings {
namespace nb = nanobind;
using namespace nb::literals;
using policy::ActiveLayout;
using policy::EpisodeEnd;
using policy::Index;
using policy::LayerView;
using policy::Network;
using policy::RolloutArrays;
using policy::RolloutPlayer;
using policy::Snapshot;

namespace {

/// Weights, [outputs, inputs], in any order in memory, and their bias.
using Weight = nb::ndarray<const float, nb::ndim<2>, nb::device::cpu>;
using Bias = CallerArray<const float>;

LayerView view_of(const Weight& weight, const Bias& bias, int outputs, int inputs,
                  const char* name) {
  if (weight.shape(0) != static_cast<std::size_t>(outputs) ||
      weight.shape(1) != static_cast<std::size_t>(inputs) || bias.size() != weight.shape(0)) {
    throw std::invalid_argument(std::string(name) + " is " + std::to_string(weight.shape(0)) +
                                " x " + std::to_string(weight.shape(1)) + " with " +
                                std::to_string(bias.size()) + " biases; it must be " +
                                std::to_string(outputs) + " x " + std::to_string(inputs));
  }
  return {weight.data(), weight.stride(0), weight.stride(1), bias.data()};
}

void set_weights(Network& network, const Weight& first, const Bias& first_bias,
                 const Weight& second, const Bias& second_bias, const Weight& policy,
                 const Bias& policy_bias, const Weight& value, const Bias& value_bias) {
  const policy::NetworkShape& shape = network.shape();
  const LayerView views[] = {
      view_of(first, first_bias, shape.hidden, network.layout().inputs(), "first"),
      view_of(second, second_bias, shape.size, shape.hidden, "second"),
      view_of(policy, policy_bias, shape.actions, shape.size, "policy"),
      view_of(value, value_bias, 1, shape.size, "value")};
  const nb::gil_scoped_release release;
  network.set_weights(views[0], views[1], views[2], views[3]);
}

void decide(const Network& network, const CallerArray<const Index>& rows,
            const CallerArray<float>& logits, const CallerArray<float>& values) {
  const ActiveLayout& layout = network.layout();
  const std::size_t count = values.size();
  const auto actions = static_cast<std::size_t>(network.shape().actions);
  const Index* row = checked_data(rows, count * layout.capacity(), "rows");
  float* logit = checked_data(logits, count * actions, "logits");
  const nb::gil_scoped_release release;
  const auto weights = network.hold();
  policy::Decider decider(network);
  for (std::size_t i = 0; i < count; ++i, row += layout.capacity()) {
    if (!layout.is_sound(row)) {
      throw std::invalid_argument("the active inputs of sample " + std::to_string(i) +
                                  " are damaged");
    }
    decider.decide(row);
    std::copy_n(decider.logits().begin(), actions, logit + i * actions);
    values.data()[i] = decider.value();
  }
}

/// Arrays that were checked once and are kept alive.
struct Rollout {
  RolloutArrays out;
  nb::object keep;
};

using OptionalBytes = std::optional<CallerArray<std::uint8_t>>;
using OptionalActions = std::optional<CallerArray<const std::int16_t>>;

Rollout make_rollout(RolloutPlayer& player, int steps, const CallerArray<std::int64_t>& actions,
                     const CallerArray<float>& log_probs, const CallerArray<float>& values,
                     const CallerArray<float>& final_values, const CallerArray<float>& rewards,
                     const CallerArray<std::uint8_t>& terminated,
                     const CallerArray<std::uint8_t>& truncated,
                     const CallerArray<std::uint8_t>& first,
                     const CallerArray<std::int32_t>& progress,
                     const CallerArray<std::int32_t>& stagnation, const CallerArray<Index>& active,
                     const CallerArray<std::uint64_t>& random, const OptionalBytes& grids,
                     const OptionalBytes& features, const OptionalActions& forced) {
  if (steps < 1) throw std::invalid_argument("a rollout has at least one step");
  const auto lanes = static_cast<std::size_t>(player.lanes());
  const std::size_t all = static_cast<std::size_t>(steps) * lanes, more = all + lanes;
  const ActiveLayout& layout = player.network().layout();
  Rollout rollout;
  RolloutArrays& out = rollout.out;
  out.steps = steps;
  out.actions = checked_data(actions, all, "actions");
  out.log_probs = checked_data(log_probs, all, "log_probs");
  out.values = checked_data(values, more, "values");
  out.final_values = checked_data(final_values, all, "final_values");
  out.rewards = checked_data(rewards, all, "rewards");
  out.terminated = checked_data(terminated, all, "terminated");
  out.truncated = checked_data(truncated, all, "truncated");
  out.first = checked_data(first, more, "first");
  out.progress = checked_data(progress, all, "progress");
  out.stagnation = checked_data(stagnation, all, "stagnation");
  out.active = checked_data(active, more * layout.capacity(), "active");
  out.random = checked_data(random, lanes, "random");
  if (grids) out.grids = checked_data(*grids, more * layout.grid_bytes(), "grids");
  if (features) out.features = checked_data(*features, more * layout.feature_count(), "features");
  if (forced) out.forced = checked_data(*forced, all, "forced");
  rollout.keep =
      nb::make_tuple(actions, log_probs, values, final_values, rewards, terminated, truncated,
                     first, progress, stagnation, active, random, grids, features, forced);
  return rollout;
}

void push_start(RolloutPlayer& player, int env, std::int64_t id, const std::string& level,
                const std::optional<nb::bytes>& state, bool idle,
                std::shared_ptr<mario::Route> route, std::int64_t step_limit) {
  if (id < 0) throw std::invalid_argument("the id of a start must not be negative");
  if (step_limit < 0) throw std::invalid_argument("step_limit must not be negative");
  policy::EpisodeStart start;
  start.id = id;
  start.task = player.pool().task_named(level);
  if (state) {
    const std::span<const std::uint8_t> bytes = span_of(*state);
    start.state.assign(bytes.begin(), bytes.end());
  }
  start.idle = idle;
  start.route = std::move(route);
  start.step_limit = step_limit;
  const auto hold = player.pool().hold();
  player.starts(env).push(std::move(start));
}

/// Records of all episodes that ended, one array for each kind of number.
nb::dict ends_of(RolloutPlayer& player) {
  const auto hold = player.pool().hold();
  const std::vector<EpisodeEnd> ends = player.ends();
  std::vector<std::int32_t> steps, envs, numbers;
  std::vector<std::int64_t> starts;
  std::vector<std::uint8_t> flags;
  std::vector<float> terms;
  nb::list levels;
  for (const EpisodeEnd& end : ends) {
    steps.push_back(end.step);
    envs.push_back(end.lane);
    starts.push_back(end.start);
    levels.append(end.level);
    numbers.insert(numbers.end(), end.numbers.begin(), end.numbers.end());
    flags.insert(flags.end(), end.flags.begin(), end.flags.end());
    terms.insert(terms.end(), end.terms.begin(), end.terms.end());
  }
  nb::dict result;
  result["step"] = array_of(steps.data(), {ends.size()});
  result["env"] = array_of(envs.data(), {ends.size()});
  result["start"] = array_of(starts.data(), {ends.size()});
  result["level"] = levels;
  result["numbers"] = array_of(numbers.data(), {ends.size(), kInfoNumbers});
  result["flags"] = array_of(flags.data(), {ends.size(), kInfoFlags});
  result["terms"] = array_of(terms.data(), {ends.size(), mario::kTermCount});
  return result;
}

nb::list snapshots_of(RolloutPlayer& player) {
  const auto hold = player.pool().hold();
  nb::list result;
  for (const Snapshot& snapshot : player.snapshots()) {
    nb::dict row;
    row["step"] = snapshot.step;
    row["env"] = snapshot.lane;
    row["cell"] = snapshot.cell;
    row["start"] = snapshot.start;
    row["level"] = snapshot.level;
    row["progress"] = snapshot.progress;
    row["state"] =
        nb::bytes(reinterpret_cast<const char*>(snapshot.state.data()), snapshot.state.size());
    result.append(row);
  }
  return result;
}

void bind_network(nb::module_& module) {
  nb::class_<Network>(module, "PolicyNetwork", "The tile network as it acts natively.")
      .def(nb::new_([](std::shared_ptr<ActiveLayout> layout, int hidden, int size, int actions,
                       const std::string& instructions) {
             return std::make_shared<Network>(std::move(layout),
                                              policy::NetworkShape{hidden, size, actions},
                                              policy::kernels_named(instructions));
           }),
           "layout"_a, "hidden"_a, "size"_a, "actions"_a, "instructions"_a = "auto")
      .def_prop_ro("instructions", [](const Network& self) { return self.kernels().name; })
      .def("set_weights", &set_weights, "first"_a.noconvert(), "first_bias"_a.noconvert(),
           "second"_a.noconvert(), "second_bias"_a.noconvert(), "policy"_a.noconvert(),
           "policy_bias"_a.noconvert(), "value"_a.noconvert(), "value_bias"_a.noconvert(),
           "Copies weights, [outputs, inputs] as PyTorch has them, and biases.")
      .def("decide", &decide, "rows"_a.noconvert(), "logits"_a.noconvert(), "values"_a.noconvert(),
           "Logits, [B, actions], and values, [B], for lists.");
}

}  // namespace

void bind_player(nb::module_& module) {
  bind_network(module);
  nb::class_<Rollout>(module, "RolloutArrays", "The arrays of a rollout, checked and kept.");
  nb::class_<RolloutPlayer>(module, "RolloutPlayer", "Plays whole rollouts in a pool's threads.")
      .def(
          "__init__",
          [](RolloutPlayer* self, Pool& pool, std::shared_ptr<Network> network) {
            const auto hold = pool.hold();
            new (self) RolloutPlayer(pool, std::move(network));
          },
          "pool"_a, "network"_a, nb::keep_alive<1, 2>())
      // A converted array would be a copy, and the caller's own would stay as it is.
      .def("arrays", &make_rollout, "steps"_a, "actions"_a.noconvert(), "log_probs"_a.noconvert(),
           "values"_a.noconvert(), "final_values"_a.noconvert(), "rewards"_a.noconvert(),
           "terminated"_a.noconvert(), "truncated"_a.noconvert(), "first"_a.noconvert(),
           "progress"_a.noconvert(), "stagnation"_a.noconvert(), "active"_a.noconvert(),
           "random"_a.noconvert(), "grids"_a.noconvert().none() = nb::none(),
           "features"_a.noconvert().none() = nb::none(), "forced"_a.noconvert().none() = nb::none(),
           "Checks arrays once, for many rollouts.")
      .def(
          "play",
          [](RolloutPlayer& self, const Rollout& rollout) {
            const nb::gil_scoped_release release;
            self.play(rollout.out);
          },
          "arrays"_a, "Plays a rollout from the present moment of every environment.")
      .def("ends", &ends_of,
           "How episodes of the last rollout ended, by step, then by environment.")
      .def("snapshots", &snapshots_of, "Places entered in the last rollout, in the same order.")
      .def(
          "seconds",
          [](RolloutPlayer& self) {
            const auto hold = self.pool().hold();
            const policy::PlayTimes times = self.times();
            return std::pair(times.acting, times.total);
          },
          "(acting, total) of the last rollout, added up over threads.")
      .def("push_start", &push_start, "env"_a, "id"_a, "level"_a, "state"_a.none() = nb::none(),
           "idle"_a = true, "route"_a.none() = nb::none(), "step_limit"_a = 0,
           "Queues a start for one of the environment's next episodes.")
      .def(
          "waiting_starts",
          [](RolloutPlayer& self, int env) {
            const auto hold = self.pool().hold();
            return self.starts(env).waiting();
          },
          "env"_a, "Ids of the starts that were not used yet, the next one first.")
      .def(
          "present_start",
          [](RolloutPlayer& self, int env) {
            const auto hold = self.pool().hold();
            return std::pair(self.starts(env).present(), self.starts(env).level());
          },
          "env"_a, "(id, level) of the present episode; the id is -1 for the level's own start.")
      .def(
          "set_present_start",
          [](RolloutPlayer& self, int env, std::int64_t id, const std::string& level) {
            const auto hold = self.pool().hold();
            self.starts(env).set_present(id, level);
          },
          "env"_a, "id"_a, "level"_a, "For a lane that was loaded in the middle of an episode.")
      .def(
          "cell",
          [](RolloutPlayer& self, int env) {
            const auto hold = self.pool().hold();
            return self.recorder(env).cell();
          },
          "env"_a, "The last cell that the present episode entered; -1 before the first.")
      .def(
          "set_cell",
          [](RolloutPlayer& self, int env, std::int64_t cell) {
            const auto hold = self.pool().hold();
            self.recorder(env).set_cell(cell);
          },
          "env"_a, "cell"_a)
      .def(
          "set_snapshot_spacing",
          [](RolloutPlayer& self, int pixels) {
            if (pixels < 0) throw std::invalid_argument("spacing must not be negative");
            const auto hold = self.pool().hold();
            self.rules().spacing = pixels;
          },
          "pixels"_a, "Length of a cell; 0 takes no snapshots.")
      .def(
          "set_known_cells",
          [](RolloutPlayer& self, const std::string& level,
             const CallerArray<const std::int64_t>& cells) {
            const auto hold = self.pool().hold();
            self.rules().set_known(level, {cells.data(), cells.data() + cells.size()});
          },
          "level"_a, "cells"_a, "Cells of a level that need no snapshot; replaces former ones.");
}

}  // namespace warpzone::bindings
