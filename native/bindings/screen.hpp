/// A console's screen as an array of its own.
#pragma once

#include <algorithm>
#include <vector>

#include "bindings/arrays.hpp"
#include "nes/console.hpp"
#include "nes/palette.hpp"

namespace warpzone::bindings {

/// The last drawn frame in color, 240 x 256 x 3.
inline OwnedArray<std::uint8_t> rgb_screen(const nes::Console& console) {
  constexpr std::size_t kHeight = nes::kScreenHeight, kWidth = nes::kScreenWidth;
  std::vector<std::uint8_t> pixels(kHeight * kWidth * 3);
  std::uint8_t* to = pixels.data();
  for (std::size_t row = 0; row < kHeight; ++row) {
    const auto& colors = nes::palette()[console.row_emphasis()[row]];
    const std::uint8_t* from = console.screen() + row * kWidth;
    for (std::size_t x = 0; x < kWidth; ++x, to += 3) {
      const nes::Rgb& rgb = colors[from[x]];
      to[0] = rgb.red;
      to[1] = rgb.green;
      to[2] = rgb.blue;
    }
  }
  return array_of(pixels.data(), {kHeight, kWidth, 3});
}

/// Every `shrink`-th of the numbers of a row. Inlined with a constant, it becomes vector code.
inline void thin_out(const std::uint8_t* from, std::size_t shrink, std::size_t count,
                     std::uint8_t* to) {
  for (std::size_t x = 0; x < count; ++x) to[x] = from[x * shrink];
}

/// Color numbers (0 to 63) of every `shrink`-th row and column of the last drawn frame, without
/// the emphasis bits, which no game here sets.
inline OwnedArray<std::uint8_t> color_numbers(const nes::Console& console, std::size_t shrink) {
  constexpr std::size_t kHeight = nes::kScreenHeight, kWidth = nes::kScreenWidth;
  const std::size_t height = (kHeight + shrink - 1) / shrink;
  const std::size_t width = (kWidth + shrink - 1) / shrink;
  std::vector<std::uint8_t> numbers(height * width);
  for (std::size_t row = 0; row < height; ++row) {
    const std::uint8_t* from = console.screen() + row * shrink * kWidth;
    std::uint8_t* to = numbers.data() + row * width;
    if (shrink == 1) {
      std::copy_n(from, width, to);
    } else if (shrink == 2) {  // As the dashboard's wall of games.
      thin_out(from, 2, width, to);
    } else {
      thin_out(from, shrink, width, to);
    }
  }
  return array_of(numbers.data(), {height, width});
}

/// Red, green and blue of every color number, 64 x 3.
inline OwnedArray<std::uint8_t> colors_of_numbers() {
  const auto& colors = nes::palette()[0];
  std::vector<std::uint8_t> parts;
  for (const nes::Rgb& rgb : colors) parts.insert(parts.end(), {rgb.red, rgb.green, rgb.blue});
  return array_of(parts.data(), {colors.size(), 3});
}

}  // namespace warpzone::bindings
