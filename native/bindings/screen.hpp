/// A console's screen as an array of its own.
#pragma once

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

/// Color numbers (0 to 63) of every `shrink`-th row and column of the last drawn frame, without
/// the emphasis bits, which no game here sets.
inline OwnedArray<std::uint8_t> color_numbers(const nes::Console& console, std::size_t shrink) {
  constexpr std::size_t kHeight = nes::kScreenHeight, kWidth = nes::kScreenWidth;
  const std::size_t height = (kHeight + shrink - 1) / shrink;
  const std::size_t width = (kWidth + shrink - 1) / shrink;
  std::vector<std::uint8_t> numbers(height * width);
  std::uint8_t* to = numbers.data();
  for (std::size_t row = 0; row < height; ++row) {
    const std::uint8_t* from = console.screen() + row * shrink * kWidth;
    for (std::size_t x = 0; x < width; ++x) *to++ = from[x * shrink];
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
