#include "policy/episode_starts.hpp"

#include <utility>

namespace warpzone::policy {

void EpisodeStarts::arm(Lane& lane) {
  if (armed_ || waiting_.empty()) return;
  const EpisodeStart start = std::move(waiting_.front());
  waiting_.pop_front();
  lane.set_task(start.task);
  lane.set_start_state(start.state, start.idle);
  lane.set_route(start.route);
  lane.set_step_limit(start.step_limit);
  next_ = start.id;
  armed_ = true;
}

void EpisodeStarts::begun(Lane& lane) {
  present_ = next_;
  level_ = task_name(lane.task());
  if (armed_) {  // What it was given was for one episode.
    lane.set_start_state({});
    lane.set_step_limit(0);
  }
  next_ = kOwnStart;
  armed_ = false;
  arm(lane);
}

void EpisodeStarts::set_present(std::int64_t id, std::string level) {
  present_ = id;
  level_ = std::move(level);
}

std::vector<std::int64_t> EpisodeStarts::waiting() const {
  std::vector<std::int64_t> ids;
  if (armed_) ids.push_back(next_);
  for (const EpisodeStart& start : waiting_) ids.push_back(start.id);
  return ids;
}

}  // namespace warpzone::policy
