#include "vector/lane.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "mario/tiles.hpp"
#include "nes/hash.hpp"
#include "vector/lane_state.hpp"

namespace warpzone {
namespace {

constexpr std::uint8_t kNoLives = 0xFF;
constexpr int kScreenPixels = nes::kScreenWidth * nes::kScreenHeight;

/// Tells routes apart; 0 for none.
std::uint64_t name_of(const mario::Route* route) {
  if (route == nullptr || route->empty()) return 0;
  const mario::RouteOptions& options = route->options();
  std::vector<std::int32_t> numbers = {options.x_tolerance, options.above, options.below,
                                       options.window};
  for (const mario::Route::Point& point : route->points()) {
    numbers.insert(numbers.end(), {point.place.area, point.place.x, point.place.y});
  }
  return nes::hash_bytes({reinterpret_cast<const std::uint8_t*>(numbers.data()),
                          numbers.size() * sizeof numbers[0]}) |
         1;
}

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
      task_(
          context.settings.tasks[static_cast<std::size_t>(index) % context.settings.tasks.size()]),
      plane_size_(context.settings.plane_size()),
      planes_(context.settings.obs_size()) {
  seed(static_cast<std::uint64_t>(index));
  const std::string& blob = context.settings.config.start_state;
  if (!blob.empty()) {
    set_start_state({reinterpret_cast<const std::uint8_t*>(blob.data()), blob.size()});
  }
}

void Lane::set_task(const Task& task) {
  task_ = task;
  task_given_ = true;
}

void Lane::set_route(std::shared_ptr<const mario::Route> route) {
  next_route_name_ = name_of(route.get());
  next_route_ = std::move(route);
}

void Lane::take_route_and_limit() {
  route_ = next_route_;
  route_name_ = next_route_name_;
  step_limit_ = next_step_limit_;
}

void Lane::set_start_state(std::span<const std::uint8_t> blob, bool idle) {
  if (blob.empty()) {
    start_state_.reset();
    return;
  }
  nes::Console checked(context_.cartridge, context_.settings.config.exact);
  checked.load(console_part(blob));
  start_state_ = std::make_unique<nes::MachineState>();
  checked.snapshot(*start_state_);
  idle_at_start_state_ = idle;
}

void Lane::begin_episode() {
  const LaneSettings& settings = context_.settings;
  if (settings.random_task && !task_given_ && settings.tasks.size() > 1) {
    task_ = settings.tasks[state_.random.below(static_cast<std::uint32_t>(settings.tasks.size()))];
  }
  if (start_state_) {
    console_.restore(*start_state_);
  } else {
    context_.starts.start(task_, console_);
  }
  if (settings.config.noop_max > 0 && (!start_state_ || idle_at_start_state_)) {
    const auto frames =
        state_.random.below(static_cast<std::uint32_t>(settings.config.noop_max) + 1);
    for (std::uint32_t i = 0; i < frames; ++i) console_.run_frame(0, false);
  }
  start_following();
}

void Lane::start_following() {
  take_route_and_limit();
  state_.route = route_name_;
  state_.buttons = 0;
  state_.ended = 0;
  classic_done_ = classic_flag_ = false;
  std::copy_n(console_.ram(), classic_ram_.size(), classic_ram_.begin());
  state_.tracker.reset(console_.ram(), route_.get(), mario::last_level_of(context_.game));
  fill_stack();
}

void Lane::draw_ahead() {
  // On a copy of time, so that looking does not move the game.
  auto here = std::make_unique<nes::MachineState>();
  console_.snapshot(*here);
  console_.run_frame(0, true);
  console_.restore(*here);
}

const nes::Console& Lane::drawn() {
  if (!drawn_) draw_ahead();
  drawn_ = true;
  return console_;
}

void Lane::fill_stack() {
  // The machine has just been put somewhere and has drawn nothing there.
  drawn_ = context_.settings.obs != ObsKind::kTiles;
  if (drawn_) draw_ahead();
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
      show_buttons(target);
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

void Lane::show_buttons(std::uint8_t* picture) const {
  if (context_.settings.config.show_buttons) context_.picture.show_buttons(state_.buttons, picture);
}

void Lane::play_frames(std::uint8_t buttons) {
  const LaneSettings& settings = context_.settings;
  const int skip = settings.config.frame_skip;
  const bool draws = settings.obs != ObsKind::kTiles;
  const bool pools = settings.config.max_pool && settings.obs == ObsKind::kPixels && skip > 1;
  std::uint8_t before[kScreenPixels];
  state_.tracker.begin_step();
  classic_flag_ = false;
  for (int frame = 0; frame < skip; ++frame) {
    const double sticky = settings.config.sticky_prob;
    if (!(sticky > 0.0 && state_.random.uniform() < sticky)) state_.buttons = buttons;
    const bool last = frame == skip - 1;
    console_.run_frame(state_.buttons, draws && (last || (pools && frame == skip - 2)));
    if (!classic_done_) {
      state_.tracker.frame(console_.ram(), route_.get());
      if (settings.classic) {
        const std::uint64_t now = console_.frame_count();
        end_classic_frame();
        if (draws && last && console_.frame_count() != now) draw_ahead();
      }
    }
    if (pools && frame == skip - 2) context_.picture.read_grey(console_, before);
  }
  state_.newest = static_cast<std::uint8_t>((state_.newest + 1) % settings.stack);
  if (pools) {
    std::uint8_t grey[kScreenPixels];
    context_.picture.read_grey(console_, grey);
    for (int i = 0; i < kScreenPixels; ++i) grey[i] = std::max(grey[i], before[i]);
    context_.picture.shrink_grey(grey, plane(state_.newest));
    show_buttons(plane(state_.newest));
  } else {
    take_picture();
  }
  drawn_ = draws;
}

void Lane::end_classic_frame() {
  std::uint8_t* ram = console_.ram();
  std::copy_n(ram, classic_ram_.size(), classic_ram_.begin());
  classic_flag_ = classic_flag_ || mario::classic_flag_get(ram);
  if (!task_.whole_game) {
    classic_done_ = mario::classic_done(ram);
  } else {
    classic_done_ = ram[mario::ram::kLives] == kNoLives;
    const bool dying =
        ram[mario::ram::kPlayerTask] == mario::ram::kTaskDying || ram[mario::ram::kYPage] > 1;
    if (!classic_done_ && dying) {  // The package cuts the dying scene short.
      ram[mario::ram::kPlayerTask] = mario::ram::kTaskLifeLost;
      console_.run_frame(0, false);
    }
  }
  if (!classic_done_) mario::classic_skip_scripted(console_);
}

bool Lane::ends_life() const {
  return context_.settings.config.one_life.value_or(!task_.whole_game);
}

bool Lane::ends_level() const {
  return context_.settings.config.one_level.value_or(!task_.whole_game);
}

bool Lane::terminated() const {
  const mario::Episode& episode = state_.tracker.episode;
  if (context_.settings.classic && !task_.whole_game) return classic_done_;
  return classic_done_ || episode.events.game_over || episode.events.game_cleared ||
         (ends_life() && episode.events.death) ||
         (ends_level() && (episode.events.clear || episode.events.level_changed));
}

bool Lane::truncated() const {
  const EnvConfig& config = context_.settings.config;
  const mario::Tracker& tracker = state_.tracker;
  return (config.max_steps > 0 && tracker.steps >= config.max_steps) ||
         (step_limit_ > 0 && tracker.steps >= step_limit_) ||
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
      throw std::runtime_error("its episode has ended or never began: reset it first");
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
    write_info(out.info);
    begin_episode();
    write_obs(out.obs, out.features);
    return;
  }
  observe(out);
}

void Lane::observe(const LaneOutput& out) {
  write_obs(out.obs, out.features);
  write_info(out.info);
}

void Lane::write_info(const InfoSlot& out) const {
  if (context_.settings.classic) {
    write_classic_info(classic_ram_.data(), state_.tracker, classic_flag_, out);
  } else {
    warpzone::write_info(console_.ram(), state_.tracker, out);
  }
}

void Lane::write_obs(std::uint8_t* obs, std::uint8_t* features) const {
  const int stack = context_.settings.stack;
  for (int i = 0; i < stack; ++i) {
    const std::uint8_t* from = plane((state_.newest + 1 + i) % stack);
    if (context_.settings.obs == ObsKind::kRgb && stack > 1) {
      for (std::size_t pixel = 0; pixel < plane_size_ / 3; ++pixel) {
        std::memcpy(
            obs + (pixel * static_cast<std::size_t>(stack) + static_cast<std::size_t>(i)) * 3,
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

std::vector<std::uint8_t> Lane::save() {
  const auto console = console_.save();
  return pack_lane_state(console, {reinterpret_cast<const std::uint8_t*>(&state_), sizeof state_},
                         planes_, context_.settings);
}

void Lane::load(std::span<const std::uint8_t> blob, bool keep_random) {
  const Random random = state_.random;
  if (!is_lane_state(blob)) {
    console_.load(blob);
    start_following();
    return;
  }
  State loaded;
  const LaneParts parts = unpack_lane_state(blob, sizeof loaded, context_.settings);
  std::memcpy(&loaded, parts.lane.data(), sizeof loaded);
  const auto points = static_cast<std::int64_t>(next_route_ ? next_route_->points().size() : 0);
  const bool same_route = loaded.route == next_route_name_;
  if (!is_sound(loaded.tracker) || (same_route && loaded.tracker.progress.way_point >= points) ||
      loaded.run_steps < 0 || loaded.run_steps > kMostSteps) {
    throw nes::StateError("the save state was altered: its episode makes no sense");
  }
  console_.load(parts.console);
  state_ = loaded;
  std::memcpy(planes_.data(), parts.planes.data(), planes_.size());
  if (keep_random) state_.random = random;
  take_route_and_limit();
  if (!same_route) join_route();
  drawn_ = classic_done_ = classic_flag_ = false;
  std::copy_n(console_.ram(), classic_ram_.size(), classic_ram_.begin());
}

void Lane::join_route() {
  // Progress was measured along another route, or none: from here on it is added to.
  mario::Progress& progress = state_.tracker.progress;
  const std::int32_t total = progress.total;
  progress.reset(mario::decode_place(console_.ram()), route_.get());
  progress.total = total;
  progress.start_distance -= total;
  state_.route = route_name_;
}

}  // namespace warpzone
