/// The inner loops of convolutions over one image, for one instruction set each.
///
/// The first convolution computes with integers of 16 bits: pixels are integers anyway, and weights
/// and slopes (gradients of its outputs) are rounded to 15 bits and a sign. Processors multiply
/// twice as many of them per instruction, and integers add up to the same sum in any order. Two
/// numbers that are multiplied and added together are a `Pair`.
///
/// The second convolution computes with floats. Because of the ReLU, about half of the gradients of
/// its outputs are zero, so its gradients are sums of weighted rows over those that are not.
#pragma once

#include <cstddef>
#include <cstdint>

#include "policy/image_layers.hpp"

namespace warpzone::policy {

/// Two integers of 16 bits as they lie in memory.
using Pair = std::int32_t;

/// Outputs of the first convolution, rectified, into the grid.
struct FirstForward {
  const std::int16_t* pixels;    ///< [planes][pixel_rows][pixel_stride]
  const std::uint64_t* windows;  ///< [rows][columns][planes]: bits of groups that have to be added
  const Pair* weights;           ///< [groups][pairs of pixels][channels]
  const float* scale;            ///< [channels], of the sums
  const float* bias;             ///< [channels]
  float* grid;                   ///< [grid_rows][grid_columns][channels]; margins are left alone
};

/// Adds to the gradient of the first convolution's weights. Two neighbouring windows are a pair.
struct FirstGradient {
  const Pair* pixels;            ///< [planes][pixel_rows][pairs][kWindowSide]
  const std::uint32_t* offsets;  ///< [rows][pairs]: from the first window's pixels
  const std::uint64_t* words;    ///< [groups][word_count]: bits of pairs that have to be added
  std::size_t word_count;
  const Pair* slopes;  ///< [rows][pairs][channels]
  float scale;         ///< Of the sums.
  float* gradient;     ///< [groups][kBlockSide][channels]
};

/// out[i][c] += sum over k of inputs[i][k] * weights[k][c], for i < count and all channels c.
struct Products {
  const float* inputs;
  std::size_t input_step;  ///< From input to input.
  const float* weights;    ///< [depth][channels]
  std::size_t depth;
  float* out;
  std::size_t out_step;
  std::size_t count;
};

/// Reads the gradients of the second convolution's outputs; see `OutSlopes`.
struct SlopeReading {
  const float* out;       ///< [outputs][out_rows][out_columns]
  const float* gradient;  ///< Of the same.
  float* by_position;
  std::uint32_t* channels;
  float* by_channel;
  std::uint64_t* positions;
  std::size_t word_count;
};

/// Gradients of the second convolution's outputs (slopes), in both orders.
struct OutSlopes {
  const float* by_position;        ///< [out_rows][out_columns][outputs]
  const std::uint32_t* channels;   ///< [out_rows][out_columns]: bits of nonzero slopes
  const float* by_channel;         ///< [outputs][out_rows][out_columns]
  const std::uint64_t* positions;  ///< [outputs][word_count]: bits of nonzero slopes
  std::size_t word_count;
};

/// Adds to the gradient of the second convolution's weights, [taps][outputs][taps][inputs].
struct SecondGradient {
  OutSlopes slopes;
  const float* grid;
  const std::uint32_t* corners;  ///< [out_rows][out_columns]: from the grid to the first input
  float* gradient;
};

/// Adds to the gradient of the second convolution's inputs.
struct GridGradient {
  OutSlopes slopes;
  const float* weights;          ///< [taps][outputs][taps][inputs]
  const std::uint32_t* corners;  ///< As above.
  float* gradient;               ///< [grid_rows][grid_columns][channels]
};

/// Gradients of the first convolution's outputs, which become zero where the output is zero.
struct GridSlopes {
  const float* grid;
  float* slopes;  ///< Of the whole grid.
  float* sums;    ///< [channels]: sums over the image are added.
};

struct ConvolutionKernels {
  /// Subtracts the background from a row of pixels; returns bits of the groups that differ from it.
  std::uint64_t (*read_row)(const std::uint8_t* from, std::size_t width, int background,
                            std::int16_t* to);
  /// Arranges pixels of a row by pairs of windows, [pairs][kWindowSide], those of `bits` only.
  void (*arrange_pairs)(const std::int16_t* row, std::uint64_t bits, Pair* to);
  void (*first_forward)(const ImageLayers& layers, const FirstForward& work);
  void (*first_gradient)(const ImageLayers& layers, const FirstGradient& work);
  void (*add_products)(const Products& work);
  /// Returns whether any gradient passes.
  bool (*read_slopes)(const ImageLayers& layers, const SlopeReading& work);
  void (*second_gradient)(const ImageLayers& layers, const SecondGradient& work);
  void (*grid_gradient)(const ImageLayers& layers, const GridGradient& work);
  /// Returns the largest absolute value.
  float (*rectify_slopes)(const ImageLayers& layers, const GridSlopes& work);
  /// Rounds slopes times `factor` to pairs, [rows][pairs][channels].
  void (*round_slopes)(const ImageLayers& layers, const float* slopes, float factor, Pair* out);
};

}  // namespace warpzone::policy
