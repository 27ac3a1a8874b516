#include "replay/sum_tree.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <string>

namespace warpzone::replay {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 40;
/// Draws that go down the tree side by side: while one waits for memory, the others go on.
constexpr std::size_t kTogether = 16;

std::int64_t checked(std::int64_t capacity) {
  if (capacity < 1 || capacity > kMost) {
    throw std::invalid_argument("capacity is " + std::to_string(capacity) +
                                "; it must be at least 1");
  }
  return capacity;
}

}  // namespace

SumTree::SumTree(std::int64_t capacity)
    : capacity_(checked(capacity)),
      first_leaf_(static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(capacity)))),
      nodes_(static_cast<std::size_t>(2 * first_leaf_), 0.0) {}

std::span<const double> SumTree::leaves() const {
  return {nodes_.data() + first_leaf_, static_cast<std::size_t>(capacity_)};
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
  for (std::size_t i = 0; i < indices.size(); ++i) {
    auto node = static_cast<std::size_t>(first_leaf_ + indices[i]);
    nodes_[node] = weights[i];
    for (node /= 2; node >= 1; node /= 2) nodes_[node] = nodes_[2 * node] + nodes_[2 * node + 1];
  }
}

void SumTree::get(std::span<const std::int64_t> indices, std::span<double> out) const {
  if (indices.size() != out.size()) {
    throw std::invalid_argument("indices and results must be of one length");
  }
  for (std::size_t i = 0; i < indices.size(); ++i) {
    check_index(indices[i]);
    out[i] = nodes_[static_cast<std::size_t>(first_leaf_ + indices[i])];
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
  for (std::size_t at = 0; at < shares.size(); at += kTogether) {
    const std::size_t count = std::min(kTogether, shares.size() - at);
    descend(shares.subspan(at, count), out.subspan(at, count));
  }
}

void SumTree::descend(std::span<const double> shares, std::span<std::int64_t> out) const {
  std::array<double, kTogether> mass{};
  std::array<std::size_t, kTogether> node{};
  for (std::size_t i = 0; i < shares.size(); ++i) {
    mass[i] = shares[i] * total();
    node[i] = 1;
  }
  const auto first_leaf = static_cast<std::size_t>(first_leaf_);
  for (std::size_t width = 1; width < first_leaf; width *= 2) {
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const double left = nodes_[2 * node[i]];
      const double right = nodes_[2 * node[i] + 1];
      // Rounding may leave as much mass as there is, or more; an empty side is never entered.
      const bool go_right = (left == 0.0) | ((mass[i] >= left) & (right > 0.0));
      mass[i] -= go_right ? left : 0.0;
      node[i] = 2 * node[i] + static_cast<std::size_t>(go_right);
    }
  }
  for (std::size_t i = 0; i < shares.size(); ++i) {
    out[i] = static_cast<std::int64_t>(node[i] - first_leaf);
  }
}

}  // namespace warpzone::replay
