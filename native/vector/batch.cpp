#include "vector/batch.hpp"

#include "mario/tiles.hpp"

namespace warpzone {

void throw_errors(std::span<const std::string> errors) {
  std::string text;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    if (errors[i].empty()) continue;
    text += (text.empty() ? "env " : "; env ") + std::to_string(i) + ": " + errors[i];
  }
  if (!text.empty()) throw LaneError(text);
}

InfoSlot InfoBatch::slot(int row, int rows) const {
  const auto i = static_cast<std::size_t>(row);
  InfoSlot slot;
  slot.numbers = numbers + i;
  slot.flags = flags + i;
  slot.stride = rows;
  slot.terms = terms + i * mario::kTermCount;
  slot.enemies = enemies + i * mario::ram::kEnemySlots * kEnemyNumbers;
  return slot;
}

LaneOutput row_of(const BatchOutput& out, int row, int rows, const LaneSettings& settings) {
  const auto i = static_cast<std::size_t>(row);
  const std::size_t obs = settings.obs_size();
  LaneOutput slot;
  slot.obs = out.obs + i * obs;
  slot.reward = out.reward + i;
  slot.terminated = out.terminated + i;
  slot.truncated = out.truncated + i;
  if (out.final_obs != nullptr) slot.final_obs = out.final_obs + i * obs;
  if (out.features != nullptr) slot.features = out.features + i * mario::kFeatureCount;
  if (out.final_features != nullptr) {
    slot.final_features = out.final_features + i * mario::kFeatureCount;
  }
  slot.info = out.info.slot(row, rows);
  if (out.final_info.numbers != nullptr) slot.final_info = out.final_info.slot(row, rows);
  return slot;
}

}  // namespace warpzone
