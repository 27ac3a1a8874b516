// Vectorised look-ups and expanded patterns against plain loops.
#include "check.hpp"
#include "nes/patterns.hpp"
#include "nes/pixels.hpp"
#include "nes_support.hpp"

namespace warpzone::nes {
namespace {

constexpr std::uint8_t kUntouched = 0xEE;

}  // namespace

TEST(look_up_32_writes_what_a_loop_would_and_nothing_else) {
  const Bytes table = random_bytes(32, 1);
  for (int width = 0; width <= 256; width += width < 70 ? 1 : 31) {
    for (int rows = 0; rows <= 8; rows += rows < 2 ? 1 : 6) {
      const int in_stride = width + 5, out_stride = width + 3;
      Bytes in = random_bytes(static_cast<std::size_t>(in_stride * rows + 1), 2);
      for (std::uint8_t& value : in) value &= 31;
      Bytes out(static_cast<std::size_t>(out_stride * rows + 1), kUntouched);
      Bytes expected = out;
      for (int row = 0; row < rows; ++row) {
        for (int x = 0; x < width; ++x) {
          expected[row * out_stride + x] = table[in[row * in_stride + x]];
        }
      }
      look_up_32(out.data(), out_stride, in.data(), in_stride, width, rows, table.data());
      CHECK(out == expected);
    }
  }
}

TEST(look_up_64_writes_what_a_loop_would_and_nothing_else) {
  const Bytes table = random_bytes(64, 3);
  for (int count = 0; count <= 300; ++count) {
    Bytes in = random_bytes(static_cast<std::size_t>(count), static_cast<std::uint32_t>(count));
    for (std::uint8_t& value : in) value &= 63;
    Bytes out(static_cast<std::size_t>(count) + 8, kUntouched);
    Bytes expected = out;
    for (int i = 0; i < count; ++i) expected[i] = table[in[i]];
    look_up_64(out.data(), in.data(), count, table.data());
    CHECK(out == expected);
  }
}

TEST(every_row_of_a_pattern_expands_to_its_eight_pixels) {
  int wrong = 0;
  for (int low = 0; low < 256; ++low) {
    for (int high = 0; high < 256; ++high) {
      const std::uint64_t row =
          expand_row(static_cast<std::uint8_t>(low), static_cast<std::uint8_t>(high));
      const std::uint64_t mirrored = mirror_row(row);
      for (int x = 0; x < 8; ++x) {
        const unsigned pixel = (low >> (7 - x) & 1) | (high >> (7 - x) & 1) << 1;
        wrong += (row >> (8 * x) & 0xFF) != pixel;
        wrong += (mirrored >> (8 * (7 - x)) & 0xFF) != pixel;
      }
    }
  }
  CHECK_EQ(wrong, 0);
}

TEST(a_pattern_memory_expands_row_by_row) {
  const Bytes patterns = random_bytes(0x2000, 4);
  const auto rows = expand_patterns(patterns);
  CHECK_EQ(rows.size(), std::size_t{0x1000});
  int wrong = 0;
  for (int tile = 0; tile < 512; ++tile) {
    for (int row = 0; row < 8; ++row) {
      const std::size_t at = static_cast<std::size_t>(tile * 16 + row);
      wrong += rows[tile * 8 + row] != expand_row(patterns[at], patterns[at + 8]);
    }
  }
  CHECK_EQ(wrong, 0);
  CHECK(expand_patterns({}).empty());
}

}  // namespace warpzone::nes
