/// Adam for a matrix of which many rows never get a gradient: the first layer of the tile network,
/// most of whose inputs are never active in a level.
///
/// A row whose gradient and moments are zero does not change, so it is skipped: the result is that
/// of Adam over the whole matrix. Norms are summed row by row in order, so they do not depend on
/// the number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "common/workers.hpp"
#include "policy/kernels.hpp"

namespace warpzone::policy {

/// One caller at a time.
class RowAdam {
 public:
  RowAdam(std::size_t rows, std::size_t width, int threads, const Kernels& kernels);

  std::size_t rows() const { return used_.size(); }
  std::size_t width() const { return width_; }

  /// Looks at a gradient, [rows, width], before `step` applies it. Returns its squared norm.
  double look(const float* gradient);
  /// Changes weights and moments, [rows, width] each, by the gradient that `look` has seen.
  void step(const AdamStep& step, const float* gradient, float* weight, float* mean, float* square);
  /// Takes moments that were not made here.
  void load(const float* mean, const float* square);

 private:
  /// Calls `work(row)` for every row, in blocks that threads share out.
  template <typename Work>
  void for_rows(Work work);

  std::size_t width_;
  const Kernels& kernels_;
  Workers workers_;
  std::vector<std::uint8_t> used_;  ///< Rows that ever had a gradient.
  std::vector<float> squares_;      ///< Of each row of the last gradient.
};

}  // namespace warpzone::policy
