#include "policy/image_layers.hpp"

#include <stdexcept>
#include <string>

namespace warpzone::policy {
namespace {

/// Outputs of a convolution along one side.
int halved(int side) { return (side + 1) / 2; }

}  // namespace

ImageLayers::ImageLayers(const ImageShape& shape) : image(shape) {
  check_blocks(shape);
  rows = halved(shape.height / kBlockSide);
  columns = halved(shape.width / kBlockSide);
  if (2 * rows + 1 > kMostGroups || 2 * columns + 1 > kMostGroups) {
    throw std::invalid_argument("an image of " + std::to_string(shape.height) + " x " +
                                std::to_string(shape.width) +
                                " is too large for native convolutions; the limit is 248 x 248");
  }
  groups = shape.planes * kWindowGroups;
  pairs = halved(columns);
  pixel_rows = kWindowStep * (rows - 1) + kWindowSide;
  pixel_stride = kWindowStep * (2 * pairs - 1) + kWindowSide;
  out_rows = halved(rows);
  out_columns = halved(columns);
  grid_rows = 2 * out_rows + 1;
  grid_columns = 2 * out_columns + 1;
}

}  // namespace warpzone::policy
