#include "vector/pool.hpp"

#include <algorithm>
#include <chrono>

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

std::unique_lock<std::mutex> Pool::hold() {
  std::unique_lock lock(mutex_);
  if (async_) async_->require_none_in_flight();
  return lock;
}

std::unique_lock<std::mutex> Pool::hold(int index) {
  lane(index);  // Throws for one that does not exist.
  std::unique_lock lock(mutex_);
  if (async_) async_->require_not_in_flight(index);
  return lock;
}

template <typename Work>
void Pool::for_lanes(Work work) {
  const auto lock = hold();
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
  throw_errors(errors);
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

AsyncSteps& Pool::async() {
  if (!async_) async_ = std::make_unique<AsyncSteps>(lanes_, settings(), threads());
  return *async_;
}

void Pool::send(std::span<const int> lanes, std::span<const std::int32_t> actions) {
  const std::scoped_lock lock(mutex_);
  async().send(lanes, actions);
}

void Pool::send_reset(std::span<const int> lanes,
                      std::span<const std::optional<std::uint64_t>> seeds) {
  const std::scoped_lock lock(mutex_);
  async().send_reset(lanes, seeds);
}

std::vector<int> Pool::recv(int count, const BatchOutput& out) {
  const std::scoped_lock lock(mutex_);
  const auto began = std::chrono::steady_clock::now();
  std::vector<int> received = async().recv(count, out);
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return received;
}

int Pool::in_flight() {
  const std::scoped_lock lock(mutex_);
  return async_ ? async_->in_flight() : 0;
}

void Pool::for_each_lane(const std::function<void(int, Lane&)>& work) {
  for_lanes([&](int index) { work(index, *lanes_[static_cast<std::size_t>(index)]); });
}

void Pool::observe(std::span<const int> lanes, const BatchOutput& out) {
  const auto lock = hold();
  for (const int index : lanes) lane(index).observe(output_of(index, out));
}

}  // namespace warpzone
