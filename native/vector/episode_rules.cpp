#include "vector/episode_rules.hpp"

namespace warpzone {

std::unique_ptr<EpisodeRules> make_rules(const LaneSettings& settings,
                                         const mario::RewardWeights& weights) {
  return settings.reward == RewardKind::kClassic ? make_classic_rules(settings.config)
                                                 : make_shaped_rules(settings.config, weights);
}

mario::EndRules end_rules_of(const EnvConfig& config, const Task& task) {
  return {config.one_life.value_or(!task.whole_game), config.one_level.value_or(!task.whole_game)};
}

}  // namespace warpzone
