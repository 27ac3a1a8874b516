/// From a stored list of active inputs to rows and weights that kernels add up.
#pragma once

#include <vector>

#include "policy/active_layout.hpp"
#include "policy/kernels.hpp"

namespace warpzone::policy {

/// Memory for the weights of one list at a time.
class RowUnpacker {
 public:
  explicit RowUnpacker(const ActiveLayout& layout)
      : values_(layout.values().data()), inputs_(layout.capacity()), weights_(layout.capacity()) {}

  /// The result refers to the row and to this object, until the next call.
  RowList unpack(const Index* row) {
    const ActiveRow list(row);
    for (std::size_t i = 0; i < list.pair_count; ++i) {
      inputs_[i] = list.pairs[2 * i];
      weights_[i] = values_[list.pairs[2 * i + 1]];
    }
    return {list.ones, list.one_count, inputs_.data(), weights_.data(), list.pair_count};
  }

 private:
  const float* values_;
  std::vector<Index> inputs_;
  std::vector<float> weights_;
};

/// out = bias + base times weight: what a layer says when nothing is listed.
inline void add_base(const ActiveLayout& layout, const Kernels& kernels, const Rows& weight,
                     const float* bias, std::size_t width, float* out) {
  std::vector<float> values;
  for (const Index input : layout.base_inputs()) values.push_back(layout.base()[input]);
  const RowList list{nullptr, 0, layout.base_inputs().data(), values.data(), values.size()};
  kernels.sum_rows(list, weight, width, bias, out);
}

}  // namespace warpzone::policy
