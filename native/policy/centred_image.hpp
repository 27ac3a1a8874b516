/// One image as integers with the background at zero, and where it differs from the background.
///
/// Most of an image is background (sky or darkness), which adds nothing to any sum. Its pixels are
/// skipped in groups of four.
#pragma once

#include <cstdint>
#include <vector>

#include "policy/convolution_kernels.hpp"
#include "policy/image_layers.hpp"

namespace warpzone::policy {

class CentredImage {
 public:
  CentredImage(const ImageLayers& layers, const ConvolutionKernels& kernels);

  /// Reads an image, [planes][height][width].
  void read(const std::uint8_t* image);

  /// Finds the groups that each window has to add; see `FirstForward`.
  void find_windows();
  /// Arranges pixels by pairs of windows, and finds those that each group has to add; see
  /// `FirstGradient`.
  void find_pairs();

  const std::int16_t* pixels() const { return pixels_.data(); }
  const std::uint64_t* windows() const { return windows_.data(); }
  const Pair* pairs() const { return pairs_.data(); }
  const std::uint32_t* offsets() const { return offsets_.data(); }
  const std::uint64_t* words() const { return words_.data(); }
  std::size_t word_count() const { return word_count_; }

 private:
  const ImageLayers& layers_;
  const ConvolutionKernels& kernels_;
  std::size_t word_count_;
  std::vector<std::int16_t> pixels_;  ///< With margins of zeros.
  /// Bits of the groups of a row, from left to right, that differ from the background.
  std::vector<std::uint64_t> rows_;
  std::vector<std::uint64_t> windows_;
  std::vector<Pair> pairs_;
  std::vector<std::uint32_t> offsets_;
  std::vector<std::uint64_t> words_;
};

}  // namespace warpzone::policy
