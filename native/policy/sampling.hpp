/// Drawing an action from a distribution.
#pragma once

#include <span>

#include "common/random.hpp"

namespace warpzone::policy {

struct Choice {
  int action = 0;
  float log_prob = 0.0F;
};

/// Draws from softmax(logits), with one number from the stream. Throws std::runtime_error when the
/// logits are not finite.
Choice sample(std::span<const float> logits, Random& random);

/// The choice of a given action. Throws std::runtime_error when the logits are not finite, and
/// std::invalid_argument for an action that does not exist.
Choice forced_choice(std::span<const float> logits, int action);

}  // namespace warpzone::policy
