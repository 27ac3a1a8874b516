/// The map of solid tiles around Mario that the tile network sees (`TerrainMap` in Python), as a
/// list of cells that are set. Cells are finer than tiles: whether a jump reaches a ledge depends
/// on a few pixels. The numbers come from Python, which remains the reference.
#pragma once

#include <array>
#include <cstdint>

#include "policy/kernels.hpp"

namespace warpzone::policy {

struct TerrainTables {
  static constexpr int kBytes = 256;

  int first_input = 0;  ///< Of the map, row after row.
  int rows = 0, columns = 0;
  int rows_above = 0, columns_behind = 0;
  int cell_height = 1, cell_width = 1;          ///< In pixels.
  int grid_plane = 0;                           ///< Of the stacked grids.
  int grid_rows = 0, grid_columns = 0;          ///< Of one plane.
  int tile_pixels = 1;                          ///< Width and height of a tile.
  int x_feature = 0, y_feature = 0;             ///< Positions among the features.
  std::array<std::int32_t, kBytes> x_pixels{};  ///< Distance to the first column, by x_feature.
  std::array<std::int32_t, kBytes> y_pixels{};  ///< Distance to the first row, by y_feature.
};

class TerrainMap {
 public:
  /// Throws std::invalid_argument where tables do not fit each other or `feature_count`.
  TerrainMap(const TerrainTables& tables, int feature_count);

  int size() const { return tables_.rows * tables_.columns; }
  /// Most cells that `write` can set.
  std::size_t most_cells() const;
  const TerrainTables& tables() const { return tables_; }

  /// Writes the inputs of the cells that are set, each once; returns the end of the list.
  Index* write(const std::uint8_t* grids, const std::uint8_t* features, Index* out) const;

 private:
  TerrainTables tables_;
};

}  // namespace warpzone::policy
