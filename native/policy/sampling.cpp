#include "policy/sampling.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace warpzone::policy {

Choice sample(std::span<const float> logits, Random& random) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  double total = 0.0;
  for (const float logit : logits) total += std::exp(logit - largest);
  if (!std::isfinite(total)) {
    throw std::runtime_error("the policy's logits are NaN or infinite");
  }
  // The first action whose cumulated share is above the number drawn; rounding may leave none, and
  // then it is the last one that has a share.
  double left = random.uniform() * total;
  std::size_t chosen = 0;
  for (std::size_t action = 0; action < logits.size(); ++action) {
    const double share = std::exp(logits[action] - largest);
    if (share > 0.0) chosen = action;
    left -= share;
    if (left < 0.0) break;
  }
  return {static_cast<int>(chosen), static_cast<float>(logits[chosen] - largest - std::log(total))};
}

}  // namespace warpzone::policy
