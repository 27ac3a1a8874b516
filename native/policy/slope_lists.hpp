/// Gradients of the second convolution's outputs for one image, and which of them are not zero.
#pragma once

#include <cstdint>
#include <vector>

#include "policy/aligned.hpp"
#include "policy/convolution_kernels.hpp"
#include "policy/image_layers.hpp"

namespace warpzone::policy {

class SlopeLists {
 public:
  SlopeLists(const ImageLayers& layers, const ConvolutionKernels& kernels);

  /// Reads the outputs of an image and their gradients, [channels][positions]. A gradient passes
  /// where the output is above zero. Returns whether any does.
  bool read(const float* out, const float* gradient);

  /// Adds the sums over all positions to [channels].
  void add_to(AlignedFloats& sums) const;

  /// Valid until the next `read`.
  OutSlopes slopes() const;

 private:
  const ImageLayers& layers_;
  const ConvolutionKernels& kernels_;
  std::size_t word_count_;
  AlignedFloats by_position_, by_channel_;
  std::vector<std::uint32_t> channel_bits_;
  std::vector<std::uint64_t> position_bits_;
};

}  // namespace warpzone::policy
