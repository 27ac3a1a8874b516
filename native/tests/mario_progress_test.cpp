#include <vector>

#include "check.hpp"
#include "mario/progress.hpp"
#include "mario_support.hpp"

using namespace warpzone::mario;

namespace {

constexpr std::uint16_t kHall = 0xA000;
constexpr std::uint16_t kCellar = 0xB000;

Place stands(std::uint16_t area, int x, int y = 176) { return {area, 0, true, false, x, y}; }
Place falls(std::uint16_t area, int x, int y = 176) { return {area, 0, false, false, x, y}; }

void walk(Progress& progress, std::uint16_t area, int from, int to, const Route* route = nullptr,
          int y = 176) {
  for (int x = from; x != to; x += from < to ? 1 : -1) {
    progress.update(stands(area, x, y), route);
  }
  progress.update(stands(area, to, y), route);
}

std::vector<Waypoint> straight(std::uint16_t area, int from, int to, int y = 176) {
  std::vector<Waypoint> points;
  for (int x = from; from < to ? x <= to : x >= to; x += from < to ? 2 : -2) {
    points.push_back({area, x, y});
  }
  return points;
}

void append(std::vector<Waypoint>& points, const std::vector<Waypoint>& more) {
  points.insert(points.end(), more.begin(), more.end());
}

}  // namespace

TEST(walking_right_pays_each_pixel_once) {
  Progress progress;
  progress.reset(stands(kHall, 40));
  walk(progress, kHall, 40, 140);
  CHECK_EQ(progress.total, 100);
  walk(progress, kHall, 140, 60);
  walk(progress, kHall, 60, 140);
  CHECK_EQ(progress.total, 100);
  CHECK(progress.update(stands(kHall, 141)));
  CHECK_EQ(progress.total, 101);
}

TEST(free_fall_pays_nothing_until_the_landing) {
  Progress progress;
  progress.reset(stands(kHall, 40));
  for (int x = 41; x < 200; ++x) {
    CHECK(!progress.update(falls(kHall, x)));
  }
  CHECK_EQ(progress.total, 0);
  CHECK(progress.update(stands(kHall, 200)));
  CHECK_EQ(progress.total, 160);
}

TEST(a_maze_loop_pays_nothing_the_second_time) {
  Progress progress;
  progress.reset(stands(kHall, 40));
  walk(progress, kHall, 40, 1300);
  CHECK_EQ(progress.total, 1260);
  for (int loop = 0; loop < 3; ++loop) {
    walk(progress, kHall, 1300 - 1024, 1300);
  }
  CHECK_EQ(progress.total, 1260);
  walk(progress, kHall, 1300, 1400);
  CHECK_EQ(progress.total, 1360);
}

TEST(each_area_pays_from_its_own_entry) {
  Progress progress;
  progress.reset(stands(kHall, 40));
  walk(progress, kHall, 40, 900);
  walk(progress, kCellar, 20, 220);
  CHECK_EQ(progress.total, 860 + 200);
  walk(progress, kHall, 800, 900);  // back where we were
  walk(progress, kCellar, 20, 220);
  CHECK_EQ(progress.total, 860 + 200);
}

TEST(another_level_pays_afresh_in_the_same_area) {
  Progress progress;
  progress.reset(stands(kHall, 40));
  walk(progress, kHall, 40, 240);
  Place next = stands(kHall, 40);
  next.level = 17;
  progress.update(next);
  next.x = 90;
  progress.update(next);
  CHECK_EQ(progress.total, 250);
}

TEST(an_endless_bonus_area_pays_nothing) {
  Progress progress;
  progress.reset(stands(kHall, 40));
  Place cloud = stands(kCellar, 40);
  cloud.endless = true;
  for (cloud.x = 40; cloud.x < 5000; ++cloud.x) {
    CHECK(!progress.update(cloud));
  }
  CHECK_EQ(progress.total, 0);
}

TEST(more_areas_than_the_table_holds_do_no_harm) {
  Progress progress;
  progress.reset(stands(0, 40));
  for (int area = 1; area < 40; ++area) {
    walk(progress, static_cast<std::uint16_t>(area), 10, 20);
  }
  CHECK_EQ(progress.area_count, Progress::kMaxAreas);
  CHECK_EQ(progress.total, (Progress::kMaxAreas - 1) * 10);
}

TEST(a_route_measures_distance_along_the_way) {
  std::vector<Waypoint> points = straight(kHall, 40, 400);
  append(points, straight(kCellar, 300, 100));  // a pipe, then leftwards
  const Route route(points);
  CHECK_EQ(route.length(), 360 + 200);
  Progress progress;
  progress.reset(stands(kHall, 40), &route);
  walk(progress, kHall, 40, 400, &route);
  CHECK_EQ(progress.total, 360);
  walk(progress, kCellar, 300, 100, &route);
  CHECK_EQ(progress.total, 560);
  walk(progress, kCellar, 100, 300, &route);
  walk(progress, kCellar, 300, 100, &route);
  CHECK_EQ(progress.total, 560);
}

TEST(the_wrong_corridor_of_a_maze_pays_nothing) {
  const Route route(straight(kHall, 40, 1000, 176));
  Progress progress;
  progress.reset(stands(kHall, 40, 176), &route);
  walk(progress, kHall, 40, 1000, &route, 64);
  CHECK_EQ(progress.total, 0);
}

TEST(the_right_way_at_another_x_pays_nothing) {
  const Route route(straight(kHall, 40, 3000));
  Progress progress;
  progress.reset(stands(kHall, 40), &route);
  progress.update(stands(kHall, 2000), &route);
  CHECK_EQ(progress.total, 0);
}

TEST(free_fall_along_a_route_pays_nothing) {
  const Route route(straight(kHall, 40, 400));
  Progress progress;
  progress.reset(stands(kHall, 40), &route);
  for (int x = 41; x < 250; ++x) {
    progress.update(falls(kHall, x), &route);
  }
  CHECK_EQ(progress.total, 0);
  progress.update(stands(kHall, 250), &route);
  CHECK(progress.total > 190);
}

TEST(a_start_along_the_route_begins_at_zero) {
  const Route route(straight(kHall, 40, 1000));
  Progress progress;
  progress.reset(stands(kHall, 600), &route);
  CHECK_EQ(progress.total, 0);
  walk(progress, kHall, 600, 500, &route);
  CHECK_EQ(progress.total, 0);
  walk(progress, kHall, 600, 1000, &route);
  CHECK(progress.total >= 390 && progress.total <= 410);
}

TEST(a_start_away_from_the_route_pays_once_the_route_is_met) {
  const Route route(straight(kHall, 400, 1000));
  Progress progress;
  progress.reset(stands(kHall, 40), &route);
  CHECK_EQ(progress.waypoint, -1);
  walk(progress, kHall, 40, 500, &route);
  CHECK(progress.total >= 100 && progress.total <= 116);
}

TEST(an_empty_route_counts_as_none) {
  const Route route;
  Progress progress;
  progress.reset(stands(kHall, 40), &route);
  walk(progress, kHall, 40, 50, &route);
  CHECK_EQ(progress.total, 10);
}

TEST(progress_is_plain_data) { CHECK(std::is_trivially_copyable_v<Progress>); }
