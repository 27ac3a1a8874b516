/// `reward="shaped"`: weighted terms, and ends that follow the game's events.
#include "vector/episode_rules.hpp"

namespace warpzone {
namespace {

class ShapedRules final : public EpisodeRules {
 public:
  ShapedRules(const EnvConfig& config, const mario::RewardWeights& weights)
      : config_(config), weights_(weights) {}

  void begin(const nes::Console&, const Task& task) override {
    ends_ = end_rules_of(config_, task);
  }

  void begin_step(mario::Tracker& tracker) override { tracker.begin_step(); }

  bool follow_frame(nes::Console& console, mario::Tracker& tracker,
                    const mario::Route* route) override {
    tracker.frame(console.ram(), route);
    return false;
  }

  double finish_step(const nes::Console& console, mario::Tracker& tracker,
                     std::int64_t run_step) override {
    return tracker.finish_step(console.ram(), weights_, run_step).total();
  }

  mario::EndReason judge(const mario::Tracker& tracker) const override {
    return ends_.judge(tracker.episode.events);
  }

  void write_info(const nes::Console& console, const mario::Tracker& tracker,
                  const InfoSlot& out) const override {
    warpzone::write_info(console.ram(), tracker, out);
  }

 private:
  const EnvConfig& config_;
  const mario::RewardWeights& weights_;
  mario::EndRules ends_;
};

}  // namespace

std::unique_ptr<EpisodeRules> make_shaped_rules(const EnvConfig& config,
                                                const mario::RewardWeights& weights) {
  return std::make_unique<ShapedRules>(config, weights);
}

}  // namespace warpzone
