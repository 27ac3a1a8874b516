#include "search/cell.hpp"

namespace warpzone::search {
namespace {

// Lower than this there is only the pit, except in water, whose ground lies as low.
constexpr std::int32_t kLowest = 0xD8;
constexpr std::int32_t kSquare = 16;
// Keeps what is divided positive: Mario leans out of the left edge and jumps above the screen.
constexpr std::int32_t kMargin = 256;
constexpr std::int32_t kFast = 16;  // Speeds above it carry Mario about a pixel per frame or more.

std::uint64_t speed_bucket(const std::uint8_t* ram) {
  const auto speed = static_cast<std::int8_t>(ram[mario::ram::kXSpeed]);
  return speed > kFast ? 2 : speed < -kFast ? 0 : 1;
}

}  // namespace

std::optional<CellKey> cell_of(const std::uint8_t* ram) {
  const std::int32_t x = mario::player_x(ram), y = mario::player_y(ram);
  if (!mario::in_control(ram) || (y >= kLowest && ram[mario::ram::kSwimming] == 0) ||
      y < -kMargin || x < -kMargin) {
    return std::nullopt;
  }
  CellKey key = mario::area_key(ram);
  key = key << 8 | ram[mario::ram::kLoopCorrect];
  key = key << 8 | ram[mario::ram::kLoopPasses];
  key = key << 2 | speed_bucket(ram);
  key = key << 16 | static_cast<std::uint64_t>((x + kMargin) / kSquare);
  return key << 8 | static_cast<std::uint64_t>((y + kMargin) / kSquare);
}

}  // namespace warpzone::search
