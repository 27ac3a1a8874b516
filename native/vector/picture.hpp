/// From the screen to what an agent sees: grey or colour, cut, shrunk by area.
///
/// Shrinking weighs every source pixel by the area it shares with the target pixel, in whole
/// numbers, and rounds once at the end (halves up): the result does not depend on the machine.
#pragma once

#include <cstdint>
#include <vector>

#include "nes/console.hpp"
#include "vector/config.hpp"

namespace warpzone {

/// How the pixels of one axis are shared out.
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
class PictureWriter {
 public:
  PictureWriter(int height, int width, Hud hud);

  std::size_t height() const { return static_cast<std::size_t>(height_); }
  std::size_t width() const { return static_cast<std::size_t>(width_); }
  std::size_t size() const { return height() * width(); }

  /// The screen's brightness, 240 x 256; masked rows are black.
  void read_grey(const nes::Console& console, std::uint8_t* grey) const;
  /// Shrinks `grey` to height x width.
  void shrink_grey(const std::uint8_t* grey, std::uint8_t* out) const;
  /// Draws buttons into a shrunken picture: eight blocks from the upper left corner, A first, white
  /// for pressed ones and black for the others.
  void show_buttons(std::uint8_t buttons, std::uint8_t* picture) const;
  /// The screen in colour, height x width x 3, with `stride` bytes from pixel to pixel.
  void write_rgb(const nes::Console& console, std::uint8_t* out, int stride) const;

 private:
  void shrink_exactly(const std::uint8_t* grey, std::uint8_t* out) const;
  void shrink_quickly(const std::uint8_t* grey, std::uint8_t* out) const;

  int height_, width_;
  Hud hud_;
  int first_row_;
  Axis rows_, columns_;
  bool quick_;
  /// For the quick way: four weights for each target column, and its first source column.
  std::vector<std::int16_t> column_weights_;
  std::vector<std::int32_t> column_first_;
};

}  // namespace warpzone
