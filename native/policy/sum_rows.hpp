/// Sums of weighted rows as a template over the width of a vector. Included only by the files that
/// compile it for one instruction set each, and by its test.
///
/// Those files use instructions that the machine may not have. So nothing here may leave code
/// behind that others could be linked to: everything is in an unnamed namespace, and headers of the
/// standard library come before the instructions are chosen.
#pragma once

#include "policy/kernels.hpp"

namespace warpzone::policy {
namespace {

/// A vector of `kWidth` floats that may lie anywhere in memory.
template <int kWidth>
struct Vector {
#if defined(__GNUC__)
  typedef float Type __attribute__((vector_size(kWidth * sizeof(float)), aligned(4), may_alias));
#else
  static_assert(kWidth == 1, "vectors need GCC or Clang");
  using Type = float;
#endif
};

template <>
struct Vector<1> {
  using Type = float;
};

/// Sums `kCount` vectors of columns, which stay in registers throughout.
template <int kWidth, int kCount>
void sum_block(const RowList& list, const Rows& rows, const float* start, float* out) {
  using Type = typename Vector<kWidth>::Type;
  Type sums[kCount];
  for (int i = 0; i < kCount; ++i) {
    sums[i] = start == nullptr ? Type{} : *reinterpret_cast<const Type*>(start + i * kWidth);
  }
  for (std::size_t k = 0; k < list.one_count; ++k) {
    const float* row = rows.data + list.ones[k] * rows.stride;
    for (int i = 0; i < kCount; ++i) sums[i] += *reinterpret_cast<const Type*>(row + i * kWidth);
  }
  for (std::size_t k = 0; k < list.weighted_count; ++k) {
    const float* row = rows.data + list.weighted[k] * rows.stride;
    const float weight = list.weights[k];
    for (int i = 0; i < kCount; ++i) {
      sums[i] += weight * *reinterpret_cast<const Type*>(row + i * kWidth);
    }
  }
  for (int i = 0; i < kCount; ++i) *reinterpret_cast<Type*>(out + i * kWidth) = sums[i];
}

/// Sums as many blocks as fit from `first` on; returns the first column that is left.
template <int kWidth, int kCount>
std::size_t sum_blocks(const RowList& list, const Rows& rows, std::size_t first, std::size_t width,
                       const float* start, float* out) {
  constexpr std::size_t kColumns = static_cast<std::size_t>(kWidth) * kCount;
  for (; first + kColumns <= width; first += kColumns) {
    sum_block<kWidth, kCount>(list, {rows.data + first, rows.stride},
                              start == nullptr ? nullptr : start + first, out + first);
  }
  return first;
}

/// Any width: large blocks, then single vectors, then single columns.
template <int kWidth, int kCount>
void sum_rows(const RowList& list, const Rows& rows, std::size_t width, const float* start,
              float* out) {
  std::size_t column = sum_blocks<kWidth, kCount>(list, rows, 0, width, start, out);
  column = sum_blocks<kWidth, kCount / 2>(list, rows, column, width, start, out);
  column = sum_blocks<kWidth, 1>(list, rows, column, width, start, out);
  sum_blocks<1, 1>(list, rows, column, width, start, out);
}

}  // namespace
}  // namespace warpzone::policy
