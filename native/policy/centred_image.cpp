#include "policy/centred_image.hpp"

#include <algorithm>
#include <array>

namespace warpzone::policy {
namespace {

std::size_t index(int value) { return static_cast<std::size_t>(value); }

/// Moves bits 0, 4, 8, ... together.
std::uint64_t every_fourth_bit(std::uint64_t bits) {
  bits &= 0x1111111111111111;
  bits = (bits | bits >> 3) & 0x0303030303030303;
  bits = (bits | bits >> 6) & 0x000F000F000F000F;
  bits = (bits | bits >> 12) & 0x000000FF000000FF;
  return (bits | bits >> 24) & 0xFFFF;
}

}  // namespace

CentredImage::CentredImage(const ImageLayers& layers, const ConvolutionKernels& kernels)
    : layers_(layers),
      kernels_(kernels),
      word_count_(index(layers.rows * layers.pairs + 63) / 64),
      pixels_(layers.pixels_size()),
      rows_(index(layers.image.planes * layers.pixel_rows)),
      windows_(index(layers.positions() * layers.image.planes)),
      pairs_(rows_.size() * index(layers.pairs * kWindowSide)),
      words_(index(layers.groups) * word_count_) {
  for (int row = 0; row < layers.rows; ++row) {
    for (int pair = 0; pair < layers.pairs; ++pair) {
      offsets_.push_back(
          static_cast<std::uint32_t>((row * kWindowStep * layers.pairs + pair) * kWindowSide));
    }
  }
}

void CentredImage::read(const std::uint8_t* image) {
  const ImageShape& shape = layers_.image;
  const int background = background_of(image, shape);
  for (int plane = 0; plane < shape.planes; ++plane) {
    const std::size_t first = index(plane * layers_.pixel_rows + kBlockSide);
    for (int y = 0; y < shape.height; ++y, image += shape.width) {
      const std::size_t row = first + index(y);
      std::int16_t* to = pixels_.data() + row * index(layers_.pixel_stride) + kBlockSide;
      // The margin is one group wide.
      rows_[row] = kernels_.read_row(image, index(shape.width), background, to) << 1;
    }
  }
}

void CentredImage::find_windows() {
  const std::size_t planes = index(layers_.image.planes);
  std::uint64_t* window = windows_.data();
  for (int row = 0; row < layers_.rows; ++row) {
    for (int column = 0; column < layers_.columns; ++column) {
      for (std::size_t plane = 0; plane < planes; ++plane, ++window) {
        const std::uint64_t* rows =
            rows_.data() + plane * index(layers_.pixel_rows) + index(row * kWindowStep);
        std::uint64_t bits = 0;
        for (int i = 0; i < kWindowSide; ++i) bits |= (rows[i] >> (2 * column) & 7) << (kTaps * i);
        *window = bits;
      }
    }
  }
}

void CentredImage::find_pairs() {
  std::fill(words_.begin(), words_.end(), 0);
  const std::uint64_t all_pairs = (std::uint64_t{1} << layers_.pairs) - 1;
  for (int plane = 0; plane < layers_.image.planes; ++plane) {
    for (int y = 0; y < layers_.pixel_rows; ++y) {
      const std::size_t row = index(plane * layers_.pixel_rows + y);
      if (rows_[row] == 0) continue;
      std::array<std::uint64_t, kTaps> taps;  // Bits of the pairs that have to add this row.
      for (int tap = 0; tap < kTaps; ++tap) {
        const std::uint64_t groups = rows_[row] >> tap;
        taps[index(tap)] = every_fourth_bit(groups | groups >> 2) & all_pairs;
      }
      kernels_.arrange_pairs(pixels_.data() + row * index(layers_.pixel_stride),
                             taps[0] | taps[1] | taps[2],
                             pairs_.data() + row * index(layers_.pairs * kWindowSide));
      // Windows that contain the row: at most two, which see it at different heights.
      for (int window = std::max(0, (y - kWindowSide + kWindowStep) / kWindowStep);
           window <= std::min(layers_.rows - 1, y / kWindowStep); ++window) {
        const int group = plane * kWindowGroups + (y - window * kWindowStep) * kTaps;
        const std::size_t bit = index(window * layers_.pairs);
        for (int tap = 0; tap < kTaps; ++tap) {
          std::uint64_t* word = words_.data() + index(group + tap) * word_count_ + bit / 64;
          const std::uint64_t bits = taps[index(tap)];
          word[0] |= bits << bit % 64;
          // No more than 16 pairs are in a row.
          if (bit % 64 > 48 && bits >> (64 - bit % 64) != 0) word[1] |= bits >> (64 - bit % 64);
        }
      }
    }
  }
}

}  // namespace warpzone::policy
