#include "policy/input_lists.hpp"

namespace warpzone::policy {
namespace {

/// From the counts of lists to where each begins. Returns the sum of the counts.
std::uint32_t begin_lists(std::vector<std::uint32_t>& counts) {
  std::uint32_t total = 0;
  for (std::uint32_t& entry : counts) {
    const std::uint32_t count = entry;
    entry = total;
    total += count;
  }
  return total;
}

}  // namespace

void InputLists::build(const ActiveLayout& layout, std::span<const Index* const> rows) {
  const auto inputs = static_cast<std::size_t>(layout.inputs());
  const float* values = layout.values().data();
  sample_count_ = rows.size();
  // Each list is counted, and then filled, one place late: filling moves its beginning to where the
  // next one begins, so in the end all stand at their own places.
  one_begin_.assign(inputs + 1, 0);
  pair_begin_.assign(inputs + 1, 0);
  for (const Index* row : rows) {
    const ActiveRow list(row);
    for (std::size_t i = 0; i < list.one_count; ++i) ++one_begin_[list.ones[i] + 1UL];
    for (std::size_t i = 0; i < list.pair_count; ++i) ++pair_begin_[list.pairs[2 * i] + 1UL];
  }
  ones_.resize(begin_lists(one_begin_));
  pairs_.resize(begin_lists(pair_begin_));
  weights_.resize(pairs_.size());
  for (std::size_t sample = 0; sample < rows.size(); ++sample) {
    const ActiveRow list(rows[sample]);
    for (std::size_t i = 0; i < list.one_count; ++i) {
      ones_[one_begin_[list.ones[i] + 1UL]++] = static_cast<Index>(sample);
    }
    for (std::size_t i = 0; i < list.pair_count; ++i) {
      const std::uint32_t place = pair_begin_[list.pairs[2 * i] + 1UL]++;
      pairs_[place] = static_cast<Index>(sample);
      weights_[place] = values[list.pairs[2 * i + 1]];
    }
  }
}

}  // namespace warpzone::policy
