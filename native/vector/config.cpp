#include "vector/config.hpp"

#include <initializer_list>
#include <stdexcept>
#include <string_view>

#include "mario/tiles.hpp"
#include "nes/console.hpp"

namespace warpzone {
namespace {

constexpr int kShortestSide = 8, kLongestSide = 2048;  ///< Of images, in pixels.

[[noreturn]] void refuse(const std::string& name, const std::string& value,
                         const std::string& allowed) {
  throw std::invalid_argument(name + " is " + value + "; it must be " + allowed);
}

template <typename Value>
Value choose(const std::string& name, const std::string& text,
             std::initializer_list<std::pair<std::string_view, Value>> choices) {
  std::string allowed;
  for (const auto& [choice, value] : choices) {
    if (choice == text) return value;
    allowed += (allowed.empty() ? "'" : ", '") + std::string(choice) + "'";
  }
  refuse(name, "'" + text + "'", "one of " + allowed);
}

void check_range(const std::string& name, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value < low || value > high) {
    refuse(name, std::to_string(value),
           "from " + std::to_string(low) + " to " + std::to_string(high));
  }
}

void check_size(LaneSettings& settings, const Size& size) {
  const int rows = settings.hud == Hud::kCrop ? 208 : nes::kScreenHeight;
  const bool small = settings.obs == ObsKind::kPixels;
  settings.height = size.first != 0 ? size.first : small ? 84 : rows;
  settings.width = size.second != 0 ? size.second : small ? 84 : nes::kScreenWidth;
  check_range("size: height", settings.height, kShortestSide, kLongestSide);
  check_range("size: width", settings.width, kShortestSide, kLongestSide);
}

}  // namespace

std::size_t LaneSettings::frame_size() const {
  if (obs == ObsKind::kTiles) return mario::kTileBytes;
  return static_cast<std::size_t>(height) * static_cast<std::size_t>(width) *
         (obs == ObsKind::kRgb ? 3 : 1);
}

Task parse_task(const std::string& name, mario::Game game) {
  if (name == "game") return {true, {}};
  return {false, mario::parse_level(name, game)};
}

std::string task_name(const Task& task) {
  return task.whole_game ? "game" : mario::level_name(task.level);
}

LaneSettings check_config(const EnvConfig& config, mario::Game game) {
  LaneSettings settings;
  settings.config = config;
  if (config.level.empty()) refuse("level", "empty", "at least one level, such as '1-1'");
  for (const std::string& name : config.level) settings.tasks.push_back(parse_task(name, game));
  settings.random_task =
      choose<bool>("level_order", config.level_order, {{"cycle", false}, {"random", true}});
  settings.obs = choose<ObsKind>(
      "obs", config.obs,
      {{"pixels", ObsKind::kPixels}, {"rgb", ObsKind::kRgb}, {"tiles", ObsKind::kTiles}});
  settings.hud = choose<Hud>("hud", config.hud,
                             {{"keep", Hud::kKeep}, {"mask", Hud::kMask}, {"crop", Hud::kCrop}});
  settings.autoreset = choose<Autoreset>("autoreset", config.autoreset,
                                         {{"next-step", Autoreset::kNextStep},
                                          {"same-step", Autoreset::kSameStep},
                                          {"disabled", Autoreset::kDisabled}});
  settings.reward =
      choose<RewardKind>("reward", config.reward,
                         {{"shaped", RewardKind::kShaped}, {"classic", RewardKind::kClassic}});
  check_range("stack", config.stack, 0, 16);
  settings.stack = config.stack != 0                  ? config.stack
                   : settings.obs == ObsKind::kPixels ? 4
                   : settings.obs == ObsKind::kTiles  ? 2
                                                      : 1;
  check_size(settings, config.size);
  settings.channels_first =
      choose<bool>("channels", config.channels, {{"last", false}, {"first", true}});
  if (settings.channels_first && settings.obs != ObsKind::kRgb) {
    refuse("channels", "'first'", "'last' unless obs is 'rgb'");
  }
  settings.sticky_step = choose<bool>("sticky", config.sticky, {{"frame", false}, {"step", true}});
  if (config.max_pool && settings.obs == ObsKind::kTiles) {
    refuse("max_pool", "True", "False when obs is 'tiles'");
  }
  if (config.show_buttons && settings.obs != ObsKind::kPixels) {
    refuse("show_buttons", "True", "False unless obs is 'pixels'");
  }
  check_range("frame_skip", config.frame_skip, 1, 60);
  check_range("noop_max", config.noop_max, 0, 1000);
  check_range("start_random_steps", config.start_random_steps, 0, 1000);
  check_range("power", config.power, 0, 2);
  check_range("max_steps", config.max_steps, 0, 1'000'000'000);
  check_range("stagnation_limit", config.stagnation_limit, 0, 10'000'000);
  if (!(config.sticky_prob >= 0.0 && config.sticky_prob < 1.0)) {
    refuse("sticky_prob", std::to_string(config.sticky_prob), "at least 0 and below 1");
  }
  if (!(config.game_start_prob >= 0.0 && config.game_start_prob <= 1.0)) {
    refuse("game_start_prob", std::to_string(config.game_start_prob), "from 0 to 1");
  }
  if (!(config.random_power >= 0.0 && config.random_power <= 1.0)) {
    refuse("random_power", std::to_string(config.random_power), "from 0 to 1");
  }
  if (config.actions.empty() || config.actions.size() > 256) {
    refuse("actions", std::to_string(config.actions.size()) + " actions", "from 1 to 256 actions");
  }
  return settings;
}

}  // namespace warpzone
