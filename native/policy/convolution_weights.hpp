/// Weights of both convolutions in the order in which the loops read them, and their gradients back
/// in PyTorch's order: [outputs][inputs][row][column], inputs of the first being [plane][y][x] of
/// a block.
#pragma once

#include <vector>

#include "policy/aligned.hpp"
#include "policy/convolution_kernels.hpp"
#include "policy/image_layers.hpp"

namespace warpzone::policy {

/// In PyTorch's order.
struct ConvolutionArrays {
  const float* first = nullptr;
  const float* first_bias = nullptr;
  const float* second = nullptr;
  const float* second_bias = nullptr;
};

/// Largest absolute value of a rounded weight or slope.
inline constexpr float kMostRounded = 32767.0F;
/// Largest absolute value of a centred pixel.
inline constexpr float kMostPixel = 255.0F;

/// The factor by which numbers can be multiplied before they are rounded, so that their sum with
/// any pixels fits into 32 bits. Not a number for numbers that are not finite.
///
/// Args: the largest absolute value, the sum of absolute values, and how many there are.
float rounding_factor(float largest, double sum, int count);

class ConvolutionWeights {
 public:
  explicit ConvolutionWeights(const ImageLayers& layers);

  /// Does nothing if the weights are those of the last call, as in all steps of a rollout.
  void set(const ConvolutionArrays& arrays);

  const Pair* first() const { return first_.data(); }
  const float* first_scale() const { return first_scale_.data(); }
  const float* first_bias() const { return first_bias_.data(); }
  const float* second() const { return second_.data(); }
  /// [taps][outputs][taps][inputs], for gradients of inputs.
  const float* second_turned() const { return second_turned_.data(); }
  const float* second_bias() const { return second_bias_.data(); }

 private:
  /// Keeps a copy of the arrays; returns whether they differ from the last ones.
  bool are_new(const ConvolutionArrays& arrays);
  void set_first(const float* weights);
  void set_second(const float* weights);

  const ImageLayers& layers_;
  std::vector<float> last_;  ///< Arrays of the last call, one after the other.
  std::vector<Pair, AlignedAllocator<Pair>> first_;
  AlignedFloats first_scale_, first_bias_, second_, second_turned_, second_bias_;
};

/// Gradients as the loops add them up; all zero at first.
class ConvolutionGradients {
 public:
  explicit ConvolutionGradients(const ImageLayers& layers);

  void clear();
  void add(const ConvolutionGradients& other);
  void copy_first(const ImageLayers& layers, float* out) const;
  void copy_second(float* out) const;

  AlignedFloats first, first_bias, second, second_bias;
};

}  // namespace warpzone::policy
