// Sums of rows, for every instruction set that this machine has, against literal double precision.
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "common/random.hpp"
#include "policy/kernels.hpp"
#include "policy/sum_rows.hpp"

namespace {

using namespace warpzone;
using namespace warpzone::policy;

constexpr std::size_t kRows = 50;

struct Case {
  std::size_t width, stride, ones, weighted;
  bool starts;
};

/// Error of a sum of n floats in any order, per unit of the sum of their absolute values.
double tolerance(std::size_t terms) {
  return static_cast<double>(terms + 1) * std::numeric_limits<float>::epsilon();
}

void check_kernel(SumRows sum_rows, const Case& c, std::uint64_t seed) {
  Random random{seed};
  const auto number = [&] { return static_cast<float>(2.0 * random.uniform() - 1.0); };
  std::vector<float> matrix(kRows * c.stride), start(c.width), weights(c.weighted);
  std::vector<Index> ones(c.ones), weighted(c.weighted);
  for (float& value : matrix) value = number();
  for (float& value : start) value = number();
  for (float& value : weights) value = number();
  for (Index& row : ones) row = static_cast<Index>(random.below(kRows));
  for (Index& row : weighted) row = static_cast<Index>(random.below(kRows));
  // One float more on each side shows whether anything is written outside.
  std::vector<float> out(c.width + 2, 123.0F);
  const RowList list{ones.data(), c.ones, weighted.data(), weights.data(), c.weighted};
  sum_rows(list, {matrix.data(), c.stride}, c.width, c.starts ? start.data() : nullptr,
           out.data() + 1);
  CHECK_EQ(out.front(), 123.0F);
  CHECK_EQ(out.back(), 123.0F);
  for (std::size_t j = 0; j < c.width; ++j) {
    double sum = c.starts ? start[j] : 0.0;
    double size = std::abs(sum);
    const auto add = [&](double term) {
      sum += term;
      size += std::abs(term);
    };
    for (const Index row : ones) add(matrix[row * c.stride + j]);
    for (std::size_t k = 0; k < c.weighted; ++k) {
      add(static_cast<double>(weights[k]) * matrix[weighted[k] * c.stride + j]);
    }
    const double error = std::abs(out[j + 1] - sum);
    CHECK(error <= size * tolerance(c.ones + 2 * c.weighted));
  }
}

void check_all_cases(SumRows sum_rows) {
  std::uint64_t seed = 1;
  for (const std::size_t width : {1,  2,  3,   7,   8,   15,  16,  17,  31,  37,  63,
                                  64, 65, 100, 128, 250, 255, 256, 257, 300, 512, 515}) {
    for (const std::size_t padding : {0, 1, 13}) {
      for (const auto& [ones, weighted] :
           {std::pair{0, 0}, {1, 0}, {0, 1}, {40, 35}, {200, 3}, {2, 150}}) {
        const Case c{width, width + padding, static_cast<std::size_t>(ones),
                     static_cast<std::size_t>(weighted), ones != 200};
        check_kernel(sum_rows, c, seed++);
      }
    }
  }
}

TEST(every_available_instruction_set_sums_rows_of_any_width) {
  for (const Kernels& kernels : available_kernels()) {
    std::printf("  %s\n", kernels.name);
    check_all_cases(kernels.sum_rows);
  }
}

#if defined(__GNUC__)
// The source that AVX-512 is made from, in vectors of its width, on machines without it.
TEST(vectors_of_sixteen_sum_rows_of_any_width) { check_all_cases(sum_rows<16, 16>); }
#endif

TEST(single_numbers_sum_rows_of_any_width) { check_all_cases(sum_rows<1, 16>); }

TEST(sums_can_be_added_to_in_place) {
  const std::vector<float> matrix = {1, 2, 3, 10, 20, 30};
  const std::vector<Index> rows = {0, 1, 1};
  for (const Kernels& kernels : available_kernels()) {
    std::vector<float> sums = {100, 200, 300};
    kernels.sum_rows({rows.data(), 3, nullptr, nullptr, 0}, {matrix.data(), 3}, 3, sums.data(),
                     sums.data());
    CHECK(sums == (std::vector<float>{121, 242, 363}));
  }
}

TEST(kernels_are_found_by_name) {
  CHECK(!available_kernels().empty());
  CHECK_EQ(kernels_named("auto").name, available_kernels().back().name);
  for (const Kernels& kernels : available_kernels()) {
    CHECK_EQ(std::string(kernels_named(kernels.name).name), std::string(kernels.name));
  }
  CHECK_THROWS(kernels_named("mmx"), std::invalid_argument);
}

}  // namespace
