/// From images to the numbers that a convolutional network takes, in one pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "common/workers.hpp"
#include "policy/image_shape.hpp"

namespace warpzone::policy {

/// Moves blocks of 4 x 4 pixels into channels and centres the bytes: zero is the background, the
/// median of every fourth pixel of the last plane, and 128 steps of grey are 1. Both are exact in
/// float32 and in bfloat16, so the result equals PyTorch's, bit by bit. Callers wait for each
/// other.
class ImageBlocks {
 public:
  /// Throws std::invalid_argument unless height and width are multiples of four.
  ImageBlocks(ImageShape shape, int threads);

  std::size_t image_size() const { return shape_.size(); }

  /// Writes `count` images, [count][height / 4][width / 4][planes * 16].
  void write(const std::uint8_t* images, std::size_t count, float* out);
  /// The same in bfloat16, given as its bits.
  void write(const std::uint8_t* images, std::size_t count, std::uint16_t* out);

 private:
  template <typename Number>
  void write_all(const std::uint8_t* images, std::size_t count, Number* out);

  ImageShape shape_;
  Workers workers_;
  std::mutex mutex_;
};

}  // namespace warpzone::policy
