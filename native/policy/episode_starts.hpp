/// Where the next episodes of one lane begin: prepared ahead, since nobody is asked while a rollout
/// is played.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "mario/progress.hpp"
#include "vector/config.hpp"
#include "vector/lane.hpp"

namespace warpzone::policy {

/// No prepared start: the level's own, or whatever the lane was given by others.
inline constexpr std::int64_t kOwnStart = -1;

struct EpisodeStart {
  std::int64_t id = kOwnStart;  ///< The caller's name for it.
  Task task;
  std::vector<std::uint8_t> state;  ///< Save state; empty for the level's own start.
  bool idle = true;                 ///< Whether random idle frames come before play at `state`.
  std::shared_ptr<const mario::Route> route;  ///< Progress is measured along it.
  std::int64_t step_limit = 0;                ///< The episode is cut after it; 0 means never.
};

/// The starts of one lane, in order. A lane resets within a step, so the next start is given to it
/// ahead: when it has just begun an episode, or before a rollout if none was there by then.
class EpisodeStarts {
 public:
  void push(EpisodeStart start) { waiting_.push_back(std::move(start)); }
  /// Gives the lane its next start, if it has none yet and there is one.
  void arm(Lane& lane);
  /// The lane has just begun an episode. Without a further start, the one after begins at the own
  /// start of the same level.
  void begun(Lane& lane);

  /// Where the present episode began.
  std::int64_t present() const { return present_; }
  const std::string& level() const { return level_; }
  void set_present(std::int64_t id, std::string level);
  /// Starts that were not used yet, the next one first.
  std::vector<std::int64_t> waiting() const;

 private:
  std::deque<EpisodeStart> waiting_;
  bool armed_ = false;             ///< The lane has its next start from here.
  std::int64_t next_ = kOwnStart;  ///< Its name.
  std::int64_t present_ = kOwnStart;
  std::string level_;
};

}  // namespace warpzone::policy
