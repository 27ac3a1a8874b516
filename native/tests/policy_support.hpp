/// What the tests of the policy share: a made-up layout of the size of the real one, and random
/// observations for it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/random.hpp"
#include "mario/tile_bounds.hpp"
#include "policy/active_layout.hpp"

namespace warpzone::policy {

inline constexpr int kStack = 2;
inline constexpr int kGridPlanes = mario::kTilePlanes * kStack;
inline constexpr int kFeatureInputs = 3 * mario::kFeatureCount;
inline constexpr int kMapRows = 8, kMapColumns = 10, kMapPlanes = 2, kBalls = 4;

/// Kind 255 and 200 have a plane; type 9 is a bar whose balls lie in a row to the right.
inline ObjectMapTables made_up_map(int first_input) {
  ObjectMapTables tables;
  tables.objects = {{10, 11, 12, 13, 14}, {20, 21, 22, 23, 24}};
  tables.first_input = first_input;
  tables.planes = kMapPlanes;
  tables.rows = kMapRows;
  tables.columns = kMapColumns;
  tables.columns_behind = 3;
  tables.rows_above = 4;
  tables.cell_pixels = 8.0F;
  tables.unit_pixels = 2.0F;
  tables.middle = 128.0F;
  tables.plane_of_kind.fill(9);
  tables.plane_of_kind[255] = 0;
  tables.plane_of_kind[200] = 1;
  tables.balls_of_type[9] = kBalls;
  tables.most_balls = kBalls;
  tables.ball_middle = 4.0F;
  for (int angle = 0; angle < 256; ++angle) {
    for (int ball = 0; ball < kBalls; ++ball) {
      tables.ball_right.push_back(8.0F * static_cast<float>(ball));
      tables.ball_down.push_back(angle < 128 ? 0.0F : -8.0F * static_cast<float>(ball));
    }
  }
  return tables;
}

/// Each feature has three inputs: its number, and two that depend on which half of its range it is
/// in. Byte 0 is the default.
inline LayoutTables made_up_tables() {
  LayoutTables tables;
  tables.planes = {1, 2, 5, 6, 7, 8};
  tables.grid_planes = kGridPlanes;
  tables.cells = mario::kTileCells;
  tables.most_cells = mario::most_tile_cells(kStack);
  for (std::size_t byte = 0; byte < 256; ++byte) {
    tables.cell_values[byte] = static_cast<float>(byte) / 255.0F;
  }
  const int first = static_cast<int>(tables.planes.size()) * tables.cells;
  tables.inputs = first + kFeatureInputs + kMapPlanes * kMapRows * kMapColumns;
  tables.base.assign(static_cast<std::size_t>(tables.inputs), 0.0F);
  tables.feature_offsets = {0};
  const auto add = [&](int input, float value) {
    tables.feature_inputs.push_back(static_cast<Index>(input));
    tables.feature_values.push_back(value);
  };
  for (int feature = 0; feature < mario::kFeatureCount; ++feature) {
    const int input = first + 3 * feature;
    tables.base[static_cast<std::size_t>(input)] = -2.0F;
    tables.base[static_cast<std::size_t>(input) + 1] = 1.0F;
    for (int byte = 0; byte < 256; ++byte) {
      if (byte != 0) add(input, static_cast<float>(byte) / 64.0F);
      if (byte >= 128) {
        add(input + 1, -1.0F);
        add(input + 2, 1.0F);
      }
      tables.feature_offsets.push_back(static_cast<std::int32_t>(tables.feature_inputs.size()));
    }
  }
  tables.maps = {made_up_map(first + kFeatureInputs)};
  return tables;
}

inline std::shared_ptr<const ActiveLayout> made_up_layout() {
  return std::make_shared<const ActiveLayout>(made_up_tables());
}

struct RandomObs {
  std::vector<std::uint8_t> grids = std::vector<std::uint8_t>(kGridPlanes * mario::kTileCells);
  std::vector<std::uint8_t> features = std::vector<std::uint8_t>(mario::kFeatureCount);
};

inline RandomObs random_obs(Random& random) {
  RandomObs obs;
  for (std::uint8_t& cell : obs.grids) {
    if (random.below(20) == 0) cell = random.below(3) == 0 ? 128 : 255;
  }
  for (std::uint8_t& feature : obs.features) {
    if (random.below(3) == 0) feature = static_cast<std::uint8_t>(random.below(256));
  }
  return obs;
}

/// Lists of random observations, [count, capacity].
inline std::vector<Index> random_rows(const ActiveLayout& layout, std::size_t count,
                                      std::uint64_t seed) {
  Random random{seed};
  std::vector<Index> rows(count * layout.capacity());
  for (std::size_t i = 0; i < count; ++i) {
    const RandomObs obs = random_obs(random);
    layout.write(obs.grids.data(), obs.features.data(), rows.data() + i * layout.capacity());
  }
  return rows;
}

inline std::vector<float> random_floats(std::size_t count, std::uint64_t seed) {
  Random random{seed};
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(2.0 * random.uniform() - 1.0);
  return values;
}

}  // namespace warpzone::policy
