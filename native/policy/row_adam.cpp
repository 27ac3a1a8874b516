#include "policy/row_adam.hpp"

#include <algorithm>

namespace warpzone::policy {
namespace {

/// Rows that a thread takes at a time.
constexpr std::size_t kBlock = 64;

}  // namespace

RowAdam::RowAdam(std::size_t rows, std::size_t width, int threads, const Kernels& kernels)
    : width_(width),
      kernels_(kernels),
      workers_(std::max(threads, 1)),
      used_(rows, 0),
      squares_(rows, 0.0F) {}

template <typename Work>
void RowAdam::for_rows(Work work) {
  const std::size_t rows = used_.size();
  workers_.run(static_cast<int>((rows + kBlock - 1) / kBlock), [&](int block) {
    const std::size_t first = static_cast<std::size_t>(block) * kBlock;
    for (std::size_t row = first; row < std::min(first + kBlock, rows); ++row) work(row);
  });
}

double RowAdam::look(const float* gradient) {
  for_rows([&](std::size_t row) {
    bool all_zero = true;
    squares_[row] = kernels_.sum_squares(gradient + row * width_, width_, &all_zero);
    if (!all_zero) used_[row] = 1;
  });
  double total = 0.0;
  for (const float square : squares_) total += square;
  return total;
}

void RowAdam::step(const AdamStep& step, const float* gradient, float* weight, float* mean,
                   float* square) {
  for_rows([&](std::size_t row) {
    if (used_[row] == 0) return;
    const std::size_t place = row * width_;
    kernels_.adam_row(step, gradient + place, width_, weight + place, mean + place, square + place);
  });
}

void RowAdam::load(const float* mean, const float* square) {
  for_rows([&](std::size_t row) {
    bool no_mean = true, no_square = true;
    kernels_.sum_squares(mean + row * width_, width_, &no_mean);
    kernels_.sum_squares(square + row * width_, width_, &no_square);
    used_[row] = no_mean && no_square ? 0 : 1;
  });
}

}  // namespace warpzone::policy
