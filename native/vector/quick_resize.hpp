/// Resizing by area with the processor's vector instructions, chosen at run time.
#pragma once

#include <cstdint>
#include <vector>

namespace warpzone {

struct Axis;

inline constexpr int kResizeGroup = 8;

/// How eight target pixels, as four pairs, are gathered from column sums: each pair from eight
/// neighbouring sums, by shuffling their bytes.
struct ResizeGroup {
  std::int32_t first[kResizeGroup / 2];
  alignas(32) std::uint8_t shuffles[2][32];  ///< Of pairs 0 and 2, and of pairs 1 and 3.
  alignas(32) std::int16_t weights[2][16];
};

/// For target pixels that lie over at most four source pixels on each axis. Gives the same bytes
/// as the exact sums.
class QuickResize {
 public:
  /// Whether such sums fit: those of columns into 15 bits, and the rounding into a float.
  static bool fits(const Axis& rows, const Axis& columns);
  /// Both axes must fit. `columns` are as many as the screen's.
  QuickResize(const Axis& rows, const Axis& columns);

  void run(const std::uint8_t* plane, std::uint8_t* out) const;

 private:
  static constexpr int kTaps = 4;

  /// Four source rows and their weights; those that are not needed weigh nothing.
  struct Row {
    std::int32_t first[kTaps];  ///< Offsets of the rows in the plane.
    std::int16_t weights[kTaps];
  };
  void add_groups();
  void sum_columns(const Row& row, const std::uint8_t* plane, std::int16_t* sums) const;
  void write_row(const std::int16_t* sums, std::uint8_t* out) const;
  void run_avx2(const std::uint8_t* plane, std::uint8_t* out) const;

  int width_;
  float scale_;
  std::vector<Row> rows_;
  std::vector<std::int32_t> column_first_;
  std::vector<std::int16_t> column_weights_;  ///< Four per target column.
  std::vector<ResizeGroup> groups_;
};

}  // namespace warpzone
