#include "policy/sparse_linear.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "policy/aligned.hpp"
#include "policy/row_unpacking.hpp"

namespace warpzone::policy {
namespace {

/// Samples that a thread takes at a time.
constexpr std::size_t kPiece = 32;
/// Samples whose gradients stay in a core's own cache while all inputs go over them.
constexpr std::size_t kChunk = 256;
/// Fewer columns than this are not worth another thread.
constexpr std::size_t kLeastColumns = 32;

std::size_t pieces_of(std::size_t count, std::size_t size) { return (count + size - 1) / size; }

}  // namespace

SparseLinear::SparseLinear(std::shared_ptr<const ActiveLayout> layout, int threads,
                           const Kernels& kernels)
    : layout_(std::move(layout)), kernels_(kernels), workers_(std::max(threads, 1)) {}

std::span<const Index* const> SparseLinear::rows_of(const Samples& samples) {
  rows_.clear();
  for (const std::int64_t chosen : samples.chosen) {
    if (chosen < 0 || static_cast<std::size_t>(chosen) >= samples.store_count) {
      throw std::invalid_argument("sample " + std::to_string(chosen) +
                                  " is not in the store, which has " +
                                  std::to_string(samples.store_count));
    }
    const Index* row = samples.store + static_cast<std::size_t>(chosen) * layout_->capacity();
    if (!layout_->is_sound(row)) {
      throw std::invalid_argument("the active inputs of sample " + std::to_string(chosen) +
                                  " are damaged");
    }
    rows_.push_back(row);
  }
  return rows_;
}

void SparseLinear::forward(const Samples& samples, const float* weight, const float* bias,
                           std::size_t width, bool rectify, float* out) {
  const std::span<const Index* const> rows = rows_of(samples);
  const Rows weights{weight, width};
  std::vector<float> start(width);
  add_base(*layout_, kernels_, weights, bias, width, start.data());
  workers_.run(static_cast<int>(pieces_of(rows.size(), kPiece)), [&](int piece) {
    RowUnpacker unpacker(*layout_);
    const std::size_t first = static_cast<std::size_t>(piece) * kPiece;
    const std::size_t end = std::min(first + kPiece, rows.size());
    for (std::size_t sample = first; sample < end; ++sample) {
      float* sums = out + sample * width;
      kernels_.sum_rows(unpacker.unpack(rows[sample]), weights, width, start.data(), sums);
      if (!rectify) continue;
      for (std::size_t j = 0; j < width; ++j) sums[j] = sums[j] > 0.0F ? sums[j] : 0.0F;
    }
  });
}

/// What a gradient is computed from and written to; [.., width] each.
struct SparseLinear::Gradients {
  const float* out;
  const float* out_gradient;
  std::size_t width;
  float* weight;
  float* bias;

  /// Copies some columns of some samples to where they lie together, zero where a rectified output
  /// is.
  void pack(std::size_t first_sample, std::size_t samples, std::size_t first_column,
            std::size_t columns, float* packed) const {
    for (std::size_t sample = 0; sample < samples; ++sample, packed += columns) {
      const std::size_t place = (first_sample + sample) * width + first_column;
      const float* from = out_gradient + place;
      if (out == nullptr) {
        std::copy_n(from, columns, packed);
        continue;
      }
      for (std::size_t j = 0; j < columns; ++j) packed[j] = out[place + j] > 0.0F ? from[j] : 0.0F;
    }
  }
};

void SparseLinear::gradient(const Samples& samples, const float* out, const float* out_gradient,
                            std::size_t width, float* weight_gradient, float* bias_gradient) {
  const std::span<const Index* const> rows = rows_of(samples);
  // At least one, which overwrites what is in the gradients.
  chunks_.resize(std::max<std::size_t>(1, pieces_of(rows.size(), kChunk)));
  workers_.run(static_cast<int>(chunks_.size()), [&](int index) {
    const std::size_t first = static_cast<std::size_t>(index) * kChunk;
    const std::size_t count = std::min(kChunk, rows.size() - first);
    chunks_[static_cast<std::size_t>(index)].build(*layout_, rows.subspan(first, count));
  });
  const Gradients gradients{out, out_gradient, width, weight_gradient, bias_gradient};
  const auto threads = static_cast<std::size_t>(workers_.count());
  const std::size_t columns = std::max(kLeastColumns, padded(pieces_of(width, threads)));
  workers_.run(static_cast<int>(pieces_of(width, columns)), [&](int piece) {
    const std::size_t first = static_cast<std::size_t>(piece) * columns;
    add_columns(gradients, first, std::min(columns, width - first));
  });
}

void SparseLinear::add_columns(const Gradients& gradients, std::size_t first,
                               std::size_t count) const {
  const auto inputs = static_cast<std::size_t>(layout_->inputs());
  const std::size_t width = gradients.width;
  std::vector<Index> all(kChunk);
  std::iota(all.begin(), all.end(), Index{0});
  AlignedFloats packed(kChunk * count);
  const Rows rows{packed.data(), count};
  float* bias = gradients.bias + first;
  for (std::size_t index = 0; index < chunks_.size(); ++index) {
    const InputLists& chunk = chunks_[index];
    gradients.pack(index * kChunk, chunk.sample_count(), first, count, packed.data());
    const bool fresh = index == 0;
    for (std::size_t input = 0; input < inputs; ++input) {
      if (!fresh && chunk.empty(input)) continue;
      float* sums = gradients.weight + input * width + first;
      kernels_.sum_rows(chunk.samples_of(input), rows, count, fresh ? nullptr : sums, sums);
    }
    const RowList everything{all.data(), chunk.sample_count(), nullptr, nullptr, 0};
    kernels_.sum_rows(everything, rows, count, fresh ? nullptr : bias, bias);
  }
  // The base is there in every sample.
  constexpr Index kOnly = 0;
  for (const Index input : layout_->base_inputs()) {
    const float value = layout_->base()[input];
    float* sums = gradients.weight + input * width + first;
    kernels_.sum_rows({nullptr, 0, &kOnly, &value, 1}, {bias, width}, count, sums, sums);
  }
}

}  // namespace warpzone::policy
