/// The inner loops of this folder, in the widest instructions that the processor has: sums of
/// weighted rows of a matrix, Adam, and convolutions.
///
/// The same sources (sum_rows.hpp, adam_rows.hpp, convolution_loops.hpp) are compiled once for each
/// instruction set, and the choice is made when the program runs, so that one build serves all
/// machines. Every column is summed in the order of the list, whatever the instructions: levels
/// differ only in whether a product is rounded before it is added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "policy/convolution_kernels.hpp"

namespace warpzone::policy {

/// Number of a row.
using Index = std::uint16_t;

/// Rows to add up: first those that count once, then those with a weight of their own.
struct RowList {
  const Index* ones = nullptr;
  std::size_t one_count = 0;
  const Index* weighted = nullptr;
  const float* weights = nullptr;
  std::size_t weighted_count = 0;
};

/// Rows of floats, `stride` apart.
struct Rows {
  const float* data = nullptr;
  std::size_t stride = 0;
};

/// out[j] = start[j] + sum of rows[ones[k]][j] + sum of weights[k] * rows[weighted[k]][j], for all
/// j < width. A null `start` means zeros; it may be `out` itself.
using SumRows = void (*)(const RowList& list, const Rows& rows, std::size_t width,
                         const float* start, float* out);

/// One step of Adam, as far as it is the same for all weights.
struct AdamStep {
  float rate = 0.0F;  ///< Learning rate, corrected for the bias of the mean.
  float beta1 = 0.9F, beta2 = 0.999F;
  float correction = 1.0F;  ///< Factor on the root of the mean square, for its bias.
  float epsilon = 1e-8F;
  float scale = 1.0F;  ///< Factor on the gradient.
};

/// Sum of the squares of a row; tells whether all of it is zero, however small the squares are.
using SumSquares = float (*)(const float* row, std::size_t width, bool* all_zero);

/// Applies the gradient of a row to its weights and its moments.
using AdamRow = void (*)(const AdamStep& step, const float* gradient, std::size_t width,
                         float* weight, float* mean, float* square);

struct Kernels {
  const char* name;
  SumRows sum_rows;
  SumSquares sum_squares;
  AdamRow adam_row;
  ConvolutionKernels convolutions;
};

/// Those that this processor can run, the slowest first.
std::span<const Kernels> available_kernels();

/// By name, or the fastest for "auto". Throws std::invalid_argument and lists what there is.
const Kernels& kernels_named(const std::string& name);

}  // namespace warpzone::policy
