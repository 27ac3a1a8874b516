#include "policy/sparse_linear.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "policy/row_unpacking.hpp"

namespace warpzone::policy {
namespace {

/// Samples that a thread takes at a time.
constexpr std::size_t kPiece = 32;
/// Samples and columns whose gradients stay in a core's own cache while all inputs go over them.
constexpr std::size_t kChunk = 1024, kColumns = 64;

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
    const Index* row = samples.store + static_cast<std::size_t>(chosen) * samples.slots;
    if (!layout_->is_sound(row, samples.slots)) {
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

void SparseLinear::gradient(const Samples& samples, const float* out, const float* out_gradient,
                            std::size_t width, float* weight_gradient, float* bias_gradient) {
  const std::span<const Index* const> rows = rows_of(samples);
  // At least one, which overwrites what is in the gradients.
  const std::size_t chunks = std::max<std::size_t>(1, pieces_of(rows.size(), kChunk));
  chunks_.resize(chunks);
  workers_.run(static_cast<int>(chunks), [&](int index) {
    const std::size_t first = static_cast<std::size_t>(index) * kChunk;
    const std::size_t count = std::min(kChunk, rows.size() - first);
    chunks_[static_cast<std::size_t>(index)].build(*layout_, rows.subspan(first, count));
  });
  const std::size_t blocks = pieces_of(width, kColumns);
  packed_.resize(blocks * rows.size() * kColumns);
  workers_.run(static_cast<int>(pieces_of(rows.size(), kPiece)), [&](int piece) {
    const std::size_t first = static_cast<std::size_t>(piece) * kPiece;
    pack(out, out_gradient, width, rows.size(), first, std::min(first + kPiece, rows.size()));
  });
  workers_.run(static_cast<int>(blocks), [&](int block) {
    const auto index = static_cast<std::size_t>(block);
    add_columns(packed_.data() + index * rows.size() * kColumns, width, index * kColumns,
                weight_gradient, bias_gradient);
  });
}

void SparseLinear::pack(const float* out, const float* out_gradient, std::size_t width,
                        std::size_t batch, std::size_t first, std::size_t end) {
  for (std::size_t sample = first; sample < end; ++sample) {
    for (std::size_t column = 0; column < width; column += kColumns) {
      const std::size_t count = std::min(kColumns, width - column);
      const float* from = out_gradient + sample * width + column;
      float* to = packed_.data() + column * batch + sample * kColumns;
      if (out == nullptr) {
        std::copy_n(from, count, to);
        continue;
      }
      const float* output = out + sample * width + column;
      for (std::size_t j = 0; j < count; ++j) to[j] = output[j] > 0.0F ? from[j] : 0.0F;
    }
  }
}

void SparseLinear::add_columns(const float* packed, std::size_t width, std::size_t first,
                               float* weight_gradient, float* bias_gradient) const {
  const auto inputs = static_cast<std::size_t>(layout_->inputs());
  const std::size_t count = std::min(kColumns, width - first);
  std::vector<Index> all(kChunk);
  std::iota(all.begin(), all.end(), Index{0});
  float* bias = bias_gradient + first;
  for (std::size_t index = 0; index < chunks_.size(); ++index) {
    const InputLists& chunk = chunks_[index];
    const Rows rows{packed + index * kChunk * kColumns, kColumns};
    const bool fresh = index == 0;
    for (std::size_t input = 0; input < inputs; ++input) {
      if (!fresh && chunk.empty(input)) continue;
      float* sums = weight_gradient + input * width + first;
      kernels_.sum_rows(chunk.samples_of(input), rows, count, fresh ? nullptr : sums, sums);
    }
    const RowList everything{all.data(), chunk.sample_count(), nullptr, nullptr, 0};
    kernels_.sum_rows(everything, rows, count, fresh ? nullptr : bias, bias);
  }
  // The base is there in every sample.
  constexpr Index kOnly = 0;
  for (const Index input : layout_->base_inputs()) {
    const float value = layout_->base()[input];
    float* sums = weight_gradient + input * width + first;
    kernels_.sum_rows({nullptr, 0, &kOnly, &value, 1}, {bias, width}, count, sums, sums);
  }
}

}  // namespace warpzone::policy
