#include "policy/sampling.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace warpzone::policy {
namespace {

/// Softmax, up to a common factor: exp(logit - largest), and their sum.
struct Shares {
  double largest, total;

  explicit Shares(std::span<const float> logits)
      : largest(*std::max_element(logits.begin(), logits.end())), total(0.0) {
    for (const float logit : logits) total += std::exp(logit - largest);
    if (!std::isfinite(total)) {
      throw std::runtime_error("the policy's logits are NaN or infinite");
    }
  }
  double of(float logit) const { return std::exp(logit - largest); }
  float log_prob(float logit) const {
    return static_cast<float>(logit - largest - std::log(total));
  }
};

}  // namespace

Choice sample(std::span<const float> logits, Random& random) {
  const Shares shares(logits);
  // The first action whose cumulated share is above the number drawn; rounding may leave none, and
  // then it is the last one that has a share.
  double left = random.uniform() * shares.total;
  std::size_t chosen = 0;
  for (std::size_t action = 0; action < logits.size(); ++action) {
    const double share = shares.of(logits[action]);
    if (share > 0.0) chosen = action;
    left -= share;
    if (left < 0.0) break;
  }
  return {static_cast<int>(chosen), shares.log_prob(logits[chosen])};
}

Choice forced_choice(std::span<const float> logits, int action) {
  if (action < 0 || static_cast<std::size_t>(action) >= logits.size()) {
    throw std::invalid_argument("action " + std::to_string(action) + " does not exist; there are " +
                                std::to_string(logits.size()));
  }
  return {action, Shares(logits).log_prob(logits[static_cast<std::size_t>(action)])};
}

}  // namespace warpzone::policy
