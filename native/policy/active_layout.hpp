/// The inputs of the tile network that are not zero, as a short list.
///
/// Of thousands of inputs only a few dozen tell anything at a time. So the first layer adds up
/// their rows of weights instead of multiplying through a vector of zeros. What a feature says in
/// its default state (no object there, a button not pressed) is not listed at all but part of a
/// constant vector, the base:
///
///     inputs = base + sum of the listed inputs, each times its value, in the order of the list
///
/// which is the same vector, bit by bit, as the dense encoder makes (`TileEncoder.prepare` in
/// Python). The tables come from there, so nothing is written down twice.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "policy/kernels.hpp"
#include "policy/object_map.hpp"
#include "policy/terrain_map.hpp"

namespace warpzone::policy {

/// How observations become inputs.
struct LayoutTables {
  static constexpr int kBytes = 256;

  int inputs = 0;
  std::vector<float> base;  ///< [inputs]

  int grid_planes = 0;      ///< Planes of the stacked grids, looked at or not.
  int cells = 0;            ///< Of one plane.
  std::vector<int> planes;  ///< Those looked at; the k-th begins at input k * cells.
  /// Value of each byte of a cell; 0 for byte 0.
  std::array<float, kBytes> cell_values{};
  int most_cells = 0;  ///< Cells that can be set at once.

  /// What byte b of feature f adds: entries [offsets[256 f + b], offsets[256 f + b + 1]).
  std::vector<std::int32_t> feature_offsets;
  std::vector<Index> feature_inputs;
  std::vector<float> feature_values;

  std::vector<ObjectMapTables> maps;
  std::optional<TerrainTables> terrain;
};

/// One list, as it is stored: `capacity` slots of 16 bits, of which the first ones are used.
///
///     [ones, weighted, input of each one..., (input, number of its value) of each weighted one...]
struct ActiveRow {
  const Index* ones = nullptr;
  std::size_t one_count = 0;
  const Index* pairs = nullptr;
  std::size_t pair_count = 0;

  explicit ActiveRow(const Index* row)
      : ones(row + kHeader), one_count(row[0]), pairs(ones + one_count), pair_count(row[1]) {}

  static constexpr std::size_t kHeader = 2;
};

/// Immutable; shared by any number of threads.
class ActiveLayout {
 public:
  /// Throws std::invalid_argument where tables do not fit each other.
  explicit ActiveLayout(LayoutTables tables);

  int inputs() const { return tables_.inputs; }
  /// Slots of a row. No observation that keeps to `most_cells` needs more.
  std::size_t capacity() const { return capacity_; }
  std::size_t grid_bytes() const;
  std::size_t feature_count() const { return feature_count_; }
  std::span<const float> base() const { return tables_.base; }
  /// Inputs whose base is not zero.
  std::span<const Index> base_inputs() const { return base_inputs_; }
  /// The values that entries refer to by number.
  std::span<const float> values() const { return values_; }

  /// Lists an observation: stacked grids and features, as a lane writes them. Throws
  /// std::runtime_error when more cells are set than the layout has room for.
  void write(const std::uint8_t* grids, const std::uint8_t* features, Index* row) const;

  /// Whether a row that came from outside, of so many slots, can be worked with.
  bool is_sound(const Index* row, std::size_t slots) const;
  bool is_sound(const Index* row) const { return is_sound(row, capacity_); }
  /// The dense vector that a row describes, [inputs].
  void expand(const Index* row, float* out) const;

 private:
  struct Entry {
    Index input;
    Index value;  ///< Its number among the values.
  };
  class Writer;

  void check_tables() const;
  void number_values();
  void write_cells(const std::uint8_t* grids, Writer& writer) const;

  LayoutTables tables_;
  std::vector<ObjectMap> maps_;
  std::optional<TerrainMap> terrain_;
  std::size_t feature_count_ = 0;
  std::size_t capacity_ = 0;
  std::vector<Index> base_inputs_;
  std::vector<float> values_;
  std::array<Index, LayoutTables::kBytes> cell_value_{};
  std::vector<Entry> entries_;  ///< Of the features, as in the tables.
};

}  // namespace warpzone::policy
