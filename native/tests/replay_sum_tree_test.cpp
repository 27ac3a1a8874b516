#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "check.hpp"
#include "replay/sum_tree.hpp"

using warpzone::replay::SumTree;

namespace {

using Indices = std::vector<std::int64_t>;
using Numbers = std::vector<double>;

SumTree tree_of(const Numbers& weights) {
  SumTree tree(static_cast<std::int64_t>(weights.size()));
  Indices indices(weights.size());
  for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<std::int64_t>(i);
  tree.set(indices, weights);
  return tree;
}

Indices found(const SumTree& tree, const Numbers& shares) {
  Indices out(shares.size());
  tree.find(shares, out);
  return out;
}

}  // namespace

TEST(a_share_leads_to_the_leaf_that_holds_it) {
  const SumTree tree = tree_of({1.0, 0.0, 3.0, 4.0, 2.0});
  CHECK(tree.total() == 10.0);
  CHECK(found(tree, {0.0, 0.05, 0.1, 0.39, 0.4, 0.79, 0.8, 0.999}) ==
        (Indices{0, 0, 2, 2, 3, 3, 4, 4}));
}

TEST(leaves_without_weight_are_never_drawn) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> share(0.0, 1.0);
  Numbers weights(1000);
  for (double& weight : weights) weight = random() % 3 == 0 ? share(random) * 1e-9 : 0.0;
  const SumTree tree = tree_of(weights);
  Numbers shares(10000);
  for (double& one : shares) one = share(random);
  shares.push_back(std::nextafter(1.0, 0.0));
  for (const std::int64_t leaf : found(tree, shares)) {
    CHECK(weights[static_cast<std::size_t>(leaf)] > 0.0);
  }
}

TEST(sums_do_not_drift_over_many_changes) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> weight(0.0, 1e6);
  SumTree tree(77);
  Numbers now(77, 0.0);
  for (int i = 0; i < 100000; ++i) {
    const Indices index{static_cast<std::int64_t>(random() % 77)};
    const Numbers value{weight(random)};
    now[static_cast<std::size_t>(index[0])] = value[0];
    tree.set(index, value);
  }
  CHECK(tree.total() == tree_of(now).total());
}

TEST(of_one_leaf_given_twice_the_later_counts) {
  SumTree tree(3);
  tree.set(Indices{1, 1}, Numbers{5.0, 2.0});
  CHECK(tree.total() == 2.0);
  CHECK(tree.leaves()[1] == 2.0);
  Numbers weights(2);
  tree.get(Indices{0, 1}, weights);
  CHECK(weights == (Numbers{0.0, 2.0}));
  CHECK_THROWS(tree.get(Indices{0, 3}, weights), std::invalid_argument);
}

TEST(bad_arguments_change_nothing) {
  SumTree tree = tree_of({1.0, 2.0});
  CHECK_THROWS(SumTree(0), std::invalid_argument);
  CHECK_THROWS(tree.set(Indices{0, 2}, Numbers{9.0, 9.0}), std::invalid_argument);
  CHECK_THROWS(tree.set(Indices{0, 1}, Numbers{9.0, -1.0}), std::invalid_argument);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS(tree.set(Indices{0, 1}, Numbers{9.0, nan}), std::invalid_argument);
  CHECK_THROWS(tree.set(Indices{0}, Numbers{}), std::invalid_argument);
  CHECK(tree.total() == 3.0);
  CHECK_THROWS(found(SumTree(4), {0.5}), std::invalid_argument);
}

TEST(every_size_finds_the_leaf_that_a_running_sum_finds) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  for (const std::size_t size : {1U, 2U, 63U, 64U, 65U, 4095U, 4096U, 4097U, 300000U}) {
    Numbers weights(size);
    // Whole numbers add up without rounding, so that both ways must agree.
    for (double& weight : weights) weight = static_cast<double>(random() % 4);
    weights[random() % size] = 7.0;
    const SumTree tree = tree_of(weights);
    Numbers sums(size), shares(200);
    std::partial_sum(weights.begin(), weights.end(), sums.begin());
    CHECK(tree.total() == sums.back());
    for (double& share : shares) share = uniform(random);
    const Indices leaves = found(tree, shares);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const auto at = std::upper_bound(sums.begin(), sums.end(), shares[i] * sums.back());
      CHECK_EQ(leaves[i], at - sums.begin());
    }
  }
}

TEST(a_tree_of_one_leaf_draws_it) { CHECK(found(tree_of({0.3}), {0.0, 0.99}) == (Indices{0, 0})); }
