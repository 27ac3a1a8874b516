/// What the 64 color numbers look like.
#pragma once

#include <array>
#include <cstdint>

namespace warpzone::nes {

struct Rgb {
  std::uint8_t red, green, blue;
};

/// Colors for each of the eight settings of the emphasis bits, worked out from the composite
/// signal that the PPU produces.
using Palette = std::array<std::array<Rgb, 64>, 8>;
const Palette& palette();

/// One value (0-255) per color, for the same settings.
using PlanePalette = std::array<std::array<std::uint8_t, 64>, 8>;

/// What a plane of an image shows.
enum class Channel : std::uint8_t { kRed, kGreen, kBlue, kGrey };

/// The values of one channel; grey is brightness, by the usual weights for red, green and blue.
const PlanePalette& plane_palette(Channel channel);

}  // namespace warpzone::nes
