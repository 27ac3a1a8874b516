#include "vector/pool.hpp"

#include <algorithm>
#include <chrono>

#include "mario/tiles.hpp"

namespace warpzone {

Pool::Pool(std::shared_ptr<const nes::Cartridge> cartridge, mario::Game game,
           const EnvConfig& config, int lanes, int threads)
    : context_(std::move(cartridge), game, config),
      workers_(std::clamp(threads, 1, std::max(lanes, 1))) {
  if (lanes < 1) {
    throw std::invalid_argument("num_envs is " + std::to_string(lanes) + "; it must be at least 1");
  }
  for (int i = 0; i < lanes; ++i) lanes_.push_back(std::make_unique<Lane>(context_, i));
}

Lane& Pool::lane(int index) {
  if (index < 0 || index >= size()) {
    throw std::out_of_range("env " + std::to_string(index) + " does not exist; there are " +
                            std::to_string(size()));
  }
  return *lanes_[static_cast<std::size_t>(index)];
}

void Pool::set_level(int index, const std::string& level) {
  lane(index).set_task(parse_task(level, context_.game));
}

InfoSlot InfoBatch::slot(int lane, int lanes) const {
  const auto i = static_cast<std::size_t>(lane);
  InfoSlot slot;
  slot.numbers = numbers + i;
  slot.flags = flags + i;
  slot.stride = lanes;
  slot.terms = terms + i * mario::kTermCount;
  slot.enemies = enemies + i * mario::ram::kEnemySlots * kEnemyNumbers;
  return slot;
}

LaneOutput Pool::output_of(int lane, const BatchOutput& out) const {
  const auto i = static_cast<std::size_t>(lane);
  const std::size_t obs = settings().obs_size();
  LaneOutput slot;
  slot.obs = out.obs + i * obs;
  slot.reward = out.reward + i;
  slot.terminated = out.terminated + i;
  slot.truncated = out.truncated + i;
  if (out.final_obs != nullptr) slot.final_obs = out.final_obs + i * obs;
  if (out.features != nullptr) slot.features = out.features + i * mario::kFeatureCount;
  if (out.final_features != nullptr) {
    slot.final_features = out.final_features + i * mario::kFeatureCount;
  }
  slot.info = out.info.slot(lane, size());
  if (out.final_info.numbers != nullptr) slot.final_info = out.final_info.slot(lane, size());
  return slot;
}

template <typename Work>
void Pool::for_lanes(Work work) {
  const std::scoped_lock lock(mutex_);
  const auto began = std::chrono::steady_clock::now();
  // A lane that throws completes its slot with the error; the batch is always finished.
  std::vector<std::string> errors(lanes_.size());
  workers_.run(size(), [&](int index) {
    try {
      work(index);
    } catch (const std::exception& error) {
      errors[static_cast<std::size_t>(index)] = error.what();
    }
  });
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  std::string text;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    if (errors[i].empty()) continue;
    text += (text.empty() ? "env " : "; env ") + std::to_string(i) + ": " + errors[i];
  }
  if (!text.empty()) throw LaneError(text);
}

void Pool::reset(std::span<const std::optional<std::uint64_t>> seeds,
                 std::span<const std::uint8_t> mask, const BatchOutput& out) {
  for_lanes([&](int index) {
    const auto i = static_cast<std::size_t>(index);
    if (!mask.empty() && mask[i] == 0) return;
    if (i < seeds.size() && seeds[i]) lanes_[i]->seed(*seeds[i]);
    lanes_[i]->reset(output_of(index, out));
  });
}

void Pool::step(std::span<const std::int32_t> actions, const BatchOutput& out) {
  for_lanes([&](int index) {
    const auto i = static_cast<std::size_t>(index);
    lanes_[i]->step(actions[i], output_of(index, out));
  });
}

void Pool::for_each_lane(const std::function<void(int, Lane&)>& work) {
  for_lanes([&](int index) { work(index, *lanes_[static_cast<std::size_t>(index)]); });
}

void Pool::observe(std::span<const int> lanes, const BatchOutput& out) {
  const std::scoped_lock lock(mutex_);
  for (const int index : lanes) lane(index).observe(output_of(index, out));
}

}  // namespace warpzone
