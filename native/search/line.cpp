#include "search/line.hpp"

#include <algorithm>
#include <cstdlib>

#include "mario/signals.hpp"

namespace warpzone::search {
namespace {

constexpr std::size_t kStopSpacing = 16;  // Steps.
// A variation that is further off than this will not return to the solution.
constexpr std::int32_t kMostGap = 64;

}  // namespace

void Line::record(const nes::Console& console, std::int32_t frame, int skip) {
  if (frame % skip != 0) return;
  if (points_.size() % kStopSpacing == 0) stops_.push_back({points_.size(), PackedState(console)});
  points_.push_back({mario::area_key(console.ram()), mario::player_x(console.ram())});
}

const Line::Stop& Line::stop_before(std::size_t step) const {
  return stops_[std::min(step / kStopSpacing, stops_.size() - 1)];
}

bool Line::passes(const std::uint8_t* ram, std::size_t step) const {
  if (step >= points_.size()) return true;
  const Point& point = points_[step];
  return point.area == mario::area_key(ram) && std::abs(point.x - mario::player_x(ram)) <= kMostGap;
}

}  // namespace warpzone::search
