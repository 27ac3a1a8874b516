/// One environment: frame skip, images, reward, end of the episode.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/random.hpp"
#include "mario/progress.hpp"
#include "mario/reward.hpp"
#include "mario/tracker.hpp"
#include "nes/console.hpp"
#include "vector/config.hpp"
#include "vector/episode_rules.hpp"
#include "vector/frame_stack.hpp"
#include "vector/image.hpp"
#include "vector/info.hpp"
#include "vector/starts.hpp"

namespace warpzone {

/// What all lanes of a pool share.
struct LaneContext {
  LaneContext(std::shared_ptr<const nes::Cartridge> cartridge, mario::Game game,
              const EnvConfig& config);

  std::shared_ptr<const nes::Cartridge> cartridge;
  mario::Game game;
  LaneSettings settings;
  ImageWriter image;
  StartStates starts;
  mario::RewardWeights weights;  ///< Changed only between steps.
};

/// Where one lane writes the result of a step.
struct LaneOutput {
  std::uint8_t* obs = nullptr;  ///< Null for neither observation nor info: `observe` writes them.
  std::uint8_t* features = nullptr;  ///< Tiles only.
  float* reward = nullptr;
  std::uint8_t* terminated = nullptr;
  std::uint8_t* truncated = nullptr;
  InfoSlot info;
  // Same-step autoreset only: how the episode that ended in this step looked at its end.
  std::uint8_t* final_obs = nullptr;
  std::uint8_t* final_features = nullptr;
  InfoSlot final_info;
};

class Lane {
 public:
  Lane(LaneContext& context, int index);

  void seed(std::uint64_t seed) { state_.random.state = seed; }
  /// Begins an episode.
  void reset(const LaneOutput& out);
  /// `action` is an index into the configured actions.
  void step(int action, const LaneOutput& out);

  /// From the next reset on; the lane then stops drawing random tasks.
  void set_task(const Task& task);
  Task task() const { return task_; }
  /// From the next reset on; an empty state means the task's own start.
  /// `idle`: whether random no-op frames follow a reset to it as well.
  void set_start_state(std::span<const std::uint8_t> blob, bool idle = true);
  /// Progress is measured along it from the next reset or load on; null means by areas.
  void set_route(std::shared_ptr<const mario::Route> route);
  /// Truncates episodes after this many steps, from the next reset or load on; 0 means as
  /// configured.
  void set_step_limit(std::int64_t steps) { next_step_limit_ = steps; }

  std::vector<std::uint8_t> save();
  /// Takes a state saved by a lane of the same shape, or by a bare console (then the lane's
  /// episode begins there). Throws nes::StateError and changes nothing.
  void load(std::span<const std::uint8_t> blob, bool keep_random);
  /// Writes observation and info of the present moment.
  void observe(const LaneOutput& out);

  nes::Console& console() { return console_; }
  /// The console, with the present moment on its screen.
  const nes::Console& drawn();
  const mario::Tracker& tracker() const { return state_.tracker; }

 private:
  /// The part of the lane that a save state holds besides the console and the frames.
  struct State {
    mario::Tracker tracker;
    Random random;
    std::int64_t run_steps = 0;
    std::uint64_t route = 0;   ///< Names the route of the tracker's progress.
    std::uint8_t buttons = 0;  ///< Of the last emulated frame.
    std::uint8_t ended = 1;    ///< Waits for a reset.
    std::array<std::uint8_t, 6> reserved{};
  };
  static_assert(std::is_trivially_copyable_v<State>);
  static_assert(sizeof(State) == sizeof(mario::Tracker) + sizeof(Random) + 2 * 8 + 8,
                "name the padding: states of equal play must be equal byte for byte");

  void begin_episode();
  int draw_power();
  /// How the level starts: possibly as within a whole game.
  mario::StartOptions draw_start();
  /// The random no-op frames at the start of an episode.
  void idle();
  /// Enters a level as within a game: in the middle of a step, with the buttons of that step
  /// already held. The older frames of the observation still show the announcement.
  void arrive();
  /// Brings Mario to a state next to the start state, which the policy might not reach by itself.
  void hold_random_action();
  /// The tracker begins at the present moment.
  void start_following();
  void take_route_and_limit();
  void join_route();
  void play_frames(std::uint8_t buttons);
  void draw_ahead();
  void show_first_frame();
  void press(std::uint8_t buttons);
  void write_obs(std::uint8_t* obs, std::uint8_t* features) const;
  mario::EndReason end_of_step() const;

  LaneContext& context_;
  nes::Console console_;
  State state_;
  std::unique_ptr<EpisodeRules> rules_;
  Task task_;
  bool task_given_ = false;
  std::shared_ptr<const mario::Route> route_, next_route_;
  std::uint64_t route_name_ = 0, next_route_name_ = 0;
  std::int64_t step_limit_ = 0, next_step_limit_ = 0;
  std::unique_ptr<nes::MachineState> start_state_;
  bool idle_at_start_state_ = true;
  FrameStack stack_;
  bool drawn_ = false;  ///< The screen shows the present moment.
};

}  // namespace warpzone
