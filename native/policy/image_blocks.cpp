#include "policy/image_blocks.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

#if defined(__x86_64__) && defined(__GNUC__)
#define WARPZONE_X86_DISPATCH 1
#define WARPZONE_INLINE __attribute__((always_inline)) inline
#else
#define WARPZONE_INLINE inline
#endif

namespace warpzone::policy {
namespace {

constexpr std::size_t kImagesPerPiece = 8;
constexpr float kScale = 1.0F / 128.0F;

/// A number of at most eight significant bits, which bfloat16 holds exactly.
template <typename Number>
WARPZONE_INLINE Number number_of(float value) {
  if constexpr (std::is_same_v<Number, float>) {
    return value;
  } else {
    return static_cast<Number>(std::bit_cast<std::uint32_t>(value) >> 16);
  }
}

template <typename Number>
WARPZONE_INLINE void write_blocks(const std::uint8_t* image, ImageShape shape, int background,
                                  Number* out) {
  const int plane = shape.height * shape.width;
  for (int y = 0; y < shape.height; y += kBlockSide) {
    for (int x = 0; x < shape.width; x += kBlockSide) {
      const std::uint8_t* corner = image + y * shape.width + x;
      for (int i = 0; i < shape.planes; ++i, corner += plane, out += kBlockSide * kBlockSide) {
        std::array<std::uint8_t, kBlockSide * kBlockSide> block;
        for (int row = 0; row < kBlockSide; ++row) {
          std::memcpy(block.data() + row * kBlockSide, corner + row * shape.width, kBlockSide);
        }
        for (std::size_t pixel = 0; pixel < block.size(); ++pixel) {
          out[pixel] =
              number_of<Number>(static_cast<float>(int{block[pixel]} - background) * kScale);
        }
      }
    }
  }
}

#if defined(WARPZONE_X86_DISPATCH)
/// The same loop, which the compiler turns into AVX2 instructions here.
template <typename Number>
__attribute__((target("avx2"))) void write_blocks_avx2(const std::uint8_t* image, ImageShape shape,
                                                       int background, Number* out) {
  write_blocks(image, shape, background, out);
}
#endif

template <typename Number>
void write_image(const std::uint8_t* image, ImageShape shape, int background, Number* out) {
#if defined(WARPZONE_X86_DISPATCH)
  static const bool has_avx2 = __builtin_cpu_supports("avx2");
  if (has_avx2) return write_blocks_avx2(image, shape, background, out);
#endif
  write_blocks(image, shape, background, out);
}

}  // namespace

ImageBlocks::ImageBlocks(ImageShape shape, int threads) : shape_(shape), workers_(threads) {
  check_blocks(shape);
}

void ImageBlocks::write(const std::uint8_t* images, std::size_t count, float* out) {
  write_all(images, count, out);
}

void ImageBlocks::write(const std::uint8_t* images, std::size_t count, std::uint16_t* out) {
  write_all(images, count, out);
}

template <typename Number>
void ImageBlocks::write_all(const std::uint8_t* images, std::size_t count, Number* out) {
  const std::scoped_lock lock(mutex_);
  const std::size_t size = image_size();
  const auto pieces = static_cast<int>((count + kImagesPerPiece - 1) / kImagesPerPiece);
  workers_.run(pieces, [&](int piece) {
    const std::size_t begin = static_cast<std::size_t>(piece) * kImagesPerPiece;
    for (std::size_t i = begin; i < std::min(count, begin + kImagesPerPiece); ++i) {
      const std::uint8_t* image = images + i * size;
      write_image(image, shape_, background_of(image, shape_), out + i * size);
    }
  });
}

}  // namespace warpzone::policy
