#include "policy/slope_lists.hpp"

namespace warpzone::policy {

SlopeLists::SlopeLists(const ImageLayers& layers, const ConvolutionKernels& kernels)
    : layers_(layers),
      kernels_(kernels),
      word_count_((static_cast<std::size_t>(layers.out_positions()) + 63) / 64),
      by_position_(layers.out_size()),
      by_channel_(layers.out_size()),
      channel_bits_(static_cast<std::size_t>(layers.out_positions())),
      position_bits_(kChannels * word_count_) {}

bool SlopeLists::read(const float* out, const float* gradient) {
  return kernels_.read_slopes(layers_, {out, gradient, by_position_.data(), channel_bits_.data(),
                                        by_channel_.data(), position_bits_.data(), word_count_});
}

void SlopeLists::add_to(AlignedFloats& sums) const {
  AlignedFloats own(kChannels);
  const float* slope = by_position_.data();
  for (int i = 0; i < layers_.out_positions(); ++i) {
    for (std::size_t channel = 0; channel < kChannels; ++channel) own[channel] += *slope++;
  }
  for (std::size_t channel = 0; channel < kChannels; ++channel) sums[channel] += own[channel];
}

OutSlopes SlopeLists::slopes() const {
  return {by_position_.data(), channel_bits_.data(), by_channel_.data(), position_bits_.data(),
          word_count_};
}

}  // namespace warpzone::policy
