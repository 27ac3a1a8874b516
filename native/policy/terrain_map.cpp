#include "policy/terrain_map.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace warpzone::policy {
namespace {

[[noreturn]] void refuse(const std::string& text) { throw std::invalid_argument(text); }

std::int32_t floor_quotient(std::int32_t value, std::int32_t divisor) {
  return value >= 0 ? value / divisor : -((-value + divisor - 1) / divisor);
}

}  // namespace

TerrainMap::TerrainMap(const TerrainTables& tables, int feature_count) : tables_(tables) {
  for (const int position : {tables_.x_feature, tables_.y_feature}) {
    if (position < 0 || position >= feature_count) {
      refuse("the terrain map reads feature " + std::to_string(position) + " of " +
             std::to_string(feature_count));
    }
  }
  if (tables_.first_input < 0 || tables_.rows < 0 || tables_.columns < 0 ||
      tables_.grid_plane < 0 || tables_.grid_rows < 0 || tables_.grid_columns < 0) {
    refuse("the terrain map has a negative size");
  }
  // Cells no larger than tiles: so two tiles never share one.
  for (const int side : {tables_.cell_height, tables_.cell_width}) {
    if (side < 1 || side > tables_.tile_pixels) {
      refuse("a cell of the terrain map has " + std::to_string(side) + " pixels; a tile has " +
             std::to_string(tables_.tile_pixels));
    }
  }
  constexpr std::int32_t kMost = 1 << 20;  // Sums and products fit.
  for (const auto& table : {tables_.x_pixels, tables_.y_pixels}) {
    for (const std::int32_t pixels : table) {
      if (pixels < -kMost || pixels > kMost) {
        refuse("the terrain map has a distance of " + std::to_string(pixels) + " pixels");
      }
    }
  }
}

std::size_t TerrainMap::most_cells() const {
  return std::min(static_cast<std::size_t>(tables_.grid_rows * tables_.grid_columns),
                  static_cast<std::size_t>(size()));
}

Index* TerrainMap::write(const std::uint8_t* grids, const std::uint8_t* features,
                         Index* out) const {
  const std::uint8_t* tile = grids + static_cast<std::ptrdiff_t>(tables_.grid_plane) *
                                         tables_.grid_rows * tables_.grid_columns;
  const std::int32_t first_x = tables_.x_pixels[features[tables_.x_feature]];
  std::int32_t y = tables_.y_pixels[features[tables_.y_feature]];
  for (int i = 0; i < tables_.grid_rows; ++i, y += tables_.tile_pixels) {
    const std::int32_t row = floor_quotient(y, tables_.cell_height) + tables_.rows_above;
    if (row < 0 || row >= tables_.rows) {
      tile += tables_.grid_columns;
      continue;
    }
    std::int32_t x = first_x;
    for (int j = 0; j < tables_.grid_columns; ++j, ++tile, x += tables_.tile_pixels) {
      if (*tile == 0) continue;
      const std::int32_t column = floor_quotient(x, tables_.cell_width) + tables_.columns_behind;
      if (column < 0 || column >= tables_.columns) continue;
      *out++ = static_cast<Index>(tables_.first_input + row * tables_.columns + column);
    }
  }
  return out;
}

}  // namespace warpzone::policy
