#include "vector/lane.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "mario/game_random.hpp"
#include "mario/tiles.hpp"
#include "nes/hash.hpp"
#include "vector/lane_state.hpp"

namespace warpzone {
namespace {

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
      image(settings.height, settings.width, settings.hud),
      starts(cartridge, which, config) {}

Lane::Lane(LaneContext& context, int index)
    : context_(context),
      console_(context.cartridge, context.settings.config.exact),
      rules_(make_rules(context.settings, context.weights)),
      task_(
          context.settings.tasks[static_cast<std::size_t>(index) % context.settings.tasks.size()]),
      stack_(context.settings, context.image) {
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
  state_.buttons = 0;
  if (settings.random_task && !task_given_ && settings.tasks.size() > 1) {
    task_ = settings.tasks[state_.random.below(static_cast<std::uint32_t>(settings.tasks.size()))];
  }
  bool announced = false;
  if (start_state_) {
    console_.restore(*start_state_);
  } else {
    const mario::StartOptions start = draw_start();
    announced = start.announced;
    context_.starts.start(task_, start, console_);
  }
  if (settings.config.reseed_game) {
    mario::reseed_game(console_, state_.random.below(mario::kRandomRegisters));
  }
  if (start_state_ && !idle_at_start_state_) hold_random_action();
  if (announced) {
    arrive();
  } else {
    if (!start_state_ || idle_at_start_state_) idle();
    show_first_frame();
  }
  start_following();
}

void Lane::idle() {
  const EnvConfig& config = context_.settings.config;
  if (config.noop_max == 0) return;
  const auto frames = state_.random.below(static_cast<std::uint32_t>(config.noop_max) + 1);
  for (std::uint32_t i = 0; i < frames; ++i) console_.run_frame(0, false);
}

void Lane::arrive() {
  const EnvConfig& config = context_.settings.config;
  const auto action = state_.random.below(static_cast<std::uint32_t>(config.actions.size()));
  const auto late = state_.random.below(static_cast<std::uint32_t>(config.frame_skip));
  state_.buttons = config.actions[action];
  const int frames = mario::kLeadFrames + static_cast<int>(late);
  for (int frame = 0; frame < frames; ++frame) {
    if (frame == std::max(0, frames - config.frame_skip)) show_first_frame();
    console_.run_frame(state_.buttons, false);
  }
  if (drawn_) draw_ahead();
  stack_.push(console_, state_.buttons);
}

void Lane::hold_random_action() {
  const EnvConfig& config = context_.settings.config;
  if (config.start_random_steps == 0) return;
  const auto steps = state_.random.below(static_cast<std::uint32_t>(config.start_random_steps) + 1);
  const auto action = state_.random.below(static_cast<std::uint32_t>(config.actions.size()));
  auto before = std::make_unique<nes::MachineState>();
  console_.snapshot(*before);
  for (std::uint32_t i = 0; i < steps * static_cast<std::uint32_t>(config.frame_skip); ++i) {
    console_.run_frame(config.actions[action], false);
  }
  const std::uint8_t* ram = console_.ram();
  const bool stands = ram[mario::ram::kFloatState] == mario::ram::kOnGround;
  const bool swims = ram[mario::ram::kSwimming] != 0;
  if (!mario::in_control(ram) || !(stands || swims)) console_.restore(*before);
}

int Lane::draw_power() {
  const EnvConfig& config = context_.settings.config;
  if (config.random_power > 0.0 && state_.random.uniform() < config.random_power) {
    return 1 + static_cast<int>(state_.random.below(2));
  }
  return config.power;
}

mario::StartOptions Lane::draw_start() {
  const EnvConfig& config = context_.settings.config;
  mario::StartOptions start{draw_power(), config.halfway};
  const double probability = config.game_start_prob;
  if (task_.whole_game || probability == 0.0 || state_.random.uniform() >= probability) {
    return start;
  }
  start.announced = true;
  start.halfway = state_.random.below(2) == 1 || config.halfway;
  return start;
}

void Lane::start_following() {
  take_route_and_limit();
  state_.route = route_name_;
  state_.ended = 0;
  rules_->begin(console_, task_);
  state_.tracker.reset(console_.ram(), route_.get(), mario::last_level_of(context_.game));
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

void Lane::show_first_frame() {
  // The machine has just been put somewhere and has drawn nothing there.
  drawn_ = context_.settings.obs != ObsKind::kTiles;
  if (drawn_) draw_ahead();
  stack_.fill(console_, state_.buttons);
}

void Lane::press(std::uint8_t buttons) {
  const double sticky = context_.settings.config.sticky_prob;
  if (!(sticky > 0.0 && state_.random.uniform() < sticky)) state_.buttons = buttons;
}

void Lane::play_frames(std::uint8_t buttons) {
  const LaneSettings& settings = context_.settings;
  const int skip = settings.config.frame_skip;
  const bool draws = settings.obs != ObsKind::kTiles;
  rules_->begin_step(state_.tracker);
  for (int frame = 0; frame < skip; ++frame) {
    if (frame == 0 || !settings.sticky_step) press(buttons);
    const bool last = frame == skip - 1;
    const bool pooled = settings.pools() && frame == skip - 2;
    console_.run_frame(state_.buttons, draws && (last || pooled));
    const bool moved = rules_->follow_frame(console_, state_.tracker, route_.get());
    if (moved && draws && last) draw_ahead();
    if (pooled) stack_.keep_for_pooling(console_);
  }
  stack_.push(console_, state_.buttons);
  drawn_ = draws;
}

mario::EndReason Lane::end_of_step() const {
  const mario::EndReason end = rules_->judge(state_.tracker);
  if (end != mario::EndReason::running) return end;
  const EnvConfig& config = context_.settings.config;
  const mario::Tracker& tracker = state_.tracker;
  const auto reached = [&](std::int64_t limit) { return limit > 0 && tracker.steps >= limit; };
  if (reached(config.max_steps) || reached(step_limit_)) return mario::EndReason::step_limit;
  const bool stuck = config.stagnation_limit > 0 &&
                     tracker.episode.stagnation() >= config.stagnation_limit * config.frame_skip;
  return stuck ? mario::EndReason::stagnation : mario::EndReason::running;
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
  *out.reward = static_cast<float>(rules_->finish_step(console_, state_.tracker, state_.run_steps));
  ++state_.run_steps;
  const mario::EndReason end = state_.tracker.episode.end = end_of_step();
  *out.truncated = mario::is_truncation(end);
  *out.terminated = end != mario::EndReason::running && *out.truncated == 0;
  state_.ended = *out.terminated | *out.truncated;
  if (state_.ended != 0 && settings.autoreset == Autoreset::kSameStep) {
    write_obs(out.final_obs, out.final_features);
    rules_->write_info(console_, state_.tracker, out.final_info);
    begin_episode();
  }
  observe(out);
}

void Lane::observe(const LaneOutput& out) {
  if (out.obs == nullptr) return;
  write_obs(out.obs, out.features);
  rules_->write_info(console_, state_.tracker, out.info);
}

void Lane::write_obs(std::uint8_t* obs, std::uint8_t* features) const {
  stack_.write(obs);
  if (context_.settings.obs == ObsKind::kTiles) {
    mario::write_features(console_.ram(), state_.buttons, features);
  }
}

std::vector<std::uint8_t> Lane::save() {
  const auto console = console_.save();
  return pack_lane_state(console, {reinterpret_cast<const std::uint8_t*>(&state_), sizeof state_},
                         stack_.save(), context_.settings);
}

void Lane::load(std::span<const std::uint8_t> blob, bool keep_random) {
  const Random random = state_.random;
  if (!is_lane_state(blob)) {
    console_.load(blob);
    state_.buttons = 0;
    show_first_frame();
    start_following();
    return;
  }
  State loaded;
  const LaneParts parts = unpack_lane_state(blob, sizeof loaded, context_.settings);
  std::memcpy(&loaded, parts.lane.data(), sizeof loaded);
  const auto points = static_cast<std::int64_t>(next_route_ ? next_route_->points().size() : 0);
  const bool same_route = loaded.route == next_route_name_;
  if (!is_sound(loaded.tracker) || (same_route && loaded.tracker.progress.waypoint >= points) ||
      loaded.run_steps < 0 || loaded.run_steps > kMostSteps) {
    throw nes::StateError("the save state was altered: its episode makes no sense");
  }
  console_.load(parts.console);
  state_ = loaded;
  stack_.load(parts.frames);
  if (keep_random) state_.random = random;
  take_route_and_limit();
  if (!same_route) join_route();
  drawn_ = false;
  rules_->begin(console_, task_);
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
