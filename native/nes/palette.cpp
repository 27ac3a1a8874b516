#include "nes/palette.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace warpzone::nes {
namespace {

constexpr int kPhases = 12;  ///< The unit's clock divides a color cycle into twelve.

// Voltages of the low and high half of a color's wave, by brightness (color number >> 4), and the
// two levels that count as black and white.
constexpr double kLow[4] = {0.228, 0.312, 0.552, 0.880};
constexpr double kHigh[4] = {0.616, 0.840, 1.100, 1.100};
constexpr double kBlack = 0.312, kWhite = 1.100;
constexpr double kDimming = 0.746;  ///< What an emphasis bit leaves of the colors it dims.
constexpr double kGamma = 1.1;      ///< Television against computer screen.

bool in_phase(int hue, int phase) { return (hue + phase + 8) % kPhases < 6; }

double signal(int color, int emphasis, int phase) {
  const int hue = color & 0x0F;
  const int level = hue < 0x0E ? color >> 4 : 1;  // Columns E and F are black.
  double low = kLow[level], high = kHigh[level];
  if (hue == 0) low = high;
  if (hue > 12) high = low;
  const double voltage = in_phase(hue, phase) ? high : low;
  const bool dimmed = ((emphasis & 1) != 0 && in_phase(0, phase)) ||
                      ((emphasis & 2) != 0 && in_phase(4, phase)) ||
                      ((emphasis & 4) != 0 && in_phase(8, phase));
  return (voltage * (dimmed && hue < 0x0E ? kDimming : 1.0) - kBlack) / (kWhite - kBlack);
}

std::uint8_t to_byte(double value) {
  const double bounded = std::clamp(value, 0.0, 1.0);
  return static_cast<std::uint8_t>(std::lround(255.0 * std::pow(bounded, kGamma)));
}

Rgb decode(int color, int emphasis) {
  double y = 0, i = 0, q = 0;
  for (int phase = 0; phase < kPhases; ++phase) {
    const double level = signal(color, emphasis, phase) / kPhases;
    const double angle = std::numbers::pi / 6.0 * (phase + 0.2);
    y += level;
    i += level * std::cos(angle) * 1.6;
    q += level * std::sin(angle) * 1.6;
  }
  return {to_byte(y + 0.956 * i + 0.621 * q), to_byte(y - 0.272 * i - 0.647 * q),
          to_byte(y - 1.107 * i + 1.704 * q)};
}

}  // namespace

const Palette& palette() {
  static const Palette table = [] {
    Palette result{};
    for (int emphasis = 0; emphasis < 8; ++emphasis) {
      for (int color = 0; color < 64; ++color) {
        result[emphasis][color] = decode(color, emphasis);
      }
    }
    return result;
  }();
  return table;
}

const PlanePalette& plane_palette(Channel channel) {
  static const std::array<PlanePalette, 4> tables = [] {
    std::array<PlanePalette, 4> result{};
    for (int emphasis = 0; emphasis < 8; ++emphasis) {
      for (int color = 0; color < 64; ++color) {
        const Rgb rgb = palette()[emphasis][color];
        const long grey = std::lround(0.299 * rgb.red + 0.587 * rgb.green + 0.114 * rgb.blue);
        const std::uint8_t values[] = {rgb.red, rgb.green, rgb.blue,
                                       static_cast<std::uint8_t>(grey)};
        for (std::size_t i = 0; i < result.size(); ++i) result[i][emphasis][color] = values[i];
      }
    }
    return result;
  }();
  return tables[static_cast<std::size_t>(channel)];
}

}  // namespace warpzone::nes
