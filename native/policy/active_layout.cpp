#include "policy/active_layout.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

namespace warpzone::policy {
namespace {

constexpr std::size_t kBytes = LayoutTables::kBytes;
/// Pairs that are gathered before their place in the row is known.
constexpr std::size_t kMostPairs = 4096;
constexpr int kMostInputs = 1 << 16;

[[noreturn]] void refuse(const std::string& text) { throw std::invalid_argument(text); }

}  // namespace

/// Writes one row: ones at once, pairs when all ones are known.
class ActiveLayout::Writer {
 public:
  Writer(const ActiveLayout& layout, Index* row)
      : row_(row), one_(row + ActiveRow::kHeader), cells_left_(layout.tables_.most_cells) {}

  void add(Entry entry) {
    if (entry.value == 0) {
      *one_++ = entry.input;
    } else {
      pairs_[pair_count_++] = entry;
    }
  }
  void add_cell(Entry entry) {
    if (cells_left_-- == 0) {
      throw std::runtime_error("more cells of the tile grid are set than a list has room for");
    }
    add(entry);
  }
  void add_map(const ObjectMap& map, const std::uint8_t* features) {
    one_ = map.write(features, one_);
  }
  void add_terrain(const TerrainMap& map, const std::uint8_t* grids, const std::uint8_t* features) {
    one_ = map.write(grids, features, one_);
  }
  void finish() {
    row_[0] = static_cast<Index>(one_ - row_ - static_cast<std::ptrdiff_t>(ActiveRow::kHeader));
    row_[1] = static_cast<Index>(pair_count_);
    static_assert(sizeof(Entry) == 2 * sizeof(Index));
    if (pair_count_ > 0) std::memcpy(one_, pairs_, pair_count_ * sizeof(Entry));
  }

 private:
  Index* row_;
  Index* one_;
  int cells_left_;
  std::size_t pair_count_ = 0;
  Entry pairs_[kMostPairs];  // Not initialised: that would take longer than all the rest.
};

ActiveLayout::ActiveLayout(LayoutTables tables)
    : tables_(std::move(tables)), feature_count_(tables_.feature_offsets.size() / kBytes) {
  for (const ObjectMapTables& map : tables_.maps) {
    maps_.emplace_back(map, static_cast<int>(feature_count_));
  }
  if (tables_.terrain) terrain_.emplace(*tables_.terrain, static_cast<int>(feature_count_));
  check_tables();
  for (int input = 0; input < tables_.inputs; ++input) {
    if (tables_.base[static_cast<std::size_t>(input)] != 0.0F) {
      base_inputs_.push_back(static_cast<Index>(input));
    }
  }
  number_values();
  // Each feature at its longest, wherever its entries go.
  std::size_t most_entries = 0;
  for (std::size_t feature = 0; feature < feature_count_; ++feature) {
    const auto* offset = tables_.feature_offsets.data() + feature * kBytes;
    std::int32_t most = 0;
    for (std::size_t byte = 0; byte < kBytes; ++byte) {
      most = std::max(most, offset[byte + 1] - offset[byte]);
    }
    most_entries += static_cast<std::size_t>(most);
  }
  const std::size_t pairs = static_cast<std::size_t>(tables_.most_cells) + most_entries;
  if (pairs > kMostPairs) {
    refuse("a list can have " + std::to_string(pairs) + " weighted inputs; it must be at most " +
           std::to_string(kMostPairs));
  }
  capacity_ = ActiveRow::kHeader + 2 * pairs;
  for (const ObjectMap& map : maps_) capacity_ += map.most_cells();
  if (terrain_) capacity_ += terrain_->most_cells();
}

void ActiveLayout::check_tables() const {
  const auto& offsets = tables_.feature_offsets;
  if (tables_.inputs < 1 || tables_.inputs > kMostInputs) {
    refuse("there are " + std::to_string(tables_.inputs) + " inputs; it must be from 1 to " +
           std::to_string(kMostInputs));
  }
  const auto inputs = static_cast<std::size_t>(tables_.inputs);
  if (tables_.base.size() != inputs) refuse("base needs one number for each input");
  if (tables_.cells < 0 || tables_.grid_planes < 0 || tables_.most_cells < 0) {
    refuse("the tile grid has a negative size");
  }
  for (const int plane : tables_.planes) {
    if (plane < 0 || plane >= tables_.grid_planes) {
      refuse("plane " + std::to_string(plane) + " is not one of the " +
             std::to_string(tables_.grid_planes) + " of the tile grid");
    }
  }
  if (tables_.planes.size() * static_cast<std::size_t>(tables_.cells) > inputs) {
    refuse("the tile grid has more cells than there are inputs");
  }
  if (tables_.cell_values[0] != 0.0F) refuse("an empty cell has a value");
  if (offsets.size() % kBytes != 1 || offsets.front() != 0 ||
      !std::is_sorted(offsets.begin(), offsets.end()) ||
      static_cast<std::size_t>(offsets.back()) != tables_.feature_inputs.size() ||
      tables_.feature_inputs.size() != tables_.feature_values.size()) {
    refuse("the tables of the features do not fit each other");
  }
  for (const Index input : tables_.feature_inputs) {
    if (input >= inputs) refuse("a feature goes to input " + std::to_string(input));
  }
  for (const ObjectMap& map : maps_) {
    if (static_cast<std::size_t>(map.tables().first_input + map.size()) > inputs) {
      refuse("an object map has more cells than there are inputs");
    }
  }
  if (terrain_) {
    const TerrainTables& terrain = terrain_->tables();
    if (static_cast<std::size_t>(terrain.first_input + terrain_->size()) > inputs) {
      refuse("the terrain map has more cells than there are inputs");
    }
    if (terrain.grid_plane >= tables_.grid_planes ||
        terrain.grid_rows * terrain.grid_columns != tables_.cells) {
      refuse("the terrain map reads another tile grid");
    }
  }
}

void ActiveLayout::number_values() {
  values_ = {1.0F};  // Number 0: entries with it go to the ones.
  std::map<float, std::size_t> numbers = {{1.0F, 0}};
  const auto number_of = [&](float value) {
    if (!std::isfinite(value)) refuse("the value of an input is not finite");
    const auto [entry, fresh] = numbers.try_emplace(value, values_.size());
    if (fresh) values_.push_back(value);
    if (entry->second >= static_cast<std::size_t>(kMostInputs)) {
      refuse("inputs have too many different values");
    }
    return static_cast<Index>(entry->second);
  };
  for (std::size_t byte = 1; byte < kBytes; ++byte) {
    cell_value_[byte] = number_of(tables_.cell_values[byte]);
  }
  for (std::size_t i = 0; i < tables_.feature_inputs.size(); ++i) {
    entries_.push_back({tables_.feature_inputs[i], number_of(tables_.feature_values[i])});
  }
}

std::size_t ActiveLayout::grid_bytes() const {
  return static_cast<std::size_t>(tables_.grid_planes) * static_cast<std::size_t>(tables_.cells);
}

void ActiveLayout::write_cells(const std::uint8_t* grids, Writer& writer) const {
  using Word = std::uint64_t;
  const auto cells = static_cast<std::size_t>(tables_.cells);
  std::size_t first_input = 0;
  for (const int plane : tables_.planes) {
    const std::uint8_t* grid = grids + static_cast<std::size_t>(plane) * cells;
    std::size_t cell = 0;
    while (cell < cells) {
      // Most cells are empty: eight at a time.
      Word word = 0;
      if (cell + sizeof word <= cells) {
        std::memcpy(&word, grid + cell, sizeof word);
        if (word == 0) {
          cell += sizeof word;
          continue;
        }
      }
      const std::size_t end = std::min(cells, cell + sizeof word);
      for (; cell < end; ++cell) {
        if (grid[cell] == 0) continue;
        writer.add_cell({static_cast<Index>(first_input + cell), cell_value_[grid[cell]]});
      }
    }
    first_input += cells;
  }
}

void ActiveLayout::write(const std::uint8_t* grids, const std::uint8_t* features,
                         Index* row) const {
  Writer writer(*this, row);
  write_cells(grids, writer);
  for (std::size_t feature = 0; feature < feature_count_; ++feature) {
    const std::int32_t* offset =
        tables_.feature_offsets.data() + feature * kBytes + features[feature];
    for (std::int32_t i = offset[0]; i < offset[1]; ++i) {
      writer.add(entries_[static_cast<std::size_t>(i)]);
    }
  }
  for (const ObjectMap& map : maps_) writer.add_map(map, features);
  if (terrain_) writer.add_terrain(*terrain_, grids, features);
  writer.finish();
}

bool ActiveLayout::is_sound(const Index* row, std::size_t slots) const {
  if (slots < ActiveRow::kHeader) return false;
  const std::size_t ones = row[0], pairs = row[1];
  if (ActiveRow::kHeader + ones + 2 * pairs > std::min(slots, capacity_)) return false;
  const ActiveRow list(row);
  const auto inputs = static_cast<std::size_t>(tables_.inputs);
  bool sound = true;  // Without branches, so that it is done many at a time.
  for (std::size_t i = 0; i < ones; ++i) sound &= list.ones[i] < inputs;
  for (std::size_t i = 0; i < pairs; ++i) {
    sound &= list.pairs[2 * i] < inputs && list.pairs[2 * i + 1] < values_.size();
  }
  return sound;
}

void ActiveLayout::expand(const Index* row, float* out) const {
  std::copy(tables_.base.begin(), tables_.base.end(), out);
  const ActiveRow list(row);
  for (std::size_t i = 0; i < list.one_count; ++i) out[list.ones[i]] += 1.0F;
  for (std::size_t i = 0; i < list.pair_count; ++i) {
    out[list.pairs[2 * i]] += values_[list.pairs[2 * i + 1]];
  }
}

}  // namespace warpzone::policy
