#include "replay/sum_tree.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace warpzone::replay {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 40;

std::int64_t checked(std::int64_t capacity) {
  if (capacity < 1 || capacity > kMost) {
    throw std::invalid_argument("capacity is " + std::to_string(capacity) +
                                "; it must be at least 1");
  }
  return capacity;
}

/// Asks for memory that will be read soon.
void prefetch([[maybe_unused]] const void* address) {
#if defined(__GNUC__)
  __builtin_prefetch(address);
#endif
}

/// Sorted blocks, each once.
void tidy(std::vector<std::size_t>& blocks) {
  std::sort(blocks.begin(), blocks.end());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
}

}  // namespace

SumTree::SumTree(std::int64_t capacity) : capacity_(checked(capacity)) {
  auto nodes = static_cast<std::size_t>(capacity);
  do {
    const std::size_t blocks = (nodes + kSiblings - 1) / kSiblings;
    levels_.push_back({std::vector<double>(blocks * kSiblings, 0.0), std::vector<Block>(blocks)});
    nodes = blocks;
  } while (nodes > 1);
}

std::span<const double> SumTree::leaves() const {
  return {levels_.front().weights.data(), static_cast<std::size_t>(capacity_)};
}

std::size_t SumTree::bytes() const {
  std::size_t numbers = 0;
  for (const Level& level : levels_) {
    numbers += level.weights.size() + level.sums.size() * kSiblings;
  }
  return numbers * sizeof(double);
}

void SumTree::set(std::span<const std::int64_t> indices, std::span<const double> weights) {
  if (indices.size() != weights.size()) {
    throw std::invalid_argument("indices and weights must be of one length");
  }
  for (std::size_t i = 0; i < indices.size(); ++i) {
    check_index(indices[i]);
    if (!std::isfinite(weights[i]) || weights[i] < 0.0) {
      throw std::invalid_argument("weight " + std::to_string(weights[i]) +
                                  " is negative or no number");
    }
  }
  std::vector<std::size_t> blocks;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto leaf = static_cast<std::size_t>(indices[i]);
    levels_.front().weights[leaf] = weights[i];
    if (blocks.empty() || blocks.back() != leaf / kSiblings) blocks.push_back(leaf / kSiblings);
  }
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    tidy(blocks);
    for (std::size_t& block : blocks) {
      add_up(level, block);
      block /= kSiblings;
    }
  }
}

void SumTree::add_up(std::size_t level, std::size_t block) {
  const double* weights = levels_[level].weights.data() + block * kSiblings;
  Block& sums = levels_[level].sums[block];
  double sum = 0.0;
  for (std::size_t i = 0; i < kSiblings; ++i) {
    sum += weights[i];
    sums[i] = sum;
  }
  if (level + 1 < levels_.size()) levels_[level + 1].weights[block] = sum;
}

void SumTree::get(std::span<const std::int64_t> indices, std::span<double> out) const {
  if (indices.size() != out.size()) {
    throw std::invalid_argument("indices and results must be of one length");
  }
  for (std::size_t i = 0; i < indices.size(); ++i) {
    check_index(indices[i]);
    out[i] = levels_.front().weights[static_cast<std::size_t>(indices[i])];
  }
}

void SumTree::check_index(std::int64_t index) const {
  if (index < 0 || index >= capacity_) {
    throw std::invalid_argument("index " + std::to_string(index) + " is not below " +
                                std::to_string(capacity_));
  }
}

void SumTree::find(std::span<const double> shares, std::span<std::int64_t> out) const {
  if (shares.size() != out.size()) {
    throw std::invalid_argument("shares and results must be of one length");
  }
  if (!(total() > 0.0)) {
    throw std::invalid_argument("there is nothing to draw from: every weight is 0");
  }
  std::vector<double> masses(shares.size());
  for (std::size_t i = 0; i < shares.size(); ++i) masses[i] = shares[i] * total();
  std::fill(out.begin(), out.end(), 0);
  for (std::size_t level = levels_.size(); level-- > 0;) {
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const std::size_t child = descend(level, static_cast<std::size_t>(out[i]), masses[i]);
      out[i] = static_cast<std::int64_t>(child);
      if (level > 0) prefetch(&levels_[level - 1].sums[child]);
    }
  }
}

std::size_t SumTree::descend(std::size_t level, std::size_t block, double& mass) const {
  const Block& sums = levels_[level].sums[block];
  // Rounding may leave as much mass as there is, or more; behind the end there is no weight.
  if (mass >= sums[kSiblings - 1]) mass = std::nextafter(sums[kSiblings - 1], 0.0);
  std::size_t before = 0;
  for (std::size_t i = 0; i < kSiblings; ++i) before += sums[i] <= mass ? 1 : 0;
  mass -= before > 0 ? sums[before - 1] : 0.0;
  return block * kSiblings + before;
}

}  // namespace warpzone::replay
