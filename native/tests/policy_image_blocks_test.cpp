// Images as network inputs: blocks, centring and the median, against the literal definition.
#include <algorithm>
#include <bit>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "common/random.hpp"
#include "policy/image_blocks.hpp"

namespace {

using namespace warpzone;
using namespace warpzone::policy;

using Bytes = std::vector<std::uint8_t>;

float literal(const Bytes& images, const ImageShape& shape, std::size_t image, int plane, int y,
              int x) {
  const auto at = [&](int p, int row, int column) {
    const auto index = (p * shape.height + row) * shape.width + column;
    const auto size = static_cast<std::size_t>(shape.planes * shape.height * shape.width);
    return images[image * size + static_cast<std::size_t>(index)];
  };
  Bytes seen;
  for (int row = 0; row < shape.height; row += 4) {
    for (int column = 0; column < shape.width; column += 4) {
      seen.push_back(at(shape.planes - 1, row, column));
    }
  }
  std::sort(seen.begin(), seen.end());
  return static_cast<float>(at(plane, y, x) - seen[(seen.size() - 1) / 2]) / 128.0F;
}

TEST(blocks_hold_the_centred_pixels_in_order) {
  Random random{5};
  for (const ImageShape& shape : {ImageShape{2, 12, 8}, {1, 4, 4}, {3, 8, 20}}) {
    for (const int threads : {1, 3}) {
      ImageBlocks blocks(shape, threads);
      constexpr std::size_t kCount = 19;
      Bytes images(kCount * blocks.image_size());
      for (std::uint8_t& byte : images) byte = static_cast<std::uint8_t>(random.below(256));
      std::vector<float> numbers(images.size());
      std::vector<std::uint16_t> halves(images.size());
      blocks.write(images.data(), kCount, numbers.data());
      blocks.write(images.data(), kCount, halves.data());
      std::size_t at = 0;
      for (std::size_t image = 0; image < kCount; ++image) {
        for (int y = 0; y < shape.height; y += 4) {
          for (int x = 0; x < shape.width; x += 4) {
            for (int plane = 0; plane < shape.planes; ++plane) {
              for (int pixel = 0; pixel < 16; ++pixel, ++at) {
                const float expected =
                    literal(images, shape, image, plane, y + pixel / 4, x + pixel % 4);
                CHECK_EQ(numbers[at], expected);
                CHECK_EQ(halves[at], std::bit_cast<std::uint32_t>(expected) >> 16);
              }
            }
          }
        }
      }
    }
  }
}

TEST(sides_must_be_multiples_of_four) {
  CHECK_THROWS(ImageBlocks({1, 6, 8}, 1), std::invalid_argument);
  CHECK_THROWS(ImageBlocks({1, 8, 0}, 1), std::invalid_argument);
}

}  // namespace
