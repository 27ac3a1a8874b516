#include "mario/classic.hpp"

#include <algorithm>

#include "mario/ram.hpp"
#include "mario/signals.hpp"

namespace warpzone::mario {
namespace {

constexpr std::int32_t kLargestMove = 5;
constexpr std::int32_t kDeathPenalty = -25;
constexpr std::int32_t kLimit = 15;
// The longest scripted moment, a flagpole with a full clock, takes about 700 frames.
constexpr int kMaxSkippedFrames = 2000;

// The package reads the page as unsigned.
std::int32_t classic_x(const std::uint8_t* ram) { return ram[ram::kXPage] * 256 + ram[ram::kX]; }

bool dying_or_dead(const std::uint8_t* ram) {
  return ram[ram::kPlayerTask] == ram::kTaskDying || ram[ram::kPlayerTask] == ram::kTaskLifeLost ||
         ram[ram::kYPage] > 1;
}

bool scripted(const std::uint8_t* ram) {
  const std::uint8_t task = ram[ram::kPlayerTask];
  return task <= ram::kTaskLevelEnd || task == ram::kTaskEntering ||
         ram[ram::kMode] == ram::kWorldEnd;
}

}  // namespace

void ClassicReward::reset(const std::uint8_t* ram) {
  x_last = classic_x(ram);
  clock_last = decode_clock(ram);
}

std::int32_t ClassicReward::step(const std::uint8_t* ram) {
  const std::int32_t x = classic_x(ram);
  const std::int32_t clock = decode_clock(ram);
  std::int32_t moved = x - x_last;
  // A larger move is a pipe, a loop or a new life, not walking.
  if (moved < -kLargestMove || moved > kLargestMove) {
    moved = 0;
  }
  const std::int32_t ticked = std::min(clock - clock_last, 0);
  x_last = x;
  clock_last = clock;
  const std::int32_t reward = moved + ticked + (dying_or_dead(ram) ? kDeathPenalty : 0);
  return std::clamp(reward, -kLimit, kLimit);
}

bool classic_flag_get(const std::uint8_t* ram) {
  if (ram[ram::kMode] == ram::kWorldEnd) {
    return true;
  }
  constexpr int kSlotsRead = 5;
  constexpr std::uint8_t kBowser = 0x2D;
  constexpr std::uint8_t kFlag = 0x31;
  for (int slot = 0; slot < kSlotsRead; ++slot) {
    const std::uint8_t type = ram[ram::kEnemyType + slot];
    if (type == kBowser || type == kFlag) {
      return ram[ram::kFloatState] == ram::kClimbing;
    }
  }
  return false;
}

EndReason classic_end_reason(const std::uint8_t* ram) {
  if (classic_flag_get(ram)) return EndReason::clear;
  if (!dying_or_dead(ram)) return EndReason::running;
  if (ram[ram::kTimeUp] != 0) return EndReason::time;
  return ram[ram::kPlayerTask] == ram::kTaskDying ? EndReason::enemy : EndReason::pit;
}

void classic_skip_scripted(nes::Console& console) {
  std::uint8_t* memory = console.ram();
  if (memory[ram::kAreaChangeTimer] > 1 && memory[ram::kAreaChangeTimer] < 255) {
    memory[ram::kAreaChangeTimer] = 1;
  }
  for (int frame = 0; frame < kMaxSkippedFrames && scripted(memory); ++frame) {
    memory[ram::kPreLevelTimer] = 0;
    console.run_frame(0, false);
  }
}

}  // namespace warpzone::mario
