#include "policy/network.hpp"

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

namespace warpzone::policy {
namespace {

void check_size(const char* name, int size) {
  constexpr int kMost = 1 << 14;
  if (size < 1 || size > kMost) {
    throw std::invalid_argument(std::string(name) + " is " + std::to_string(size) +
                                "; it must be from 1 to " + std::to_string(kMost));
  }
}

const NetworkShape& checked(const NetworkShape& shape) {
  check_size("hidden", shape.hidden);
  check_size("size", shape.size);
  check_size("actions", shape.actions);
  return shape;
}

}  // namespace

Network::Layer::Layer(int input_count, int output_count)
    : inputs(static_cast<std::size_t>(input_count)),
      outputs(static_cast<std::size_t>(output_count)),
      weight(inputs * padded(outputs)),
      bias(padded(outputs)) {}

void Network::Layer::copy(const LayerView& view, std::size_t first, std::size_t count) {
  // Blocks, so that neither side strides through all of its memory for every number.
  constexpr std::size_t kBlock = 32;
  const std::size_t stride = bias.size();
  for (std::size_t begin = 0; begin < inputs; begin += kBlock) {
    const std::size_t end = std::min(begin + kBlock, inputs);
    for (std::size_t output = 0; output < count; ++output) {
      const float* from = view.weight + static_cast<std::int64_t>(output) * view.output_stride;
      float* to = weight.data() + first + output;
      for (std::size_t input = begin; input < end; ++input) {
        to[input * stride] = from[static_cast<std::int64_t>(input) * view.input_stride];
      }
    }
  }
  std::copy_n(view.bias, count, bias.begin() + static_cast<std::ptrdiff_t>(first));
}

Network::Network(std::shared_ptr<const ActiveLayout> layout, const NetworkShape& shape,
                 const Kernels& kernels)
    : layout_(std::move(layout)),
      shape_(checked(shape)),
      kernels_(kernels),
      first_(layout_->inputs(), shape.hidden),
      second_(shape.hidden, shape.size),
      heads_(shape.size, shape.actions + 1),
      base_(first_.bias.size()) {}

void Network::set_weights(const LayerView& first, const LayerView& second, const LayerView& policy,
                          const LayerView& value) {
  const std::unique_lock lock(mutex_);
  if (first.output_stride == 1) {  // Already as wanted, but for the padding.
    for (std::size_t input = 0; input < first_.inputs; ++input) {
      std::copy_n(first.weight + static_cast<std::int64_t>(input) * first.input_stride,
                  first_.outputs, first_.weight.data() + input * first_.bias.size());
    }
    std::copy_n(first.bias, first_.outputs, first_.bias.begin());
  } else {
    first_.copy(first, 0, first_.outputs);
  }
  second_.copy(second, 0, second_.outputs);
  heads_.copy(policy, 0, heads_.outputs - 1);
  heads_.copy(value, heads_.outputs - 1, 1);
  add_base(*layout_, kernels_, first_.rows(), first_.bias.data(), base_.size(), base_.data());
}

Decider::Decider(const Network& network)
    : network_(network),
      unpacker_(network.layout()),
      hidden_(network.first_.bias.size()),
      encoded_(network.second_.bias.size()),
      heads_(network.heads_.bias.size()),
      positive_(std::max(hidden_.size(), encoded_.size())),
      positive_values_(positive_.size()) {}

void Decider::decide(const Index* row) {
  const RowList active = unpacker_.unpack(row);
  network_.kernels_.sum_rows(active, network_.first_.rows(), hidden_.size(), network_.base_.data(),
                             hidden_.data());
  apply(network_.second_, network_.first_.outputs, hidden_, encoded_);
  apply(network_.heads_, network_.second_.outputs, encoded_, heads_);
}

void Decider::apply(const Network::Layer& layer, std::size_t inputs, const AlignedFloats& from,
                    AlignedFloats& to) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < inputs; ++i) {
    positive_[count] = static_cast<Index>(i);
    positive_values_[count] = from[i];
    count += from[i] > 0.0F ? 1 : 0;
  }
  const RowList list{nullptr, 0, positive_.data(), positive_values_.data(), count};
  network_.kernels_.sum_rows(list, layer.rows(), to.size(), layer.bias.data(), to.data());
}

std::span<const float> Decider::logits() const {
  return {heads_.data(), static_cast<std::size_t>(network_.shape().actions)};
}

float Decider::value() const { return heads_[static_cast<std::size_t>(network_.shape().actions)]; }

}  // namespace warpzone::policy
