/// What a step means: its reward, whether it ends the episode, and what its info says.
#pragma once

#include <cstdint>
#include <memory>

#include "mario/ending.hpp"
#include "mario/progress.hpp"
#include "mario/reward.hpp"
#include "mario/tracker.hpp"
#include "nes/console.hpp"
#include "vector/config.hpp"
#include "vector/info.hpp"

namespace warpzone {

/// One implementation per value of the `reward` parameter, chosen when a lane is made. Whatever a
/// save state must hold lives in the tracker, not here.
class EpisodeRules {
 public:
  virtual ~EpisodeRules() = default;

  /// An episode of `task` begins, or resumes from a save state, at the console's present moment.
  virtual void begin(const nes::Console& console, const Task& task) = 0;
  /// An agent step begins.
  virtual void begin_step(mario::Tracker& tracker) = 0;
  /// Follows one emulated frame. Returns true when it ran further frames, which were not drawn.
  virtual bool follow_frame(nes::Console& console, mario::Tracker& tracker,
                            const mario::Route* route) = 0;
  /// An agent step ends. Returns its reward; `run_step` drives annealing.
  virtual double finish_step(const nes::Console& console, mario::Tracker& tracker,
                             std::int64_t run_step) = 0;
  /// Why the step just taken terminates the episode. Limits are the caller's business.
  virtual mario::EndReason judge(const mario::Tracker& tracker) const = 0;
  virtual void write_info(const nes::Console& console, const mario::Tracker& tracker,
                          const InfoSlot& out) const = 0;
};

/// The rules that `settings` ask for. Both arguments must outlive them; weights may change between
/// steps.
std::unique_ptr<EpisodeRules> make_rules(const LaneSettings& settings,
                                         const mario::RewardWeights& weights);

std::unique_ptr<EpisodeRules> make_shaped_rules(const EnvConfig& config,
                                                const mario::RewardWeights& weights);
std::unique_ptr<EpisodeRules> make_classic_rules(const EnvConfig& config);

/// Which events end an episode of the task, as configured or by default.
mario::EndRules end_rules_of(const EnvConfig& config, const Task& task);

}  // namespace warpzone
