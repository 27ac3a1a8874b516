#include "policy/image_shape.hpp"

#include <array>
#include <stdexcept>
#include <string>

namespace warpzone::policy {

void check_blocks(const ImageShape& shape) {
  const auto fits = [](int side) { return side > 0 && side % kBlockSide == 0; };
  if (shape.planes < 1 || !fits(shape.height) || !fits(shape.width)) {
    throw std::invalid_argument("an image of " + std::to_string(shape.height) + " x " +
                                std::to_string(shape.width) +
                                " cannot be divided into blocks of 4 x 4 pixels");
  }
}

int background_of(const std::uint8_t* image, const ImageShape& shape) {
  const std::uint8_t* newest = image + (shape.planes - 1) * shape.height * shape.width;
  std::array<int, 256> counts{};
  int total = 0;
  for (int y = 0; y < shape.height; y += kBlockSide) {
    for (int x = 0; x < shape.width; x += kBlockSide, ++total)
      ++counts[newest[y * shape.width + x]];
  }
  int value = 0;
  for (int below = counts[0]; 2 * below < total + total % 2; below += counts[++value]) {
  }
  return value;
}

}  // namespace warpzone::policy
