#include "search/replay.hpp"

#include "mario/episode.hpp"

namespace warpzone::search {
namespace {

using namespace mario;

// The longest ending, a castle's with its thanks, takes about a thousand frames.
constexpr std::int32_t kMostEndingFrames = 3000;
constexpr std::uint8_t kLastWorld = 7;
// Steps of the scene behind the axe: the bridge falls, the room is loaded, Mario walks in, and from
// this one on he is thanked.
constexpr std::uint8_t kThanks = 3;

bool with_princess(const std::uint8_t* ram) {
  return ram[ram::kMode] == ram::kWorldEnd && ram[ram::kWorld] == kLastWorld &&
         ram[ram::kModeTask] >= kThanks;
}

/// Counts areas as Mario gets to walk in them.
struct AreaCounter {
  std::uint16_t area;
  std::int32_t changes = 0;

  void update(const std::uint8_t* ram) {
    if (!in_control(ram) || area_key(ram) == area) return;
    area = area_key(ram);
    ++changes;
  }
};

Ending ending_of(const Episode& episode, const std::uint8_t* ram, std::uint8_t first_level) {
  const Events& events = episode.events;
  if (events.death || events.game_over) return Ending::kDeath;
  if (events.warp) return Ending::kWarp;
  if (!events.clear) return Ending::kUnfinished;
  if (with_princess(ram)) return Ending::kPrincess;
  return level_index(ram) == first_level + 1 ? Ending::kNextLevel : Ending::kUnfinished;
}

}  // namespace

ReplayResult replay(nes::Console& console, const Task& task, std::span<const std::uint8_t> inputs,
                    const Observer& observe) {
  start_level(console, task.game, task.level);
  const std::uint8_t* ram = console.ram();
  const std::uint8_t first_level = level_index(ram);
  Episode episode;
  episode.reset(ram, last_level_of(task.game));
  AreaCounter areas{area_key(ram)};
  ReplayResult result;
  if (observe) observe(console, 0);
  const auto steps = static_cast<std::int32_t>(inputs.size());
  const std::int32_t limit = steps * task.skip + kMostEndingFrames;
  for (std::int32_t frame = 0; frame < limit && result.ending == Ending::kUnfinished; ++frame) {
    const std::int32_t step = frame / task.skip;
    console.run_frame(step < steps ? inputs[static_cast<std::size_t>(step)] : 0, false);
    episode.update(ram, false);
    result.ending = ending_of(episode, ram, first_level);
    result.ending_frames = frame + 1;
    if (result.frames == 0) {
      areas.update(ram);
      if (observe) observe(console, frame + 1);
      if (episode.events.clear || episode.events.warp) result.frames = frame + 1;
    }
  }
  result.area_changes = areas.changes;
  result.end_level = {ram[ram::kWorld] + 1, ram[ram::kStage] + 1};
  return result;
}

}  // namespace warpzone::search
