#include "vector/async_steps.hpp"

#include <algorithm>
#include <cstring>

#include "mario/tiles.hpp"

namespace warpzone {
namespace {

constexpr std::size_t kEnemySize = mario::ram::kEnemySlots * kEnemyNumbers;

void copy_info(const InfoSlot& from, const InfoSlot& to) {
  for (std::ptrdiff_t i = 0; i < kInfoNumbers; ++i) {
    to.numbers[i * to.stride] = from.numbers[i * from.stride];
  }
  for (std::ptrdiff_t i = 0; i < kInfoFlags; ++i) {
    to.flags[i * to.stride] = from.flags[i * from.stride];
  }
  std::copy_n(from.terms, mario::kTermCount, to.terms);
  std::copy_n(from.enemies, kEnemySize, to.enemies);
}

}  // namespace

AsyncSteps::Finals::Finals(std::size_t lanes, const LaneSettings& settings)
    : obs(lanes * settings.obs_size()),
      features(settings.obs == ObsKind::kTiles ? lanes * mario::kFeatureCount : 0),
      flags(lanes * kInfoFlags),
      numbers(lanes * kInfoNumbers),
      enemies(lanes * kEnemySize),
      terms(lanes * mario::kTermCount) {}

BatchOutput AsyncSteps::Finals::batch() {
  BatchOutput out;
  out.final_obs = obs.data();
  if (!features.empty()) out.final_features = features.data();
  out.final_info = {numbers.data(), flags.data(), terms.data(), enemies.data()};
  return out;
}

AsyncSteps::AsyncSteps(std::span<const std::unique_ptr<Lane>> lanes, const LaneSettings& settings,
                       int threads)
    : lanes_(lanes),
      settings_(settings),
      slots_(lanes.size()),
      queue_(threads, [this](int lane) { play(lane); }) {
  if (settings.autoreset == Autoreset::kSameStep) finals_.emplace(lanes.size(), settings);
}

void AsyncSteps::require_none_in_flight() const {
  if (in_flight_ == 0) return;
  throw InFlightError(std::to_string(in_flight_) + (in_flight_ == 1 ? " env is" : " envs are") +
                      " in flight after send; call recv until none is, and try again");
}

void AsyncSteps::require_not_in_flight(int lane) const {
  if (!slots_[static_cast<std::size_t>(lane)].in_flight) return;
  throw InFlightError("env " + std::to_string(lane) + " is in flight after send; receive it first");
}

void AsyncSteps::check_lanes(std::span<const int> lanes) const {
  std::vector<bool> seen(slots_.size());
  for (const int lane : lanes) {
    if (lane < 0 || static_cast<std::size_t>(lane) >= slots_.size()) {
      throw std::invalid_argument("env " + std::to_string(lane) + " does not exist; there are " +
                                  std::to_string(slots_.size()) + ", counted from 0");
    }
    require_not_in_flight(lane);
    if (seen[static_cast<std::size_t>(lane)]) {
      throw std::invalid_argument("env " + std::to_string(lane) +
                                  " is in env_ids twice; send each env once");
    }
    seen[static_cast<std::size_t>(lane)] = true;
  }
}

void AsyncSteps::send(std::span<const int> lanes, std::span<const std::int32_t> actions) {
  check_lanes(lanes);
  for (std::size_t i = 0; i < lanes.size(); ++i) slot(lanes[i]).action = actions[i];
  launch(lanes);
}

void AsyncSteps::send_reset(std::span<const int> lanes,
                            std::span<const std::optional<std::uint64_t>> seeds) {
  check_lanes(lanes);
  for (const int lane : lanes) {
    const auto i = static_cast<std::size_t>(lane);
    if (i < seeds.size() && seeds[i]) lanes_[i]->seed(*seeds[i]);
    slots_[i].action = kReset;
  }
  launch(lanes);
}

void AsyncSteps::launch(std::span<const int> lanes) {
  queue_.add(lanes);
  for (const int lane : lanes) slot(lane).in_flight = true;
  in_flight_ += static_cast<int>(lanes.size());
}

LaneOutput AsyncSteps::output_of(int lane) {
  LaneOutput out;
  if (finals_) {
    const BatchOutput finals = finals_->batch();
    const auto i = static_cast<std::size_t>(lane);
    out.final_obs = finals.final_obs + i * settings_.obs_size();
    if (finals.final_features != nullptr) {
      out.final_features = finals.final_features + i * mario::kFeatureCount;
    }
    out.final_info = finals.final_info.slot(lane, static_cast<int>(slots_.size()));
  }
  Slot& result = slot(lane);
  out.reward = &result.reward;
  out.terminated = &result.terminated;
  out.truncated = &result.truncated;
  return out;
}

void AsyncSteps::play(int lane) {
  Slot& result = slot(lane);
  Lane& played = *lanes_[static_cast<std::size_t>(lane)];
  try {
    if (result.action == kReset) {
      played.reset(output_of(lane));
    } else {
      played.step(result.action, output_of(lane));
    }
  } catch (const std::exception& error) {
    result.error = error.what();
  }
}

std::vector<int> AsyncSteps::recv(int count, const BatchOutput& out) {
  if (count < 1 || count > in_flight_) {
    throw std::invalid_argument("recv is asked for " + std::to_string(count) + " envs, but " +
                                std::to_string(in_flight_) +
                                " are in flight; send actions first, or ask for fewer");
  }
  const auto wanted = static_cast<std::size_t>(count);
  if (ready_.size() < wanted) {
    const std::vector<int> done = queue_.wait(wanted - ready_.size());
    ready_.insert(ready_.end(), done.begin(), done.end());
  }
  drop_failed();
  const std::vector<int> received(ready_.begin(), ready_.begin() + count);
  ready_.erase(ready_.begin(), ready_.begin() + count);
  for (int row = 0; row < count; ++row) {
    const int lane = received[static_cast<std::size_t>(row)];
    write_row(lane, row, count, out);
    slot(lane).in_flight = false;
  }
  in_flight_ -= count;
  return received;
}

void AsyncSteps::drop_failed() {
  const auto has_failed = [&](int lane) { return !slot(lane).error.empty(); };
  if (std::none_of(ready_.begin(), ready_.end(), has_failed)) return;
  std::vector<std::string> errors(slots_.size());
  std::erase_if(ready_, [&](int lane) {
    if (!has_failed(lane)) return false;
    Slot& failed = slot(lane);
    std::swap(errors[static_cast<std::size_t>(lane)], failed.error);
    failed.in_flight = false;
    --in_flight_;
    return true;
  });
  throw_errors(errors);
}

void AsyncSteps::write_row(int lane, int row, int rows, const BatchOutput& out) {
  const LaneOutput to = row_of(out, row, rows, settings_);
  const LaneOutput from = output_of(lane);
  *to.reward = *from.reward;
  *to.terminated = *from.terminated;
  *to.truncated = *from.truncated;
  lanes_[static_cast<std::size_t>(lane)]->observe(to);
  if (!finals_ || (*from.terminated | *from.truncated) == 0) return;
  std::memcpy(to.final_obs, from.final_obs, settings_.obs_size());
  if (to.final_features != nullptr) {
    std::memcpy(to.final_features, from.final_features, mario::kFeatureCount);
  }
  copy_info(from.final_info, to.final_info);
}

}  // namespace warpzone
