// The layer over lists of active inputs, against literal double precision.
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "policy/sparse_linear.hpp"
#include "policy_support.hpp"

namespace {

using namespace warpzone;
using namespace warpzone::policy;

constexpr float kEpsilon = std::numeric_limits<float>::epsilon();
/// More terms than any sum here has.
constexpr double kTolerance = 1500.0 * kEpsilon;

struct Problem {
  std::shared_ptr<const ActiveLayout> layout = made_up_layout();
  std::size_t width, batch;
  std::vector<Index> store;
  std::vector<std::int64_t> chosen;
  std::vector<float> weight, bias, out_gradient;

  Problem(std::size_t columns, std::size_t samples) : width(columns), batch(samples) {
    const std::size_t stored = samples + 20;
    store = random_rows(*layout, stored, 8);
    Random random{9};
    for (std::size_t i = 0; i < samples; ++i) {
      chosen.push_back(random.below(static_cast<std::uint32_t>(stored)));
    }
    const auto inputs = static_cast<std::size_t>(layout->inputs());
    weight = random_floats(inputs * width, 10);
    bias = random_floats(width, 11);
    out_gradient = random_floats(batch * width, 12);
  }
  Samples samples() const {
    return {store.data(), store.size() / layout->capacity(), layout->capacity(), chosen};
  }
  std::vector<float> inputs_of(std::size_t sample) const {
    std::vector<float> inputs(static_cast<std::size_t>(layout->inputs()));
    const auto number = static_cast<std::size_t>(chosen[sample]);
    layout->expand(store.data() + number * layout->capacity(), inputs.data());
    return inputs;
  }
};

struct Result {
  std::vector<float> out, weight_gradient, bias_gradient;
  bool operator==(const Result&) const = default;
};

Result compute(const Problem& problem, int threads, const Kernels& kernels, bool rectify) {
  SparseLinear layer(problem.layout, threads, kernels);
  Result result;
  // Filled with nonsense: all of it must be overwritten.
  result.out.assign(problem.batch * problem.width, 77.0F);
  result.weight_gradient.assign(problem.weight.size(), 77.0F);
  result.bias_gradient.assign(problem.width, 77.0F);
  layer.forward(problem.samples(), problem.weight.data(), problem.bias.data(), problem.width,
                rectify, result.out.data());
  layer.gradient(problem.samples(), rectify ? result.out.data() : nullptr,
                 problem.out_gradient.data(), problem.width, result.weight_gradient.data(),
                 result.bias_gradient.data());
  return result;
}

void check_literally(const Problem& problem, const Result& result, bool rectify) {
  const std::size_t width = problem.width;
  const auto inputs = static_cast<std::size_t>(problem.layout->inputs());
  std::vector<double> weight_gradient(inputs * width), bias_gradient(width);
  // The sum of the absolute values of all terms. What a default state says is added to and taken
  // away again, so it counts even where the input is zero.
  constexpr double kLargestInput = 4.0;
  std::vector<double> size(width);
  for (std::size_t b = 0; b < problem.batch; ++b) {
    const std::vector<float> x = problem.inputs_of(b);
    for (std::size_t j = 0; j < width; ++j) {
      double sum = problem.bias[j], terms = std::abs(sum);
      for (std::size_t i = 0; i < inputs; ++i) {
        sum += static_cast<double>(x[i]) * problem.weight[i * width + j];
        terms += kLargestInput * std::abs(x[i] * problem.weight[i * width + j]);
      }
      const double found = result.out[b * width + j];
      CHECK(std::abs(found - (rectify ? std::max(sum, 0.0) : sum)) <= terms * kTolerance);
      const bool passes = !rectify || found > 0.0;
      const double gradient = passes ? problem.out_gradient[b * width + j] : 0.0;
      bias_gradient[j] += gradient;
      size[j] += kLargestInput * std::abs(gradient);
      for (std::size_t i = 0; i < inputs; ++i) weight_gradient[i * width + j] += x[i] * gradient;
    }
  }
  for (std::size_t j = 0; j < width; ++j) {
    CHECK(std::abs(result.bias_gradient[j] - bias_gradient[j]) <= size[j] * kTolerance);
    for (std::size_t i = 0; i < inputs; ++i) {
      const double error = result.weight_gradient[i * width + j] - weight_gradient[i * width + j];
      CHECK(std::abs(error) <= size[j] * kTolerance);
    }
  }
}

TEST(forward_and_gradient_are_right_for_every_instruction_set_and_width) {
  for (const Kernels& kernels : available_kernels()) {
    for (const std::size_t width : {1, 19, 64, 100}) {
      for (const bool rectify : {false, true}) {
        const Problem problem(width, 60);
        check_literally(problem, compute(problem, 2, kernels, rectify), rectify);
      }
    }
  }
}

TEST(batches_of_several_chunks_are_right) {
  const Problem problem(16, 700);
  check_literally(problem, compute(problem, 3, kernels_named("auto"), true), true);
}

TEST(results_do_not_depend_on_the_number_of_threads) {
  for (const std::size_t width : {37, 256}) {
    const Problem problem(width, 600);
    const Result alone = compute(problem, 1, kernels_named("auto"), true);
    for (const int threads : {2, 3, 8}) {
      CHECK(compute(problem, threads, kernels_named("auto"), true) == alone);
    }
  }
}

TEST(an_empty_batch_gives_no_gradient) {
  const Problem problem(24, 0);
  const Result result = compute(problem, 2, kernels_named("auto"), true);
  CHECK(result.weight_gradient == std::vector<float>(problem.weight.size()));
  CHECK(result.bias_gradient == std::vector<float>(problem.width));
}

TEST(samples_that_do_not_exist_or_are_damaged_are_refused) {
  Problem problem(8, 4);
  problem.chosen[2] = 1000;
  CHECK_THROWS(compute(problem, 1, kernels_named("auto"), false), std::invalid_argument);
  problem.chosen[2] = -1;
  CHECK_THROWS(compute(problem, 1, kernels_named("auto"), false), std::invalid_argument);
  problem.chosen[2] = 3;
  problem.store[3 * problem.layout->capacity()] = 65535;
  CHECK_THROWS(compute(problem, 1, kernels_named("auto"), false), std::invalid_argument);
}

}  // namespace
