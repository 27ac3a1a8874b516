// The network that acts, against literal double precision, and how actions are drawn.
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <thread>
#include <vector>

#include "check.hpp"
#include "policy/network.hpp"
#include "policy/sampling.hpp"
#include "policy_support.hpp"

namespace {

using namespace warpzone;
using namespace warpzone::policy;

/// Of sums of some hundred products around 1.
constexpr double kTolerance = 1e-4;

/// Weights as PyTorch has them, [outputs, inputs], and biases.
struct Dense {
  std::size_t outputs, inputs;
  std::vector<float> weight, bias;

  Dense(std::size_t outs, std::size_t ins, std::uint64_t seed)
      : outputs(outs),
        inputs(ins),
        weight(random_floats(outs * ins, seed)),
        bias(random_floats(outs, seed + 1)) {
    const float scale = 1.0F / std::sqrt(static_cast<float>(ins));
    for (float& value : weight) value *= scale;
  }
  LayerView view() const {
    return {weight.data(), static_cast<std::int64_t>(inputs), 1, bias.data()};
  }
  std::vector<double> apply(const std::vector<double>& x, bool rectify) const {
    std::vector<double> out(outputs);
    for (std::size_t o = 0; o < outputs; ++o) {
      out[o] = bias[o];
      for (std::size_t i = 0; i < inputs; ++i) out[o] += x[i] * weight[o * inputs + i];
      if (rectify) out[o] = std::max(out[o], 0.0);
    }
    return out;
  }
};

struct Weights {
  Dense first, second, policy, value;

  Weights(const ActiveLayout& layout, const NetworkShape& shape)
      : first(static_cast<std::size_t>(shape.hidden), static_cast<std::size_t>(layout.inputs()), 1),
        second(static_cast<std::size_t>(shape.size), first.outputs, 3),
        policy(static_cast<std::size_t>(shape.actions), second.outputs, 5),
        value(1, second.outputs, 7) {}
  void give_to(Network& network) const {
    network.set_weights(first.view(), second.view(), policy.view(), value.view());
  }
};

void check_network(const NetworkShape& shape, const Kernels& kernels) {
  const auto layout = made_up_layout();
  Network network(layout, shape, kernels);
  const Weights weights(*layout, shape);
  weights.give_to(network);
  const std::vector<Index> rows = random_rows(*layout, 20, 4);
  std::vector<float> inputs(static_cast<std::size_t>(layout->inputs()));
  Decider decider(network);
  for (std::size_t sample = 0; sample < 20; ++sample) {
    const Index* row = rows.data() + sample * layout->capacity();
    layout->expand(row, inputs.data());
    const auto encoded =
        weights.second.apply(weights.first.apply({inputs.begin(), inputs.end()}, true), true);
    const auto logits = weights.policy.apply(encoded, false);
    decider.decide(row);
    CHECK_EQ(decider.logits().size(), logits.size());
    for (std::size_t i = 0; i < logits.size(); ++i) {
      CHECK(std::abs(decider.logits()[i] - logits[i]) < kTolerance);
    }
    CHECK(std::abs(decider.value() - weights.value.apply(encoded, false)[0]) < kTolerance);
  }
}

TEST(decisions_are_right_for_every_instruction_set_and_shape) {
  for (const Kernels& kernels : available_kernels()) {
    for (const NetworkShape shape : {NetworkShape{256, 128, 7}, {64, 32, 12}, {50, 27, 1}}) {
      check_network(shape, kernels);
    }
  }
}

TEST(shapes_that_make_no_sense_are_refused) {
  const auto layout = made_up_layout();
  for (const NetworkShape shape : {NetworkShape{0, 1, 1}, {1, -1, 1}, {1, 1, 0}, {1 << 20, 1, 1}}) {
    CHECK_THROWS(Network(layout, shape, kernels_named("auto")), std::invalid_argument);
  }
}

TEST(weights_can_change_while_others_decide) {
  // For the thread sanitizer: whoever decides holds the network.
  const auto layout = made_up_layout();
  const NetworkShape shape{32, 16, 5};
  Network network(layout, shape, kernels_named("auto"));
  const Weights weights(*layout, shape);
  weights.give_to(network);
  const std::vector<Index> rows = random_rows(*layout, 1, 4);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < 50; ++turn) {
        const auto hold = network.hold();
        Decider decider(network);
        decider.decide(rows.data());
        CHECK(std::isfinite(decider.value()));
      }
    });
  }
  for (int turn = 0; turn < 20; ++turn) weights.give_to(network);
  for (std::thread& thread : threads) thread.join();
}

TEST(actions_are_drawn_by_their_probability) {
  const std::array<float, 4> logits = {0.0F, 1.0F, -1.0F, 2.0F};
  double total = 0.0;
  for (const float logit : logits) total += std::exp(logit);
  Random random{42};
  constexpr int kDraws = 100'000;
  std::array<int, 4> counts{};
  for (int i = 0; i < kDraws; ++i) {
    const Choice choice = sample(logits, random);
    const auto action = static_cast<std::size_t>(choice.action);
    ++counts[action];
    CHECK(std::abs(choice.log_prob - (logits[action] - std::log(total))) < 1e-6);
  }
  double chi_squared = 0.0;
  for (std::size_t action = 0; action < 4; ++action) {
    const double expected = kDraws * std::exp(logits[action]) / total;
    chi_squared += (counts[action] - expected) * (counts[action] - expected) / expected;
  }
  CHECK(chi_squared < 25.0);  // Three degrees of freedom: one in sixty thousand.
}

TEST(a_draw_takes_one_number_from_the_stream) {
  Random random{7}, other{7};
  sample(std::array<float, 3>{1.0F, 2.0F, 3.0F}, random);
  other.next();
  CHECK_EQ(random.state, other.state);
}

TEST(extreme_logits_are_drawn_from_too) {
  const float never = -std::numeric_limits<float>::infinity();
  Random random{1};
  for (int i = 0; i < 1000; ++i) {
    CHECK_EQ(sample(std::array<float, 3>{never, 3e30F, never}, random).action, 1);
    CHECK_EQ(sample(std::array<float, 3>{-200.0F, 0.0F, -200.0F}, random).action, 1);
  }
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS(sample(std::array<float, 2>{0.0F, nan}, random), std::runtime_error);
  CHECK_THROWS(sample(std::array<float, 2>{never, never}, random), std::runtime_error);
  CHECK_THROWS(forced_choice(std::array<float, 2>{0.0F, nan}, 0), std::runtime_error);
}

}  // namespace
