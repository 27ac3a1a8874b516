// Whole rollouts in a pool's threads: the same for any number of them, with prepared starts and
// snapshots. Needs the game.
#include <cmath>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "mario_support.hpp"
#include "policy/rollout_player.hpp"
#include "policy_support.hpp"

namespace {

using namespace warpzone;
using namespace warpzone::policy;

constexpr int kLanes = 6, kSteps = 60, kActions = 7;

EnvConfig tile_config() {
  EnvConfig config;
  config.level = {"1-1", "2-2", "1-4"};
  config.obs = "tiles";
  config.autoreset = "same-step";
  config.max_steps = 25;
  config.sticky_prob = 0.25;
  return config;
}

std::shared_ptr<Network> made_up_network() {
  const auto layout = made_up_layout();
  auto network =
      std::make_shared<Network>(layout, NetworkShape{48, 24, kActions}, kernels_named("auto"));
  const auto inputs = static_cast<std::size_t>(layout->inputs());
  const std::vector<float> weights = random_floats(48 * inputs, 1);
  const LayerView first{weights.data(), static_cast<std::int64_t>(inputs), 1, weights.data()};
  const LayerView second{weights.data(), 48, 1, weights.data()};
  const std::vector<float> small(24 * kActions, 0.01F);
  const LayerView head{small.data(), 24, 1, small.data()};
  network->set_weights(first, second, head, head);
  return network;
}

/// Everything that a rollout writes.
struct Rollout {
  std::vector<std::int64_t> actions;
  std::vector<float> log_probs, values, final_values, rewards;
  std::vector<std::uint8_t> terminated, truncated, first;
  std::vector<std::int32_t> progress, stagnation;
  std::vector<Index> active;
  std::vector<std::uint64_t> random;

  explicit Rollout(const ActiveLayout& layout)
      : actions(kSteps * kLanes),
        log_probs(actions.size()),
        values(actions.size() + kLanes),
        final_values(actions.size()),
        rewards(actions.size()),
        terminated(actions.size()),
        truncated(actions.size()),
        first(values.size()),
        progress(actions.size()),
        stagnation(actions.size()),
        active(values.size() * layout.capacity()),
        random(kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) random[lane] = 1000 + lane;
  }
  bool operator==(const Rollout&) const = default;

  RolloutArrays arrays() {
    RolloutArrays out;
    out.steps = kSteps;
    out.actions = actions.data();
    out.log_probs = log_probs.data();
    out.values = values.data();
    out.final_values = final_values.data();
    out.rewards = rewards.data();
    out.terminated = terminated.data();
    out.truncated = truncated.data();
    out.first = first.data();
    out.progress = progress.data();
    out.stagnation = stagnation.data();
    out.active = active.data();
    out.random = random.data();
    return out;
  }
};

/// Arrays that a reset writes into and nobody looks at.
struct Discarded {
  std::vector<std::uint8_t> bytes;
  std::vector<float> floats;
  std::vector<std::int32_t> numbers;

  BatchOutput output(const Pool& pool) {
    const std::size_t most = pool.settings().obs_size() * kLanes;
    bytes.resize(6 * most);
    floats.resize(100 * kLanes);
    numbers.resize(200 * kLanes);
    BatchOutput out;
    out.obs = bytes.data();
    out.features = bytes.data() + most;
    out.final_obs = bytes.data() + 2 * most;
    out.final_features = bytes.data() + 3 * most;
    out.info.flags = bytes.data() + 4 * most;
    out.terminated = bytes.data() + 5 * most;
    out.truncated = bytes.data() + 5 * most + kLanes;
    out.reward = floats.data();
    out.info.terms = floats.data() + kLanes;
    out.info.numbers = numbers.data();
    out.info.enemies = numbers.data() + 100 * kLanes;
    out.final_info = out.info;
    return out;
  }
};

void reset(Pool& pool) {
  std::vector<std::optional<std::uint64_t>> seeds;
  for (std::uint64_t lane = 0; lane < kLanes; ++lane) seeds.push_back(lane);
  Discarded discarded;
  pool.reset(seeds, {}, discarded.output(pool));
}

TEST(a_rollout_does_not_depend_on_the_number_of_threads) {
  const auto cartridge = mario::game_cartridge();
  if (!cartridge) return;
  const auto network = made_up_network();
  std::vector<Rollout> rollouts;
  std::vector<std::size_t> snapshots;
  for (const int threads : {1, 2, 4}) {
    Pool pool(cartridge, mario::Game::kSuperMarioBros, tile_config(), kLanes, threads);
    reset(pool);
    RolloutPlayer player(pool, network);
    player.rules().spacing = 32;
    for (int lane = 0; lane < kLanes; ++lane) {
      EpisodeStart start;
      start.id = lane;
      start.task = pool.task_named("1-2");
      start.step_limit = 10;
      player.starts(lane).push(start);
    }
    Rollout rollout(network->layout());
    player.play(rollout.arrays());
    CHECK_EQ(player.ends().size() >= kLanes * 2, true);
    CHECK_EQ(player.ends()[0].start, kOwnStart);
    CHECK_EQ(player.ends().back().lane < kLanes, true);
    snapshots.push_back(player.snapshots().size());
    player.play(rollout.arrays());  // From where the first one ended.
    rollouts.push_back(rollout);
  }
  CHECK(rollouts[0] == rollouts[1]);
  CHECK(rollouts[0] == rollouts[2]);
  CHECK(snapshots[0] > 0);
  CHECK_EQ(snapshots[0], snapshots[1]);
  CHECK_EQ(snapshots[0], snapshots[2]);
}

TEST(episodes_begin_at_queued_starts) {
  const auto cartridge = mario::game_cartridge();
  if (!cartridge) return;
  Pool pool(cartridge, mario::Game::kSuperMarioBros, tile_config(), kLanes, 2);
  reset(pool);
  RolloutPlayer player(pool, made_up_network());
  EpisodeStart start;
  start.id = 5;
  start.task = pool.task_named("8-4");
  start.step_limit = 3;
  player.starts(0).push(start);
  Rollout rollout(player.network().layout());
  player.play(rollout.arrays());
  std::vector<std::int64_t> ids;
  for (const EpisodeEnd& end : player.ends()) {
    if (end.lane != 0) continue;
    ids.push_back(end.start);
    if (end.start != 5) continue;
    CHECK_EQ(end.level, std::string("8-4"));
    CHECK(end.numbers[static_cast<std::size_t>(InfoNumber::steps)] == 3);
  }
  CHECK(ids.size() >= 2);
  CHECK_EQ(ids[0], kOwnStart);
  CHECK_EQ(ids[1], 5);
}

TEST(a_damaged_start_state_fails_in_its_lane_alone) {
  const auto cartridge = mario::game_cartridge();
  if (!cartridge) return;
  Pool pool(cartridge, mario::Game::kSuperMarioBros, tile_config(), kLanes, 2);
  reset(pool);
  RolloutPlayer player(pool, made_up_network());
  EpisodeStart start;
  start.task = pool.task_named("1-1");
  start.state = {1, 2, 3};
  player.starts(4).push(start);
  Rollout rollout(player.network().layout());
  try {
    player.play(rollout.arrays());
    CHECK(false);
  } catch (const LaneError& error) {
    const std::string text = error.what();
    CHECK(text.find("4: ") != std::string::npos);
    CHECK(text.find("3: ") == std::string::npos);
  }
  player.play(rollout.arrays());  // The pool stays usable.
}

TEST(environments_that_do_not_fit_are_refused) {
  const auto cartridge = mario::game_cartridge();
  if (!cartridge) return;
  const auto refused = [&](auto change) {
    EnvConfig config = tile_config();
    change(config);
    Pool pool(cartridge, mario::Game::kSuperMarioBros, config, 1, 1);
    CHECK_THROWS(RolloutPlayer(pool, made_up_network()), std::invalid_argument);
  };
  refused([](EnvConfig& config) { config.obs = "pixels"; });
  refused([](EnvConfig& config) { config.autoreset = "disabled"; });
  refused([](EnvConfig& config) { config.stack = 3; });
  refused([](EnvConfig& config) { config.actions.pop_back(); });
}

}  // namespace
