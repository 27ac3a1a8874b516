#include "mario/progress.hpp"

#include <algorithm>
#include <cstdlib>

namespace warpzone::mario {
namespace {

// Mario moves three or four pixels per frame; a larger step between neighbouring points is a pipe
// or a maze loop. The bound leaves room for points recorded every few frames.
constexpr std::int32_t kLargestStep = 64;
// Points nearer to the last one kept add nothing.
constexpr std::int32_t kPointSpacing = 8;

bool same_stretch(const Waypoint& a, const Waypoint& b) {
  return a.area == b.area && std::abs(a.x - b.x) <= kLargestStep;
}

}  // namespace

Route::Route(std::span<const Waypoint> points, const RouteOptions& options) : options_(options) {
  std::int32_t distance = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool joined = i > 0 && same_stretch(points[i - 1], points[i]);
    if (joined) {
      distance += std::abs(points[i].x - points[i - 1].x);
    }
    const bool last = i + 1 == points.size();
    const bool keep = points_.empty() || !joined || last ||
                      std::abs(points[i].x - points_.back().place.x) >= kPointSpacing ||
                      std::abs(points[i].y - points_.back().place.y) >= kPointSpacing * 2;
    if (keep) {
      points_.push_back({points[i], distance});
    }
  }
}

bool Route::is_at(const Waypoint& point, const Place& place) const {
  const std::int32_t lower = place.y - point.y;
  return point.area == place.area && std::abs(point.x - place.x) <= options_.x_tolerance &&
         lower >= -options_.above && lower <= options_.below;
}

std::int32_t Route::match(std::int32_t from, const Place& place) const {
  const auto count = static_cast<std::int32_t>(points_.size());
  const std::int32_t reached = from < 0 ? 0 : points_[static_cast<std::size_t>(from)].distance;
  std::int32_t best = from;
  std::int32_t best_gap = 0;
  bool in_run = false;
  // Of the last run of neighbouring points within the tolerances, the nearest: taking the furthest
  // would pay for standing still.
  for (std::int32_t i = std::max(from, 0); i < count; ++i) {
    const Point& point = points_[static_cast<std::size_t>(i)];
    if (point.distance - reached > options_.window) {
      break;
    }
    const bool here = is_at(point.place, place);
    const std::int32_t gap = std::abs(point.place.x - place.x);
    if (here && (!in_run || gap <= best_gap)) {
      best = i;
      best_gap = gap;
    }
    in_run = here;
  }
  return best;
}

std::int32_t Route::nearest(const Place& place) const {
  std::int32_t best = -1;
  std::int32_t best_gap = 0;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const Waypoint& point = points_[i].place;
    const std::int32_t gap = std::abs(point.x - place.x) + std::abs(point.y - place.y);
    // Of equals the later one: rather pay too little than a stretch that was skipped.
    if (is_at(point, place) && (best < 0 || gap <= best_gap)) {
      best = static_cast<std::int32_t>(i);
      best_gap = gap;
    }
  }
  return best;
}

void Progress::reset(const Place& place, const Route* route) {
  *this = Progress{};
  level = place.level;
  areas[0] = {.key = place.area, .furthest = place.x};
  area_count = 1;
  if (route != nullptr && !route->empty()) {
    waypoint = route->nearest(place);
    start_distance =
        waypoint < 0 ? 0 : route->points()[static_cast<std::size_t>(waypoint)].distance;
  }
}

bool Progress::update(const Place& place, const Route* route) {
  if (!place.counts) {
    return false;
  }
  return route != nullptr && !route->empty() ? update_route(place, *route) : update_areas(place);
}

bool Progress::update_areas(const Place& place) {
  if (place.endless) {
    return false;
  }
  if (place.level != level) {
    level = place.level;
    area_count = 0;
  }
  for (std::size_t i = 0; i < area_count; ++i) {
    Area& area = areas[i];
    if (area.key == place.area) {
      const std::int32_t gain = place.x - area.furthest;
      area.furthest = std::max(area.furthest, place.x);
      total += std::max(gain, 0);
      return gain > 0;
    }
  }
  if (area_count < kMaxAreas) {
    areas[area_count++] = {.key = place.area, .furthest = place.x};
  }
  return false;
}

bool Progress::update_route(const Place& place, const Route& route) {
  const std::int32_t reached = route.match(waypoint, place);
  if (reached == waypoint) {
    return false;
  }
  waypoint = reached;
  const std::int32_t before = total;
  total =
      std::max(total, route.points()[static_cast<std::size_t>(waypoint)].distance - start_distance);
  return total > before;
}

}  // namespace warpzone::mario
