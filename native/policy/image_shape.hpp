/// Images as a network gets them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace warpzone::policy {

/// A stack of planes, the newest last.
struct ImageShape {
  int planes = 0, height = 0, width = 0;

  std::size_t size() const {
    return static_cast<std::size_t>(planes) * static_cast<std::size_t>(height) *
           static_cast<std::size_t>(width);
  }
};

/// Side of the blocks of pixels that space-to-depth moves into channels.
inline constexpr int kBlockSide = 4;

/// Throws std::invalid_argument unless height and width are positive multiples of `kBlockSide`.
void check_blocks(const ImageShape& shape);

/// The median of every fourth pixel of the last plane; the lower one of two, as in PyTorch.
int background_of(const std::uint8_t* image, const ImageShape& shape);

}  // namespace warpzone::policy
