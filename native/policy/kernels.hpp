/// The inner loop of everything in this folder: sums of weighted rows of a matrix, in the widest
/// instructions that the processor has.
///
/// The same source (sum_rows.hpp) is compiled once for each instruction set, and the choice is made
/// when the program runs, so that one build serves all machines. Every column is summed in the
/// order of the list, whatever the instructions: levels differ only in whether a product is rounded
/// before it is added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace warpzone::policy {

/// Number of a row.
using Index = std::uint16_t;

/// Rows to add up: first those that count once, then those with a weight of their own.
struct RowList {
  const Index* ones = nullptr;
  std::size_t one_count = 0;
  const Index* weighted = nullptr;
  const float* weights = nullptr;
  std::size_t weighted_count = 0;
};

/// Rows of floats, `stride` apart.
struct Rows {
  const float* data = nullptr;
  std::size_t stride = 0;
};

/// out[j] = start[j] + sum of rows[ones[k]][j] + sum of weights[k] * rows[weighted[k]][j], for all
/// j < width. A null `start` means zeros; it may be `out` itself.
using SumRows = void (*)(const RowList& list, const Rows& rows, std::size_t width,
                         const float* start, float* out);

struct Kernels {
  const char* name;
  SumRows sum_rows;
};

/// Those that this processor can run, the slowest first.
std::span<const Kernels> available_kernels();

/// By name, or the fastest for "auto". Throws std::invalid_argument and lists what there is.
const Kernels& kernels_named(const std::string& name);

}  // namespace warpzone::policy
