#include "nes/patterns.hpp"

#include <array>

namespace warpzone::nes {
namespace {

constexpr std::array<std::uint64_t, 256> make_spread() {
  std::array<std::uint64_t, 256> table{};
  for (int bits = 0; bits < 256; ++bits) {
    for (int x = 0; x < 8; ++x) {
      if ((bits & (0x80 >> x)) != 0) table[bits] |= std::uint64_t{1} << (8 * x);
    }
  }
  return table;
}

constexpr std::array<std::uint64_t, 256> kSpread = make_spread();

}  // namespace

std::uint64_t expand_row(std::uint8_t low, std::uint8_t high) {
  return kSpread[low] | kSpread[high] << 1;
}

std::vector<std::uint64_t> expand_patterns(std::span<const std::uint8_t> patterns) {
  std::vector<std::uint64_t> rows(patterns.size() / 2);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::size_t at = (row / 8) * 16 + row % 8;
    rows[row] = expand_row(patterns[at], patterns[at + 8]);
  }
  return rows;
}

}  // namespace warpzone::nes
