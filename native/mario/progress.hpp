/// How far Mario has come: a number that only grows, and never pays the same stretch twice.
///
/// Raw x does not measure progress: it falls by 1,024 when a maze loops back and restarts in every
/// sub-area. Without a route, progress is the sum over the areas of a level of the furthest x
/// reached there minus the x of first entry; bonus areas above the clouds, which have no end, pay
/// nothing. With a route it is the distance along the route of the furthest waypoint reached in
/// order. In both cases only places that count are credited (Place::counts): running off a ledge
/// pays nothing.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "mario/signals.hpp"

namespace warpzone::mario {

struct Waypoint {
  std::uint16_t area = 0;  ///< As Place::area.
  std::int32_t x = 0;
  std::int32_t y = 0;
};

struct RouteOptions {
  std::int32_t x_tolerance = 16;
  /// Pixels that a place may lie above and below the route: above, so that a ceiling does not pay
  /// for passing the exit beneath it; below, so that the wrong corridor of a maze does not.
  std::int32_t above = 40, below = 40;
  std::int32_t window = 384;  ///< Distance along the route that may be passed over in one go.
};

/// A path through a level, thinned and with distances. Immutable; shared by any number of lanes.
class Route {
 public:
  struct Point {
    Waypoint place;
    std::int32_t distance = 0;  ///< Sum of |dx| from the beginning of the route.
  };

  Route() = default;
  /// `points` is where Mario was, in order, at least every few frames. A jump of more than 64
  /// pixels or into another area (a pipe, a maze loop) adds no distance.
  explicit Route(std::span<const Waypoint> points, const RouteOptions& options = {});

  bool empty() const { return points_.empty(); }
  const std::vector<Point>& points() const { return points_; }
  const RouteOptions& options() const { return options_; }
  std::int32_t length() const { return empty() ? 0 : points_.back().distance; }

  /// The furthest point from `from` (-1 before the first) to the end of the window that is at
  /// `place`; `from` when there is none.
  std::int32_t match(std::int32_t from, const Place& place) const;
  /// The point of the whole route nearest to `place`, -1 when none is within the tolerances.
  std::int32_t nearest(const Place& place) const;

 private:
  bool is_at(const Waypoint& point, const Place& place) const;

  std::vector<Point> points_;
  RouteOptions options_;
};

/// Progress of one episode. Plain data without padding, so a save state can contain it and states
/// of equal play are equal byte for byte.
struct Progress {
  /// No level has half as many areas; what comes after a full table is not paid.
  static constexpr int kMaxAreas = 16;
  struct Area {
    std::uint16_t key = 0;
    std::uint16_t reserved = 0;
    std::int32_t furthest = 0;
  };

  std::int32_t total = 0;           ///< Pixels since reset; never falls.
  std::int32_t waypoint = -1;       ///< Index of the last route point reached, -1 before the first.
  std::int32_t start_distance = 0;  ///< Distance along the route at reset.
  std::uint8_t level = 0;           ///< The areas belong to this level; another one starts afresh.
  std::uint8_t area_count = 0;
  std::array<std::uint8_t, 2> reserved{};
  std::array<Area, kMaxAreas> areas{};

  /// Starts an episode at `place`. With a route Mario may begin anywhere along it: progress is 0
  /// there, and what lies before it is never paid.
  void reset(const Place& place, const Route* route = nullptr);
  /// To be called after every emulated frame. Returns true when progress rose.
  bool update(const Place& place, const Route* route = nullptr);

 private:
  bool update_areas(const Place& place);
  bool update_route(const Place& place, const Route& route);
};

static_assert(std::has_unique_object_representations_v<Progress>, "name the padding");

}  // namespace warpzone::mario
