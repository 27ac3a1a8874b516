#include "policy/convolution_weights.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace warpzone::policy {
namespace {

constexpr std::size_t kSquare = kTaps * kTaps;

/// Where a weight of the first convolution is in PyTorch's order, for the pixel at (row, column) of
/// a plane of the window.
std::size_t first_index(const ImageLayers& layers, int output, int plane, int row, int column) {
  const int inputs = layers.image.planes * kBlockSide * kBlockSide;
  const int input = (plane * kBlockSide + row % kBlockSide) * kBlockSide + column % kBlockSide;
  const int tap = row / kBlockSide * kTaps + column / kBlockSide;
  return static_cast<std::size_t>(output * inputs + input) * kSquare +
         static_cast<std::size_t>(tap);
}

/// Calls `use(index in PyTorch's order, pixel)` for the pixels of the window in our order.
template <typename Use>
void for_each_pixel(const ImageLayers& layers, int output, const Use& use) {
  std::size_t pixel = 0;
  for (int plane = 0; plane < layers.image.planes; ++plane) {
    for (int row = 0; row < kWindowSide; ++row) {
      for (int column = 0; column < kWindowSide; ++column, ++pixel) {
        use(first_index(layers, output, plane, row, column), pixel);
      }
    }
  }
}

/// Where a weight of the second convolution is in the order [taps][outputs][taps][inputs].
std::size_t turned_index(std::size_t output, std::size_t input, std::size_t tap) {
  return ((tap / kTaps * kChannels + output) * kTaps + tap % kTaps) * kChannels + input;
}

void add_to(AlignedFloats& sums, const AlignedFloats& others) {
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += others[i];
}

}  // namespace

float rounding_factor(float largest, double sum, int count) {
  if (!std::isfinite(sum)) return std::numeric_limits<float>::quiet_NaN();
  if (largest <= 0.0F) return 0.0F;
  // Rounding adds up to a half to each number.
  const double most = std::numeric_limits<Pair>::max() / double{kMostPixel} - 0.5 * count;
  return static_cast<float>(std::min(double{kMostRounded} / largest, 0.999 * most / sum));
}

ConvolutionWeights::ConvolutionWeights(const ImageLayers& layers)
    : layers_(layers),
      first_(layers.first_size() / 2),
      first_scale_(kChannels),
      first_bias_(kChannels),
      second_(ImageLayers::second_size()),
      second_turned_(ImageLayers::second_size()),
      second_bias_(kChannels) {}

bool ConvolutionWeights::are_new(const ConvolutionArrays& arrays) {
  const std::array<std::pair<const float*, std::size_t>, 4> parts{{
      {arrays.first, layers_.first_size()},
      {arrays.first_bias, kChannels},
      {arrays.second, ImageLayers::second_size()},
      {arrays.second_bias, kChannels},
  }};
  bool differ = last_.empty();
  last_.resize(layers_.first_size() + ImageLayers::second_size() + 2 * kChannels);
  float* last = last_.data();
  for (const auto& [from, size] : parts) {
    // Bit by bit: what is not a number equals itself.
    differ = differ || std::memcmp(last, from, size * sizeof(float)) != 0;
    last = std::copy_n(from, size, last);
  }
  return differ;
}

void ConvolutionWeights::set(const ConvolutionArrays& arrays) {
  if (!are_new(arrays)) return;
  set_first(arrays.first);
  set_second(arrays.second);
  std::copy_n(arrays.first_bias, kChannels, first_bias_.begin());
  std::copy_n(arrays.second_bias, kChannels, second_bias_.begin());
}

void ConvolutionWeights::set_first(const float* weights) {
  const int count = layers_.groups * kBlockSide;
  for (int output = 0; output < kChannels; ++output) {
    const float* own = weights + static_cast<std::size_t>(output * count);
    float largest = 0.0F;
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
      largest = std::max(largest, std::abs(own[i]));
      sum += std::abs(own[i]);
    }
    const float factor = rounding_factor(largest, sum, count);
    // 128 steps of grey are 1.
    const float scale = factor == 0.0F ? 0.0F : 1.0F / (128.0F * factor);
    first_scale_[static_cast<std::size_t>(output)] = scale;
    const bool finite = !std::isnan(factor);
    for_each_pixel(layers_, output, [&](std::size_t from, std::size_t pixel) {
      const auto rounded = static_cast<std::int16_t>(
          finite ? std::lrint(std::clamp(weights[from] * factor, -kMostRounded, kMostRounded)) : 0);
      Pair* pair = first_.data() + pixel / 2 * kChannels + static_cast<std::size_t>(output);
      std::memcpy(reinterpret_cast<char*>(pair) + pixel % 2 * sizeof rounded, &rounded,
                  sizeof rounded);
    });
  }
}

void ConvolutionWeights::set_second(const float* weights) {
  for (std::size_t output = 0; output < kChannels; ++output) {
    for (std::size_t input = 0; input < kChannels; ++input) {
      for (std::size_t tap = 0; tap < kSquare; ++tap, ++weights) {
        second_[(tap * kChannels + input) * kChannels + output] = *weights;
        second_turned_[turned_index(output, input, tap)] = *weights;
      }
    }
  }
}

ConvolutionGradients::ConvolutionGradients(const ImageLayers& layers)
    : first(layers.first_size()),
      first_bias(kChannels),
      second(ImageLayers::second_size()),
      second_bias(kChannels) {}

void ConvolutionGradients::clear() {
  for (AlignedFloats* sums : {&first, &first_bias, &second, &second_bias}) {
    std::fill(sums->begin(), sums->end(), 0.0F);
  }
}

void ConvolutionGradients::add(const ConvolutionGradients& other) {
  add_to(first, other.first);
  add_to(first_bias, other.first_bias);
  add_to(second, other.second);
  add_to(second_bias, other.second_bias);
}

void ConvolutionGradients::copy_first(const ImageLayers& layers, float* out) const {
  for (int output = 0; output < kChannels; ++output) {
    for_each_pixel(layers, output, [&](std::size_t to, std::size_t pixel) {
      out[to] = first[pixel * kChannels + static_cast<std::size_t>(output)];
    });
  }
}

void ConvolutionGradients::copy_second(float* out) const {
  for (std::size_t output = 0; output < kChannels; ++output) {
    for (std::size_t input = 0; input < kChannels; ++input) {
      for (std::size_t tap = 0; tap < kSquare; ++tap, ++out) {
        *out = second[turned_index(output, input, tap)];
      }
    }
  }
}

}  // namespace warpzone::policy
