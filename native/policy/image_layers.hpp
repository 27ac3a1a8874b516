/// Sizes of the two convolutions of the space-to-depth network, 3 x 3 with stride 2 and margin 1.
///
/// Over blocks of 4 x 4 pixels, the first one looks at windows of 12 x 12 pixels, eight apart. So
/// it can read images as they are; blocks need not be moved into channels.
#pragma once

#include <cstddef>

#include "policy/image_shape.hpp"

namespace warpzone::policy {

inline constexpr int kChannels = 32;                    ///< Of the result of either convolution.
inline constexpr int kTaps = 3;                         ///< Side of a convolution.
inline constexpr int kWindowSide = kTaps * kBlockSide;  ///< Of a window, in pixels.
inline constexpr int kWindowStep = 2 * kBlockSide;      ///< From window to window, in pixels.
/// Four pixels side by side are a group, the unit in which zeros are skipped.
inline constexpr int kWindowGroups = kWindowSide * kTaps;  ///< Of one plane of a window.
/// Widest image: one bit for each group of a row of pixels, margins included.
inline constexpr int kMostGroups = 64;

struct ImageLayers {
  /// Throws std::invalid_argument for images that cannot be divided into blocks, or larger than
  /// 248 x 248.
  explicit ImageLayers(const ImageShape& shape);

  ImageShape image;
  int groups;                   ///< Of a window, all planes: the rows of the first matrix / 4.
  int rows, columns;            ///< Outputs of the first convolution.
  int pairs;                    ///< Of neighbouring outputs in a row; the last may have one only.
  int pixel_rows;               ///< Of an image with margins.
  int pixel_stride;             ///< From row to row of such an image.
  int grid_rows, grid_columns;  ///< The same outputs with margins, the second one's input.
  int out_rows, out_columns;    ///< Outputs of the second convolution.

  int positions() const { return rows * columns; }
  int out_positions() const { return out_rows * out_columns; }
  std::size_t pixels_size() const {
    return static_cast<std::size_t>(image.planes * pixel_rows * pixel_stride);
  }
  std::size_t grid_size() const {
    return static_cast<std::size_t>(grid_rows * grid_columns * kChannels);
  }
  std::size_t out_size() const { return static_cast<std::size_t>(out_positions() * kChannels); }
  std::size_t first_size() const {
    return static_cast<std::size_t>(groups * kBlockSide * kChannels);
  }
  static constexpr std::size_t second_size() { return kTaps * kTaps * kChannels * kChannels; }
};

}  // namespace warpzone::policy
