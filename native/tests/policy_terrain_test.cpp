// The terrain map: which cells tiles set, and which tables are refused.
#include <algorithm>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "policy_support.hpp"

namespace {

using namespace warpzone;
using namespace warpzone::policy;

constexpr int kFirst = 100, kRows = 6, kColumns = 12;

/// Grids of 3 x 4 tiles of 16 pixels; the second of two planes is drawn. Feature 2 is Mario's
/// distance to the first column, feature 5 to the first row, both in pixels.
TerrainTables small_tables() {
  TerrainTables tables;
  tables.first_input = kFirst;
  tables.rows = kRows;
  tables.columns = kColumns;
  tables.rows_above = 2;
  tables.columns_behind = 4;
  tables.cell_height = 8;
  tables.cell_width = 4;
  tables.grid_plane = 1;
  tables.grid_rows = 3;
  tables.grid_columns = 4;
  tables.tile_pixels = 16;
  tables.x_feature = 2;
  tables.y_feature = 5;
  for (int byte = 0; byte < TerrainTables::kBytes; ++byte) {
    tables.x_pixels[static_cast<std::size_t>(byte)] = -byte;
    tables.y_pixels[static_cast<std::size_t>(byte)] = -byte;
  }
  return tables;
}

/// Cells that a tile sets, for a Mario `right` and `down` pixels from the first tile.
std::vector<int> cells_of(int row, int column, int right, int down) {
  const TerrainMap map(small_tables(), 8);
  std::vector<std::uint8_t> grids(2 * 3 * 4), features(8);
  grids[static_cast<std::size_t>(12 + row * 4 + column)] = 255;
  features[2] = static_cast<std::uint8_t>(right);
  features[5] = static_cast<std::uint8_t>(down);
  std::vector<Index> found(map.most_cells());
  const Index* end = map.write(grids.data(), features.data(), found.data());
  std::vector<int> cells;
  for (const Index* cell = found.data(); cell != end; ++cell) cells.push_back(*cell - kFirst);
  return cells;
}

TEST(a_tile_sets_the_cell_at_its_distance) {
  CHECK(cells_of(0, 0, 0, 0) == std::vector<int>{2 * kColumns + 4});
  CHECK(cells_of(0, 0, 1, 1) == std::vector<int>{1 * kColumns + 3});
  CHECK(cells_of(1, 1, 13, 8) == std::vector<int>{3 * kColumns + 4});
}

TEST(tiles_off_the_map_are_left_out) {
  CHECK(cells_of(0, 0, 17, 0).empty());
  CHECK(cells_of(0, 0, 0, 17).empty());
  CHECK(cells_of(0, 2, 0, 0).empty());
  CHECK(cells_of(2, 0, 0, 0).empty());
  CHECK(cells_of(2, 3, 30, 8) == std::vector<int>{5 * kColumns + 8});
}

TEST(other_planes_are_not_drawn) {
  const TerrainMap map(small_tables(), 8);
  std::vector<std::uint8_t> grids(2 * 3 * 4), features(8);
  std::fill_n(grids.begin(), 12, std::uint8_t{255});
  std::vector<Index> found(map.most_cells());
  CHECK(map.write(grids.data(), features.data(), found.data()) == found.data());
}

TEST(terrain_tables_that_do_not_fit_are_refused) {
  const auto refused = [](auto change) {
    TerrainTables tables = small_tables();
    change(tables);
    CHECK_THROWS(TerrainMap(tables, 8), std::invalid_argument);
  };
  refused([](TerrainTables& t) { t.x_feature = 8; });
  refused([](TerrainTables& t) { t.y_feature = -1; });
  refused([](TerrainTables& t) { t.rows = -1; });
  refused([](TerrainTables& t) { t.cell_width = 0; });
  refused([](TerrainTables& t) { t.cell_height = 17; });
  refused([](TerrainTables& t) { t.x_pixels[7] = 1 << 30; });
  const auto refused_in_layout = [](auto change) {
    LayoutTables tables = made_up_tables();
    tables.terrain = small_tables();
    tables.terrain->grid_rows = mario::kTileRows;
    tables.terrain->grid_columns = mario::kTileColumns;
    CHECK_EQ(ActiveLayout(tables).inputs(), tables.inputs);
    change(*tables.terrain);
    CHECK_THROWS(ActiveLayout(tables), std::invalid_argument);
  };
  refused_in_layout([](TerrainTables& t) { t.first_input = 65'000; });
  refused_in_layout([](TerrainTables& t) { t.grid_plane = kGridPlanes; });
  refused_in_layout([](TerrainTables& t) { t.grid_rows = 3; });
}

}  // namespace
