// Adam over rows, against literal double precision.
#include <cmath>
#include <vector>

#include "check.hpp"
#include "policy/row_adam.hpp"
#include "policy_support.hpp"

namespace {

using namespace warpzone;
using namespace warpzone::policy;

constexpr std::size_t kRows = 150;

struct Problem {
  std::size_t width;
  std::vector<float> weight, mean, square;

  explicit Problem(std::size_t columns)
      : width(columns),
        weight(random_floats(kRows * width, 1)),
        mean(weight.size(), 0.0F),
        square(weight.size(), 0.0F) {}

  /// Every third row gets a gradient.
  std::vector<float> gradient(std::uint64_t seed) const {
    std::vector<float> values = random_floats(weight.size(), seed);
    for (std::size_t row = 0; row < kRows; ++row) {
      if (row % 3 == 0) continue;
      std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(row * width), width, 0.0F);
    }
    return values;
  }
  void take(RowAdam& adam, const AdamStep& step, const std::vector<float>& gradient) {
    adam.look(gradient.data());
    adam.step(step, gradient.data(), weight.data(), mean.data(), square.data());
  }
};

constexpr AdamStep kStep{0.01F, 0.9F, 0.999F, 1.5F, 1e-5F, 0.7F};

void check_step(const Kernels& kernels, std::size_t width) {
  Problem problem(width);
  RowAdam adam(kRows, width, 1, kernels);
  for (std::uint64_t seed = 5; seed < 8; ++seed) {
    const Problem before = problem;
    const std::vector<float> gradient = problem.gradient(seed);
    double squares = 0.0;
    for (const float value : gradient) squares += static_cast<double>(value) * value;
    CHECK(std::abs(adam.look(gradient.data()) - squares) <= 1e-5 * squares);
    problem.take(adam, kStep, gradient);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const double slope = 0.7 * gradient[i];
      const double mean = 0.9 * before.mean[i] + 0.1 * slope;
      const double square = 0.999 * before.square[i] + 0.001 * slope * slope;
      const double weight = before.weight[i] - 0.01 * mean / (std::sqrt(square) * 1.5 + 1e-5);
      CHECK(std::abs(problem.mean[i] - mean) < 1e-6);
      CHECK(std::abs(problem.square[i] - square) < 1e-6);
      CHECK(std::abs(problem.weight[i] - weight) < 1e-6);
    }
  }
}

TEST(a_step_is_that_of_adam_for_any_width_and_instructions) {
  for (const Kernels& kernels : available_kernels()) {
    for (const std::size_t width : {1UL, 7UL, 64UL, 100UL, 256UL}) check_step(kernels, width);
  }
}

TEST(rows_that_were_never_used_are_left_alone_and_used_ones_are_not) {
  Problem problem(16);
  RowAdam adam(kRows, 16, 1, kernels_named("auto"));
  problem.take(adam, kStep, problem.gradient(3));
  const Problem before = problem;
  problem.take(adam, kStep, std::vector<float>(problem.weight.size(), 0.0F));
  for (std::size_t row = 0; row < kRows; ++row) {
    // Momentum goes on moving a row whose gradient is zero now.
    CHECK_EQ(problem.weight[row * 16] != before.weight[row * 16], row % 3 == 0);
  }
}

TEST(loaded_moments_tell_which_rows_are_used) {
  Problem problem(16), other(16);
  RowAdam adam(kRows, 16, 1, kernels_named("auto"));
  problem.take(adam, kStep, problem.gradient(3));
  other = problem;
  RowAdam loaded(kRows, 16, 1, kernels_named("auto"));
  loaded.load(other.mean.data(), other.square.data());
  const std::vector<float> nothing(problem.weight.size(), 0.0F);
  problem.take(adam, kStep, nothing);
  other.take(loaded, kStep, nothing);
  CHECK(problem.weight == other.weight);
}

TEST(results_do_not_depend_on_the_number_of_threads) {
  Problem first(100), second(100);
  RowAdam one(kRows, 100, 1, kernels_named("auto")), four(kRows, 100, 4, kernels_named("auto"));
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const std::vector<float> gradient = first.gradient(seed);
    CHECK_EQ(one.look(gradient.data()), four.look(gradient.data()));
    first.take(one, kStep, gradient);
    second.take(four, kStep, gradient);
  }
  CHECK(first.weight == second.weight);
}

}  // namespace
