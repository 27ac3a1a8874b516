/// From the screen to the images of an observation: planes of bytes, cropped and resized.
///
/// Resizing is by area, downwards and upwards alike: a target pixel is the mean of the source
/// pixels under it, each weighted by the area that both share. Sums are whole numbers and are
/// rounded once at the end (halves up), so the result does not depend on the machine.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "nes/console.hpp"
#include "nes/palette.hpp"
#include "vector/config.hpp"
#include "vector/quick_resize.hpp"

namespace warpzone {

/// Which source pixels lie under each target pixel of one axis, and with what weight.
struct Axis {
  struct Span {
    std::int32_t first = 0;   ///< First source pixel.
    std::int32_t offset = 0;  ///< Of its weight in `weights`.
    std::int32_t count = 0;
  };
  Axis(int source, int target);

  int total = 0;  ///< Sum of the weights of each target pixel.
  int most = 0;   ///< Largest `count`.
  std::vector<Span> spans;
  std::vector<std::int32_t> weights;
};

/// Immutable; shared by all lanes.
class ImageWriter {
 public:
  ImageWriter(int height, int width, Hud hud);

  std::size_t height() const { return static_cast<std::size_t>(height_); }
  std::size_t width() const { return static_cast<std::size_t>(width_); }
  std::size_t size() const { return height() * width(); }

  /// One channel of the whole screen, 240 x 256; masked rows are black.
  void read_plane(const nes::Console& console, nes::Channel channel, std::uint8_t* plane) const;
  /// Crops such a plane and resizes it to height x width.
  void resize(const std::uint8_t* plane, std::uint8_t* out) const;
  /// Draws buttons into a resized plane: eight blocks from the upper left corner, A first, white
  /// for pressed ones and black for the others.
  void show_buttons(std::uint8_t buttons, std::uint8_t* image) const;

 private:
  void resize_exactly(const std::uint8_t* plane, std::uint8_t* out) const;

  int height_, width_;
  Hud hud_;
  int first_row_;
  Axis rows_, columns_;
  std::optional<QuickResize> quick_;  ///< Where the sizes allow it.
};

}  // namespace warpzone
