/// `reward="classic"`: rewards, ends and infos of gym-super-mario-bros 7.4.
#include <algorithm>
#include <array>

#include "mario/classic.hpp"
#include "mario/ram.hpp"
#include "vector/episode_rules.hpp"

namespace warpzone {
namespace {

namespace ram = mario::ram;

constexpr std::uint8_t kNoLives = 0xFF;

/// After each frame the package looks at the RAM, then skips scripted moments. What it reports is
/// the RAM before that, so this keeps a copy.
class ClassicRules final : public EpisodeRules {
 public:
  explicit ClassicRules(const EnvConfig& config) : config_(config) {}

  void begin(const nes::Console& console, const Task& task) override {
    whole_game_ = task.whole_game;
    ends_ = end_rules_of(config_, task);
    end_ = mario::EndReason::running;
    flag_get_ = false;
    keep_ram(console);
  }

  void begin_step(mario::Tracker& tracker) override {
    tracker.begin_step();
    flag_get_ = false;
  }

  bool follow_frame(nes::Console& console, mario::Tracker& tracker,
                    const mario::Route* route) override {
    if (end_ != mario::EndReason::running) return false;  // Frames that are left of the last step.
    tracker.frame(console.ram(), route);
    const std::uint64_t now = console.frame_count();
    keep_ram(console);
    flag_get_ = flag_get_ || mario::classic_flag_get(console.ram());
    if (whole_game_) {
      end_ = console.ram()[ram::kLives] == kNoLives ? mario::EndReason::game_over
                                                    : mario::EndReason::running;
      cut_dying_scene(console);
    } else {
      end_ = mario::classic_end_reason(console.ram());
    }
    if (end_ == mario::EndReason::running) mario::classic_skip_scripted(console);
    return console.frame_count() != now;
  }

  double finish_step(const nes::Console&, mario::Tracker& tracker, std::int64_t) override {
    return tracker.finish_classic_step();
  }

  mario::EndReason judge(const mario::Tracker& tracker) const override {
    if (!whole_game_ || end_ != mario::EndReason::running) return end_;
    return ends_.judge(tracker.episode.events);
  }

  void write_info(const nes::Console&, const mario::Tracker& tracker,
                  const InfoSlot& out) const override {
    write_classic_info(ram_.data(), tracker, flag_get_, out);
  }

 private:
  void keep_ram(const nes::Console& console) {
    std::copy_n(console.ram(), ram_.size(), ram_.begin());
  }

  void cut_dying_scene(nes::Console& console) const {
    std::uint8_t* memory = console.ram();
    const bool dying = memory[ram::kPlayerTask] == ram::kTaskDying || memory[ram::kYPage] > 1;
    if (!dying || end_ != mario::EndReason::running) return;
    memory[ram::kPlayerTask] = ram::kTaskLifeLost;
    console.run_frame(0, false);
  }

  const EnvConfig& config_;
  mario::EndRules ends_;
  bool whole_game_ = false;
  bool flag_get_ = false;  ///< Seen in this step.
  mario::EndReason end_ = mario::EndReason::running;
  std::array<std::uint8_t, ram::kSize2KiB> ram_{};
};

}  // namespace

std::unique_ptr<EpisodeRules> make_classic_rules(const EnvConfig& config) {
  return std::make_unique<ClassicRules>(config);
}

}  // namespace warpzone
