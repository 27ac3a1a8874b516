/// Adam and sums of squares over single rows, for the compiler to turn into vectors. Included only
/// by the files that compile it for one instruction set each; see sum_rows.hpp for why nothing here
/// may be visible elsewhere.
#pragma once

#include "policy/kernels.hpp"
#include "policy/sum_rows.hpp"

namespace warpzone::policy {
namespace {

inline float square_root(float value) {
#if defined(__GNUC__)
  return __builtin_sqrtf(value);
#else
  return std::sqrt(value);
#endif
}

bool is_zero(const float* row, std::size_t width) {
  int others = 0;  // An integer, so that the loop can be vectors.
  for (std::size_t j = 0; j < width; ++j) others += row[j] != 0.0F ? 1 : 0;
  return others == 0;
}

/// Four vectors are summed side by side.
template <int kWidth>
float sum_squares(const float* row, std::size_t width, bool* all_zero) {
  using Type = typename Vector<kWidth>::Type;
  constexpr std::size_t kCount = 4, kColumns = kCount * kWidth;
  Type sums[kCount] = {};
  std::size_t column = 0;
  for (; column + kColumns <= width; column += kColumns) {
    for (std::size_t i = 0; i < kCount; ++i) {
      const Type values = *reinterpret_cast<const Type*>(row + column + i * kWidth);
      sums[i] += values * values;
    }
  }
  float lanes[kColumns];
  for (std::size_t i = 0; i < kCount; ++i) *reinterpret_cast<Type*>(lanes + i * kWidth) = sums[i];
  float total = 0.0F;
  for (const float lane : lanes) total += lane;
  for (; column < width; ++column) total += row[column] * row[column];
  // Squares of small numbers may be zero where the numbers are not.
  *all_zero = total == 0.0F && is_zero(row, width);
  return total;
}

void adam_row(const AdamStep& step, const float* __restrict gradient, std::size_t width,
              float* __restrict weight, float* __restrict mean, float* __restrict square) {
  const float keep_mean = step.beta1, keep_square = step.beta2;
  const float add_mean = 1.0F - keep_mean, add_square = 1.0F - keep_square;
  for (std::size_t j = 0; j < width; ++j) {
    const float slope = step.scale * gradient[j];
    const float first = keep_mean * mean[j] + add_mean * slope;
    const float second = keep_square * square[j] + add_square * slope * slope;
    mean[j] = first;
    square[j] = second;
    weight[j] -= step.rate * first / (square_root(second) * step.correction + step.epsilon);
  }
}

}  // namespace
}  // namespace warpzone::policy
