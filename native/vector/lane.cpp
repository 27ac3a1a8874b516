#include "vector/lane.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "mario/tiles.hpp"
#include "vector/lane_state.hpp"

namespace warpzone {
namespace {

constexpr int kScreenPixels = nes::kScreenWidth * nes::kScreenHeight;

}  // namespace

LaneContext::LaneContext(std::shared_ptr<const nes::Cartridge> cart, mario::Game which,
                         const EnvConfig& config)
    : cartridge(std::move(cart)),
      game(which),
      settings(check_config(config, which)),
      picture(settings.height, settings.width, settings.hud),
      starts(cartridge, which, config) {}

Lane::Lane(LaneContext& context, int index)
    : context_(context),
      console_(context.cartridge, context.settings.config.exact),
      task_(context.settings.tasks[static_cast<std::size_t>(index) %
                                   context.settings.tasks.size()]),
      plane_size_(context.settings.plane_size()),
      planes_(context.settings.obs_size()) {
  const std::string& blob = context.settings.config.start_state;
  if (!blob.empty()) {
    set_start_state({reinterpret_cast<const std::uint8_t*>(blob.data()), blob.size()});
  }
}

void Lane::set_task(const Task& task) { task_ = task; }

void Lane::set_start_state(std::span<const std::uint8_t> blob) {
  if (blob.empty()) {
    start_state_.reset();
    return;
  }
  nes::Console checked(context_.cartridge, context_.settings.config.exact);
  checked.load(console_part(blob));
  start_state_ = std::make_unique<nes::MachineState>();
  checked.snapshot(*start_state_);
}

void Lane::begin_episode() {
  const LaneSettings& settings = context_.settings;
  if (settings.random_task && settings.tasks.size() > 1) {
    task_ = settings.tasks[state_.random.below(static_cast<std::uint32_t>(settings.tasks.size()))];
  }
  if (start_state_) {
    console_.restore(*start_state_);
  } else {
    context_.starts.start(task_, console_);
  }
  if (settings.config.noop_max > 0) {
    const auto frames =
        state_.random.below(static_cast<std::uint32_t>(settings.config.noop_max) + 1);
    for (std::uint32_t i = 0; i < frames; ++i) console_.run_frame(0, false);
  }
  state_.buttons = 0;
  state_.ended = 0;
  classic_done_ = false;
  state_.tracker.reset(console_.ram(), route_.get());
  fill_stack();
}

void Lane::fill_stack() {
  // The machine has just been put somewhere: the picture there is drawn on a copy of time, so that
  // looking does not move the game.
  if (context_.settings.obs != ObsKind::kTiles) {
    auto here = std::make_unique<nes::MachineState>();
    console_.snapshot(*here);
    console_.run_frame(0, true);
    console_.restore(*here);
  }
  state_.newest = 0;
  take_picture();
  for (int i = 1; i < context_.settings.stack; ++i) std::memcpy(plane(i), plane(0), plane_size_);
}

void Lane::take_picture() {
  std::uint8_t* target = plane(state_.newest);
  switch (context_.settings.obs) {
    case ObsKind::kPixels: {
      std::uint8_t grey[kScreenPixels];
      context_.picture.read_grey(console_, grey);
      context_.picture.shrink_grey(grey, target);
      break;
    }
    case ObsKind::kRgb:
      context_.picture.write_rgb(console_, target, 3);
      break;
    case ObsKind::kTiles:
      mario::write_tiles(console_.ram(), target);
      break;
  }
}

void Lane::play_frames(std::uint8_t buttons) {
  const LaneSettings& settings = context_.settings;
  const int skip = settings.config.frame_skip;
  const bool draws = settings.obs != ObsKind::kTiles;
  const bool pools = settings.config.max_pool && settings.obs == ObsKind::kPixels && skip > 1;
  std::uint8_t before[kScreenPixels];
  for (int frame = 0; frame < skip; ++frame) {
    const double sticky = settings.config.sticky_prob;
    if (!(sticky > 0.0 && state_.random.uniform() < sticky)) state_.buttons = buttons;
    const bool last = frame == skip - 1;
    console_.run_frame(state_.buttons, draws && (last || (pools && frame == skip - 2)));
    if (classic_done_) continue;
    state_.tracker.frame(console_.ram(), route_.get());
    if (settings.classic) {
      classic_done_ = mario::classic_done(console_.ram());
      if (!classic_done_) mario::classic_skip_scripted(console_);
    }
    if (pools && frame == skip - 2) context_.picture.read_grey(console_, before);
  }
  state_.newest = static_cast<std::uint8_t>((state_.newest + 1) % settings.stack);
  if (pools) {
    std::uint8_t grey[kScreenPixels];
    context_.picture.read_grey(console_, grey);
    for (int i = 0; i < kScreenPixels; ++i) grey[i] = std::max(grey[i], before[i]);
    context_.picture.shrink_grey(grey, plane(state_.newest));
  } else {
    take_picture();
  }
}

bool Lane::ends_life() const {
  return context_.settings.config.one_life.value_or(!task_.whole_game);
}

bool Lane::ends_level() const {
  return context_.settings.config.one_level.value_or(!task_.whole_game);
}

bool Lane::terminated() const {
  const mario::Episode& episode = state_.tracker.episode;
  const bool last_castle = episode.level_cleared && episode.world == 7 && episode.stage == 3;
  if (context_.settings.classic && !task_.whole_game) return classic_done_;
  return episode.events.game_over || last_castle || (ends_life() && episode.events.death) ||
         (ends_level() && (episode.events.clear || episode.events.level_changed));
}

bool Lane::truncated() const {
  const EnvConfig& config = context_.settings.config;
  const mario::Tracker& tracker = state_.tracker;
  return (config.max_steps > 0 && tracker.steps >= config.max_steps) ||
         (config.stagnation_limit > 0 &&
          tracker.episode.stagnation() >= config.stagnation_limit * config.frame_skip);
}

void Lane::reset(const LaneOutput& out) {
  begin_episode();
  *out.reward = 0.0F;
  *out.terminated = *out.truncated = 0;
  observe(out);
}

void Lane::step(int action, const LaneOutput& out) {
  const LaneSettings& settings = context_.settings;
  if (state_.ended != 0) {
    if (settings.autoreset != Autoreset::kNextStep) {
      throw std::runtime_error("its episode has ended and autoreset is off: reset it first");
    }
    reset(out);
    return;
  }
  play_frames(settings.config.actions[static_cast<std::size_t>(action)]);
  double reward;
  if (settings.classic) {
    reward = state_.tracker.finish_classic_step();
  } else {
    reward = state_.tracker.finish_step(console_.ram(), context_.weights, state_.run_steps).total();
  }
  ++state_.run_steps;
  *out.reward = static_cast<float>(reward);
  *out.terminated = terminated();
  *out.truncated = *out.terminated == 0 && truncated();
  state_.ended = *out.terminated | *out.truncated;
  if (state_.ended != 0 && settings.autoreset == Autoreset::kSameStep) {
    // The observation is the new episode's first; info still tells how the old one ended.
    write_obs(out.final_obs, out.final_features);
    write_info(console_.ram(), state_.tracker, out.info);
    begin_episode();
    write_obs(out.obs, out.features);
    return;
  }
  observe(out);
}

void Lane::observe(const LaneOutput& out) {
  write_obs(out.obs, out.features);
  write_info(console_.ram(), state_.tracker, out.info);
}

void Lane::write_obs(std::uint8_t* obs, std::uint8_t* features) const {
  const int stack = context_.settings.stack;
  for (int i = 0; i < stack; ++i) {
    const std::uint8_t* from = plane((state_.newest + 1 + i) % stack);
    if (context_.settings.obs == ObsKind::kRgb && stack > 1) {
      for (std::size_t pixel = 0; pixel < plane_size_ / 3; ++pixel) {
        std::memcpy(obs + (pixel * static_cast<std::size_t>(stack) + static_cast<std::size_t>(i)) * 3,
                    from + pixel * 3, 3);
      }
    } else {
      std::memcpy(obs + static_cast<std::size_t>(i) * plane_size_, from, plane_size_);
    }
  }
  if (context_.settings.obs == ObsKind::kTiles) {
    mario::write_features(console_.ram(), state_.buttons, features);
  }
}

std::vector<std::uint8_t> Lane::save() const {
  const auto console = console_.save();
  return pack_lane_state(console, {reinterpret_cast<const std::uint8_t*>(&state_), sizeof state_},
                         planes_, context_.settings);
}

void Lane::load(std::span<const std::uint8_t> blob, bool keep_random) {
  const Random random = state_.random;
  if (!is_lane_state(blob)) {
    console_.load(blob);
    state_.buttons = 0;
    state_.ended = 0;
    classic_done_ = false;
    state_.tracker.reset(console_.ram(), route_.get());
    fill_stack();
    return;
  }
  State loaded;
  const LaneParts parts = unpack_lane_state(blob, sizeof loaded, context_.settings);
  std::memcpy(&loaded, parts.lane.data(), sizeof loaded);
  console_.load(parts.console);
  state_ = loaded;
  std::memcpy(planes_.data(), parts.planes.data(), planes_.size());
  classic_done_ = false;
  if (keep_random) state_.random = random;
}

}  // namespace warpzone
