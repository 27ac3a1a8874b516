// Lists of active inputs: what they describe, how long they can get, what is refused.
#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "mario_support.hpp"
#include "policy_support.hpp"

namespace {

using namespace warpzone;
using namespace warpzone::policy;

/// The dense vector, literally.
std::vector<float> dense(const LayoutTables& tables, const RandomObs& obs) {
  std::vector<float> inputs(static_cast<std::size_t>(tables.inputs));
  std::size_t input = 0;
  for (const int plane : tables.planes) {
    for (int cell = 0; cell < tables.cells; ++cell) {
      inputs[input++] =
          tables.cell_values[obs.grids[static_cast<std::size_t>(plane * tables.cells + cell)]];
    }
  }
  for (const std::uint8_t byte : obs.features) {
    inputs[input++] = static_cast<float>(byte) / 64.0F - 2.0F;
    inputs[input++] = byte < 128 ? 1.0F : 0.0F;
    inputs[input++] = byte < 128 ? 0.0F : 1.0F;
  }
  return inputs;  // Without the map, whose tests are below.
}

TEST(lists_describe_the_dense_vector) {
  const LayoutTables tables = made_up_tables();
  const ActiveLayout layout(tables);
  Random random{5};
  std::vector<Index> row(layout.capacity());
  std::vector<float> found(static_cast<std::size_t>(layout.inputs()));
  for (int i = 0; i < 200; ++i) {
    RandomObs obs = random_obs(random);
    obs.features[10] = obs.features[20] = 0;  // No objects.
    layout.write(obs.grids.data(), obs.features.data(), row.data());
    CHECK(layout.is_sound(row.data()));
    layout.expand(row.data(), found.data());
    CHECK(found == dense(tables, obs));
  }
}

TEST(nothing_is_listed_when_everything_is_in_its_default_state) {
  const ActiveLayout layout(made_up_tables());
  const RandomObs obs;
  std::vector<Index> row(layout.capacity(), 7);
  layout.write(obs.grids.data(), obs.features.data(), row.data());
  CHECK_EQ(row[0], 0);
  CHECK_EQ(row[1], 0);
}

/// Cells of the map that an observation with two objects sets, from 0.
std::vector<int> map_cells(const std::array<std::uint8_t, 5>& first,
                           const std::array<std::uint8_t, 5>& second) {
  const ObjectMap map(made_up_map(1000), mario::kFeatureCount);
  std::array<std::uint8_t, mario::kFeatureCount> features{};
  std::copy(first.begin(), first.end(), features.begin() + 10);
  std::copy(second.begin(), second.end(), features.begin() + 20);
  std::vector<Index> inputs(map.most_cells());
  const Index* end = map.write(features.data(), inputs.data());
  std::vector<int> cells;
  for (const Index* input = inputs.data(); input != end; ++input) cells.push_back(*input - 1000);
  return cells;
}

int cell(int plane, int row, int column) { return (plane * kMapRows + row) * kMapColumns + column; }

TEST(objects_are_drawn_by_kind_and_distance) {
  CHECK(map_cells({255, 128, 128, 0, 0}, {}) == std::vector{cell(0, 4, 3)});
  CHECK(map_cells({200, 127, 132, 0, 0}, {}) == std::vector{cell(1, 5, 2)});
  CHECK(map_cells({100, 128, 128, 0, 0}, {}).empty());
  // Off the map on each side.
  CHECK(map_cells({255, 115, 128, 0, 0}, {}).empty());
  CHECK(map_cells({255, 156, 128, 0, 0}, {}).empty());
  CHECK(map_cells({255, 128, 111, 0, 0}, {}).empty());
  CHECK(map_cells({255, 128, 144, 0, 0}, {}).empty());
}

TEST(a_cell_with_two_objects_is_listed_once) {
  CHECK_EQ(map_cells({255, 128, 128, 0, 0}, {255, 129, 130, 0, 0}).size(), 1);
  CHECK_EQ(map_cells({255, 128, 128, 0, 0}, {200, 128, 128, 0, 0}).size(), 2);
}

TEST(a_bar_is_drawn_ball_by_ball_unless_it_is_gone) {
  const std::vector<int> flat = {cell(0, 4, 3), cell(0, 4, 4), cell(0, 4, 5), cell(0, 4, 6)};
  CHECK(map_cells({255, 128, 128, 9, 0}, {}) == flat);
  const std::vector<int> rising = {cell(0, 4, 3), cell(0, 3, 4), cell(0, 2, 5), cell(0, 1, 6)};
  CHECK(map_cells({255, 128, 128, 9, 200}, {}) == rising);
  CHECK(map_cells({0, 128, 128, 9, 0}, {}).empty());
}

TEST(more_cells_than_a_list_holds_are_refused) {
  const ActiveLayout layout(made_up_tables());
  RandomObs obs;
  std::fill(obs.grids.begin(), obs.grids.end(), std::uint8_t{255});
  std::vector<Index> row(layout.capacity());
  CHECK_THROWS(layout.write(obs.grids.data(), obs.features.data(), row.data()), std::runtime_error);
}

/// Cells that are set in the planes that a network looks at.
int set_cells(const std::vector<std::uint8_t>& grid) {
  const auto background_and_objects =
      static_cast<std::ptrdiff_t>(mario::kTileBytes - mario::kTileCells);  // Mario's comes last.
  return static_cast<int>(std::count_if(grid.begin(), grid.begin() + background_and_objects,
                                        [](std::uint8_t value) { return value != 0; }));
}

TEST(no_memory_sets_more_cells_than_the_bound) {
  // Question blocks everywhere, long fire bars in every slot, hammers in all others.
  using namespace mario;
  Memory memory = playing(600, 100);
  memory[ram::kParserPage] = 4;
  memory[ram::kParserColumn] = 0;
  std::fill_n(memory.begin() + ram::kMetatiles, 2 * kTileCells, std::uint8_t{0xC0});
  Random random{3};
  int most = 0;
  for (int i = 0; i < 3000; ++i) {
    Memory changed = memory;
    for (int slot = 0; slot < ram::kEnemySlots; ++slot) {
      const auto byte = [&] { return static_cast<std::uint8_t>(random.below(256)); };
      changed[static_cast<std::size_t>(ram::kEnemyActive + slot)] = 1;
      changed[static_cast<std::size_t>(ram::kEnemyType + slot)] =
          random.below(4) == 0 ? byte() : kLongFireBar;
      changed[static_cast<std::size_t>(ram::kEnemyXPage + slot)] = 2;
      changed[static_cast<std::size_t>(ram::kEnemyX + slot)] = byte();
      changed[static_cast<std::size_t>(ram::kEnemyYPage + slot)] = 1;
      changed[static_cast<std::size_t>(ram::kEnemyY + slot)] = byte();
      changed[static_cast<std::size_t>(ram::kEnemyYSpeed + slot)] = byte();
    }
    std::vector<std::uint8_t> grid(kTileBytes);
    write_tiles(changed.data(), grid.data());
    most = std::max(most, set_cells(grid));
  }
  CHECK(most <= most_tile_cells(1));
  CHECK(most > kMostBackgroundCells);  // The background part of the bound is reached.
}

TEST(damaged_rows_are_not_sound) {
  const ActiveLayout layout(made_up_tables());
  std::vector<Index> row = random_rows(layout, 1, 3);
  CHECK(layout.is_sound(row.data()));
  const auto damaged = [&](std::size_t slot, int value) {
    std::vector<Index> copy = row;
    copy[slot] = static_cast<Index>(value);
    return !layout.is_sound(copy.data());
  };
  CHECK(damaged(0, 65535));
  CHECK(damaged(1, 65535));
  CHECK(damaged(0, static_cast<int>(layout.capacity())));
  CHECK(damaged(2, layout.inputs()));
  const std::size_t pair = ActiveRow::kHeader + row[0];
  CHECK(damaged(pair, layout.inputs()));
  CHECK(damaged(pair + 1, static_cast<int>(layout.values().size())));
}

TEST(tables_that_do_not_fit_are_refused) {
  const auto refused = [](auto change) {
    LayoutTables tables = made_up_tables();
    change(tables);
    CHECK_THROWS(ActiveLayout(tables), std::invalid_argument);
  };
  refused([](LayoutTables& t) { t.inputs = 0; });
  refused([](LayoutTables& t) { t.inputs = 70'000; });
  refused([](LayoutTables& t) { t.base.pop_back(); });
  refused([](LayoutTables& t) { t.planes.push_back(kGridPlanes); });
  refused([](LayoutTables& t) { t.cells = 4000; });
  refused([](LayoutTables& t) { t.most_cells = -1; });
  refused([](LayoutTables& t) { t.most_cells = 5000; });
  refused([](LayoutTables& t) { t.cell_values[0] = 1.0F; });
  refused([](LayoutTables& t) { t.cell_values[9] = std::numeric_limits<float>::infinity(); });
  refused([](LayoutTables& t) { t.feature_offsets.clear(); });
  refused([](LayoutTables& t) { t.feature_offsets[5] = 1 << 20; });
  refused([](LayoutTables& t) { t.feature_inputs[5] = 60'000; });
  refused([](LayoutTables& t) { t.feature_values.pop_back(); });
  refused([](LayoutTables& t) { t.maps[0].first_input += 1; });
  refused([](LayoutTables& t) { t.maps[0].rows = -1; });
  refused([](LayoutTables& t) { t.maps[0].objects[0].angle = mario::kFeatureCount; });
  refused([](LayoutTables& t) { t.maps[0].cell_pixels = 0.0F; });
  refused([](LayoutTables& t) { t.maps[0].ball_right.pop_back(); });
  refused([](LayoutTables& t) { t.maps[0].ball_down[3] = 1e9F; });
  refused([](LayoutTables& t) { t.maps[0].balls_of_type[1] = kBalls + 1; });
}

}  // namespace
