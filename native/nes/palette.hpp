/// What the 64 colour numbers look like.
#pragma once

#include <array>
#include <cstdint>

namespace warpzone::nes {

struct Rgb {
  std::uint8_t red, green, blue;
};

/// Colours for each of the eight settings of the emphasis bits, worked out from the composite
/// signal that the picture unit produces.
using Palette = std::array<std::array<Rgb, 64>, 8>;
const Palette& palette();

/// Brightness of the same colours (0-255), by the usual weights for red, green and blue.
using GreyPalette = std::array<std::array<std::uint8_t, 64>, 8>;
const GreyPalette& grey_palette();

}  // namespace warpzone::nes
