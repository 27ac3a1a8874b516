/// Pattern memory turned into rows that can be drawn eight pixels at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace warpzone::nes {

/// Eight pixels (values 0-3), the leftmost in the lowest byte, from the two bit planes of a row.
std::uint64_t expand_row(std::uint8_t low, std::uint8_t high);

/// The same eight pixels from right to left.
inline std::uint64_t mirror_row(std::uint64_t row) {
  // Compilers know this as one byte swap.
  row = (row & 0x00FF00FF00FF00FFULL) << 8 | (row >> 8 & 0x00FF00FF00FF00FFULL);
  row = (row & 0x0000FFFF0000FFFFULL) << 16 | (row >> 16 & 0x0000FFFF0000FFFFULL);
  return row << 32 | row >> 32;
}

/// All rows of a pattern memory: row r of tile n stands at index n * 8 + r.
std::vector<std::uint64_t> expand_patterns(std::span<const std::uint8_t> patterns);

}  // namespace warpzone::nes
