/// A linear layer over stored lists of active inputs: forward, and the gradient of its weights.
///
/// Weights are [inputs, width]: the row of an input lies together. Threads share out samples
/// (forward) or columns (gradient), and every sum is taken in the order of the samples and of their
/// lists, so results do not depend on the number of threads.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/workers.hpp"
#include "policy/active_layout.hpp"
#include "policy/aligned.hpp"
#include "policy/input_lists.hpp"
#include "policy/kernels.hpp"

namespace warpzone::policy {

/// Samples to compute with: rows of a store of lists, by number.
struct Samples {
  const Index* store = nullptr;  ///< [store_count, slots]
  std::size_t store_count = 0;
  std::size_t slots = 0;  ///< Of a row: the layout's capacity, or fewer if no row needs as many.
  std::span<const std::int64_t> chosen;
};

/// One caller at a time.
class SparseLinear {
 public:
  SparseLinear(std::shared_ptr<const ActiveLayout> layout, int threads, const Kernels& kernels);

  const ActiveLayout& layout() const { return *layout_; }
  const Kernels& kernels() const { return kernels_; }
  int threads() const { return workers_.count(); }

  /// out[b] = bias + inputs of sample b times weight; with `rectify`, negative results become zero.
  /// Throws std::invalid_argument for a sample that is not in the store, or whose list is damaged.
  void forward(const Samples& samples, const float* weight, const float* bias, std::size_t width,
               bool rectify, float* out);

  /// From the gradient of the outputs, [samples, width], to those of weight and bias, which are
  /// overwritten. Where `out`, the outputs of a rectified layer, is zero, nothing is passed on;
  /// null for a layer that was not rectified. Throws as `forward` does.
  void gradient(const Samples& samples, const float* out, const float* out_gradient,
                std::size_t width, float* weight_gradient, float* bias_gradient);

 private:
  /// The rows of all samples, checked.
  std::span<const Index* const> rows_of(const Samples& samples);
  /// Copies gradients of outputs to where those of a block of columns lie together, and zeros where
  /// a rectified output is zero.
  void pack(const float* out, const float* out_gradient, std::size_t width, std::size_t batch,
            std::size_t first, std::size_t end);
  /// Sums up one block of columns, from `first` on.
  void add_columns(const float* packed, std::size_t width, std::size_t first,
                   float* weight_gradient, float* bias_gradient) const;

  std::shared_ptr<const ActiveLayout> layout_;
  const Kernels& kernels_;
  Workers workers_;
  // Kept from call to call for their memory.
  std::vector<const Index*> rows_;
  std::vector<InputLists> chunks_;
  AlignedFloats packed_;  ///< [blocks of columns, samples, columns of a block]
};

}  // namespace warpzone::policy
