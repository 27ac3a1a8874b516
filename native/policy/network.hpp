/// The tile network as it acts: a layer over active inputs, a small dense one, and two heads.
///
/// The same network as `TileEncoder` and `ActorCritic` in Python without memory, in full precision.
/// A sample's result depends on its list and the weights alone, not on what else is computed.
#pragma once

#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <span>
#include <vector>

#include "policy/active_layout.hpp"
#include "policy/aligned.hpp"
#include "policy/kernels.hpp"
#include "policy/row_unpacking.hpp"

namespace warpzone::policy {

/// Weights of a layer as PyTorch has them, [outputs, inputs], in any order in memory.
struct LayerView {
  const float* weight = nullptr;
  std::int64_t output_stride = 0, input_stride = 0;
  const float* bias = nullptr;  ///< [outputs]
};

struct NetworkShape {
  int hidden = 0;   ///< Outputs of the first layer.
  int size = 0;     ///< Outputs of the second.
  int actions = 0;  ///< Outputs of the policy head.
};

/// Many threads may decide at a time; `set_weights` waits for them.
class Network {
 public:
  Network(std::shared_ptr<const ActiveLayout> layout, const NetworkShape& shape,
          const Kernels& kernels);

  const ActiveLayout& layout() const { return *layout_; }
  const NetworkShape& shape() const { return shape_; }
  const Kernels& kernels() const { return kernels_; }

  /// Copies the weights.
  void set_weights(const LayerView& first, const LayerView& second, const LayerView& policy,
                   const LayerView& value);
  /// Keeps the weights from changing until the result is destroyed.
  std::shared_lock<std::shared_mutex> hold() const { return std::shared_lock(mutex_); }

 private:
  friend class Decider;

  /// Weights as kernels read them: the row of an input lies together.
  struct Layer {
    std::size_t inputs = 0, outputs = 0;
    AlignedFloats weight;  ///< [inputs, padded(outputs)]
    AlignedFloats bias;

    Layer(int input_count, int output_count);
    /// From the output `first` on.
    void copy(const LayerView& view, std::size_t first, std::size_t count);
    Rows rows() const { return {weight.data(), bias.size()}; }
  };

  std::shared_ptr<const ActiveLayout> layout_;
  NetworkShape shape_;
  const Kernels& kernels_;
  Layer first_, second_;
  Layer heads_;         ///< The actions, then the value.
  AlignedFloats base_;  ///< Output of the first layer when nothing is listed.
  mutable std::shared_mutex mutex_;
};

/// What one thread needs to decide, a sample at a time. Its owner holds the network meanwhile.
class Decider {
 public:
  explicit Decider(const Network& network);

  /// Computes logits and value for a list of active inputs.
  void decide(const Index* row);
  /// [actions], until the next call.
  std::span<const float> logits() const;
  float value() const;

 private:
  /// A dense layer over outputs that are above zero: those that are not add nothing.
  void apply(const Network::Layer& layer, std::size_t inputs, const AlignedFloats& from,
             AlignedFloats& to);

  const Network& network_;
  RowUnpacker unpacker_;
  AlignedFloats hidden_, encoded_, heads_;
  std::vector<Index> positive_;
  std::vector<float> positive_values_;
};

}  // namespace warpzone::policy
