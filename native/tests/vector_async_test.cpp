// Lanes in flight: the same play as in step, whoever is done first. Needs the game.
#include <map>
#include <numeric>
#include <vector>

#include "check.hpp"
#include "mario/tiles.hpp"
#include "mario_support.hpp"
#include "vector/pool.hpp"

namespace {

using namespace warpzone;

constexpr int kLanes = 6, kSteps = 40;

EnvConfig tile_config(const std::string& autoreset) {
  EnvConfig config;
  config.level = {"1-1", "2-2", "1-4"};
  config.obs = "tiles";
  config.autoreset = autoreset;
  config.max_steps = 9;
  config.sticky_prob = 0.25;
  return config;
}

/// Memory for a batch of some rows.
struct Rows {
  Rows(const Pool& pool, int count)
      : obs(pool.settings().obs_size() * static_cast<std::size_t>(count)),
        features(static_cast<std::size_t>(count) * mario::kFeatureCount),
        reward(static_cast<std::size_t>(count)),
        ends(2 * reward.size()),
        numbers(reward.size() * kInfoNumbers),
        flags(reward.size() * kInfoFlags),
        terms(reward.size() * mario::kTermCount),
        enemies(reward.size() * mario::ram::kEnemySlots * kEnemyNumbers) {}

  InfoBatch info() { return {numbers.data(), flags.data(), terms.data(), enemies.data()}; }

  std::vector<std::uint8_t> obs, features;
  std::vector<float> reward;
  std::vector<std::uint8_t> ends;
  std::vector<std::int32_t> numbers;
  std::vector<std::uint8_t> flags;
  std::vector<float> terms;
  std::vector<std::int32_t> enemies;
};

struct Arrays {
  Arrays(const Pool& pool, int count) : now(pool, count), last(pool, count), rows(count) {}

  BatchOutput out() {
    BatchOutput out;
    out.obs = now.obs.data();
    out.features = now.features.data();
    out.reward = now.reward.data();
    out.terminated = now.ends.data();
    out.truncated = now.ends.data() + rows;
    out.info = now.info();
    out.final_obs = last.obs.data();
    out.final_features = last.features.data();
    out.final_info = last.info();
    return out;
  }

  /// What a row says, as numbers that can be compared.
  std::vector<double> row(int row, const Pool& pool) const {
    const auto i = static_cast<std::size_t>(row), count = static_cast<std::size_t>(rows);
    std::vector<double> all{now.reward[i], double(now.ends[i]), double(now.ends[i + count])};
    const std::size_t size = pool.settings().obs_size();
    const auto add = [&](const Rows& of) {
      all.insert(all.end(), of.obs.begin() + static_cast<std::ptrdiff_t>(i * size),
                 of.obs.begin() + static_cast<std::ptrdiff_t>((i + 1) * size));
      for (std::size_t k = 0; k < kInfoNumbers; ++k) all.push_back(of.numbers[k * count + i]);
      for (std::size_t k = 0; k < kInfoFlags; ++k) all.push_back(of.flags[k * count + i]);
    };
    add(now);
    if (now.ends[i] + now.ends[i + count] > 0) add(last);
    return all;
  }

  Rows now, last;
  int rows;
};

int action_of(int lane, int step) { return (lane * 7 + step * 3 + step / 5) % 7; }

using Histories = std::vector<std::vector<std::vector<double>>>;  // [lane][step]

Histories stepped(const std::shared_ptr<const nes::Cartridge>& cartridge, const EnvConfig& config) {
  Pool pool(cartridge, mario::Game::kSuperMarioBros, config, kLanes, 1);
  Arrays arrays(pool, kLanes);
  pool.reset({}, {}, arrays.out());
  Histories histories(kLanes);
  for (int step = 0; step < kSteps; ++step) {
    std::vector<std::int32_t> actions;
    for (int lane = 0; lane < kLanes; ++lane) actions.push_back(action_of(lane, step));
    pool.step(actions, arrays.out());
    for (int lane = 0; lane < kLanes; ++lane) {
      histories[static_cast<std::size_t>(lane)].push_back(arrays.row(lane, pool));
    }
  }
  return histories;
}

Histories sent(const std::shared_ptr<const nes::Cartridge>& cartridge, const EnvConfig& config,
               int threads, int batch) {
  Pool pool(cartridge, mario::Game::kSuperMarioBros, config, kLanes, threads);
  std::vector<int> all(kLanes);
  std::iota(all.begin(), all.end(), 0);
  pool.send_reset(all, {});
  Histories histories(kLanes);
  std::vector<int> taken(kLanes, -1);
  while (pool.in_flight() > 0) {
    Arrays arrays(pool, std::min(batch, pool.in_flight()));
    const std::vector<int> done = pool.recv(arrays.rows, arrays.out());
    std::vector<int> again;
    std::vector<std::int32_t> actions;
    for (int row = 0; row < arrays.rows; ++row) {
      const int lane = done[static_cast<std::size_t>(row)];
      const int step = ++taken[static_cast<std::size_t>(lane)];
      if (step > 0) histories[static_cast<std::size_t>(lane)].push_back(arrays.row(row, pool));
      if (step == kSteps) continue;
      again.push_back(lane);
      actions.push_back(action_of(lane, step));
    }
    pool.send(again, actions);
  }
  return histories;
}

TEST(lanes_in_flight_play_as_in_step_for_any_threads_and_batch) {
  const auto cartridge = mario::game_cartridge();
  if (!cartridge) return;
  for (const char* autoreset : {"same-step", "next-step"}) {
    const EnvConfig config = tile_config(autoreset);
    const Histories expected = stepped(cartridge, config);
    for (const auto& [threads, batch] : {std::pair{1, 6}, {1, 2}, {2, 3}, {3, 1}, {4, 4}}) {
      CHECK(sent(cartridge, config, threads, batch) == expected);
    }
  }
}

TEST(a_lane_in_flight_is_refused_to_everyone_else) {
  const auto cartridge = mario::game_cartridge();
  if (!cartridge) return;
  Pool pool(cartridge, mario::Game::kSuperMarioBros, tile_config("next-step"), kLanes, 2);
  Arrays arrays(pool, kLanes);
  pool.send_reset(std::vector<int>{1, 2}, {});
  CHECK_THROWS(pool.reset({}, {}, arrays.out()), InFlightError);
  CHECK_THROWS(pool.step(std::vector<std::int32_t>(kLanes), arrays.out()), InFlightError);
  CHECK_THROWS(pool.for_each_lane([](int, Lane&) {}), InFlightError);
  CHECK_THROWS(pool.hold(), InFlightError);
  CHECK_THROWS(pool.hold(2), InFlightError);
  CHECK(pool.hold(3).owns_lock());
  CHECK_THROWS(pool.send(std::vector<int>{0, 1}, std::vector<std::int32_t>{0, 0}), InFlightError);
  CHECK_EQ(pool.in_flight(), 2);
  Arrays two(pool, 2);
  CHECK_EQ(pool.recv(2, two.out()).size(), 2);
  pool.reset({}, {}, arrays.out());
}

TEST(a_failed_lane_is_named_and_the_others_arrive) {
  const auto cartridge = mario::game_cartridge();
  if (!cartridge) return;
  Pool pool(cartridge, mario::Game::kSuperMarioBros, tile_config("disabled"), kLanes, 2);
  Arrays one(pool, 1), three(pool, 3);
  pool.send_reset(std::vector<int>{0, 2}, {});
  pool.recv(1, one.out());
  pool.recv(1, one.out());
  pool.send(std::vector<int>{0, 1, 2}, std::vector<std::int32_t>{1, 1, 1});
  try {
    pool.recv(3, three.out());
    CHECK(false);
  } catch (const LaneError& error) {
    CHECK(std::string(error.what()).starts_with("env 1: "));
  }
  CHECK_EQ(pool.in_flight(), 2);
  CHECK(pool.recv(1, one.out()) != pool.recv(1, three.out()));
  CHECK_EQ(pool.in_flight(), 0);
}

TEST(a_pool_may_end_with_lanes_in_flight) {
  const auto cartridge = mario::game_cartridge();
  if (!cartridge) return;
  for (int threads = 1; threads <= 4; ++threads) {
    Pool pool(cartridge, mario::Game::kSuperMarioBros, tile_config("same-step"), kLanes, threads);
    pool.send_reset(std::vector<int>{0, 1, 2, 3, 4, 5}, {});
  }
}

}  // namespace
