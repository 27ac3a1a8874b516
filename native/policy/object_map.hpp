/// The map of objects around Mario that the tile network sees (`ObjectMap` in Python), as a list of
/// cells that are set. The numbers come from Python, which remains the reference.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "policy/kernels.hpp"

namespace warpzone::policy {

/// Positions of an object's numbers among the features.
struct ObjectFeatures {
  int kind = 0, x = 0, y = 0, type = 0, angle = 0;
};

struct ObjectMapTables {
  static constexpr int kBytes = 256;

  std::vector<ObjectFeatures> objects;
  int first_input = 0;  ///< Of the map, plane after plane, row after row.
  int planes = 0, rows = 0, columns = 0;
  int columns_behind = 0, rows_above = 0;
  float cell_pixels = 1.0F;
  float unit_pixels = 1.0F;  ///< Of a distance among the features.
  float middle = 0.0F;       ///< The byte that means no distance.
  /// Plane of each kind; `planes` and above are not drawn.
  std::array<std::uint8_t, kBytes> plane_of_kind{};
  /// Balls of each type of fire bar, drawn into the first plane; 0 for all other types. A bar whose
  /// kind is 0 is not drawn.
  std::array<std::uint8_t, kBytes> balls_of_type{};
  int most_balls = 0;
  float ball_middle = 0.0F;  ///< Pixels from an object's corner to the middle of a ball.
  /// Pixels to the right and down from the first ball to each, [256 angles][most_balls].
  std::vector<float> ball_right, ball_down;
};

class ObjectMap {
 public:
  /// Throws std::invalid_argument where tables do not fit each other or `feature_count`.
  ObjectMap(ObjectMapTables tables, int feature_count);

  int size() const { return tables_.planes * tables_.rows * tables_.columns; }
  /// Most cells that `write` can set.
  std::size_t most_cells() const;
  const ObjectMapTables& tables() const { return tables_; }

  /// Writes the inputs of the cells that are set, each once; returns the end of the list.
  Index* write(const std::uint8_t* features, Index* out) const;

 private:
  class Cells;

  void draw(const ObjectFeatures& object, const std::uint8_t* features, Cells& cells) const;

  ObjectMapTables tables_;
};

}  // namespace warpzone::policy
