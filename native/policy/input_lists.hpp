/// For each input, the samples in which it is active: lists of active inputs, transposed. With them
/// the gradient of an input's weights is summed up in registers and written once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "policy/active_layout.hpp"
#include "policy/kernels.hpp"

namespace warpzone::policy {

class InputLists {
 public:
  /// Samples are numbered as `rows` are, of which there are at most 65,536.
  void build(const ActiveLayout& layout, std::span<const Index* const> rows);

  std::size_t sample_count() const { return sample_count_; }
  bool empty(std::size_t input) const {
    return one_begin_[input] == one_begin_[input + 1] &&
           pair_begin_[input] == pair_begin_[input + 1];
  }
  /// The samples of an input, in order.
  RowList samples_of(std::size_t input) const {
    const std::size_t ones = one_begin_[input], pairs = pair_begin_[input];
    return {ones_.data() + ones, one_begin_[input + 1] - ones, pairs_.data() + pairs,
            weights_.data() + pairs, pair_begin_[input + 1] - pairs};
  }

 private:
  std::size_t sample_count_ = 0;
  std::vector<std::uint32_t> one_begin_, pair_begin_;  ///< [inputs + 1]
  std::vector<Index> ones_, pairs_;
  std::vector<float> weights_;
};

}  // namespace warpzone::policy
