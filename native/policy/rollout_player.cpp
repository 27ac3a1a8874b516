#include "policy/rollout_player.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "mario/tiles.hpp"
#include "policy/sampling.hpp"

namespace warpzone::policy {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

[[noreturn]] void refuse(const std::string& text) { throw std::invalid_argument(text); }

/// What all lanes tell of themselves, put in order: by step, then by lane.
template <typename Record>
std::vector<Record> in_order(std::vector<Record> records) {
  std::sort(records.begin(), records.end(), [](const Record& left, const Record& right) {
    return std::pair(left.step, left.lane) < std::pair(right.step, right.lane);
  });
  return records;
}

}  // namespace

/// One lane's part of a rollout.
class RolloutPlayer::LanePlay {
 public:
  LanePlay(const RolloutPlayer& player, Follower& follower, int index, Lane& lane,
           const RolloutArrays& out)
      : layout_(player.network().layout()),
        rules_(player.rules_),
        follower_(follower),
        lane_(lane),
        out_(out),
        index_(index),
        lanes_(static_cast<std::size_t>(player.pool_.size())),
        decider_(player.network()),
        grid_(layout_.grid_bytes()),
        final_grid_(layout_.grid_bytes()),
        final_row_(layout_.capacity()) {
    slot_.obs = grid_.data();
    slot_.features = features_.data();
    slot_.reward = &reward_;
    slot_.terminated = &terminated_;
    slot_.truncated = &truncated_;
    slot_.final_obs = final_grid_.data();
    slot_.final_features = final_features_.data();
    slot_.info = slot_of(present_);
    slot_.final_info = slot_of(end_);
  }

  void play() {
    const Clock::time_point began = Clock::now();
    follower_.ends.clear();
    follower_.recorder.begin_rollout();
    follower_.starts.arm(lane_);
    lane_.observe(slot_);
    out_.first[at(0)] = lane_.tracker().steps == 0;
    Random random{out_.random[index_]};
    for (int step = 0; step < out_.steps; ++step) {
      const int action = choose(step, random);
      lane_.step(action, slot_);
      keep_step(step);
    }
    value_observation(out_.steps);
    out_.random[index_] = random.state;
    follower_.times = {acting_, seconds_since(began)};
  }

 private:
  std::size_t at(int step) const {
    return static_cast<std::size_t>(step) * lanes_ + static_cast<std::size_t>(index_);
  }
  /// The enemies are not kept.
  InfoSlot slot_of(EpisodeEnd& end) {
    return {end.numbers.data(), end.flags.data(), 1, end.terms.data(), enemies_.data()};
  }
  Index* row(int step) const { return out_.active + at(step) * layout_.capacity(); }

  /// Keeps the present observation, and what the network says of it.
  void value_observation(int step) {
    keep_observation(step);
    decider_.decide(row(step));
    out_.values[at(step)] = decider_.value();
  }

  int choose(int step, Random& random) {
    const Clock::time_point began = Clock::now();
    value_observation(step);
    const std::size_t place = at(step);
    // A number is drawn for a forced action too, so that it does not change later choices.
    Choice choice = sample(decider_.logits(), random);
    if (out_.forced != nullptr && out_.forced[place] >= 0) {
      choice = forced_choice(decider_.logits(), out_.forced[place]);
    }
    out_.actions[place] = choice.action;
    out_.log_probs[place] = choice.log_prob;
    acting_ += seconds_since(began);
    return choice.action;
  }

  void keep_observation(int step) {
    layout_.write(slot_.obs, slot_.features, row(step));
    if (out_.grids != nullptr) {
      std::memcpy(out_.grids + at(step) * grid_.size(), grid_.data(), grid_.size());
    }
    if (out_.features != nullptr) {
      std::memcpy(out_.features + at(step) * features_.size(), features_.data(), features_.size());
    }
  }

  void keep_step(int step) {
    const std::size_t place = at(step);
    const bool ended = terminated_ != 0 || truncated_ != 0;
    out_.rewards[place] = reward_;
    out_.terminated[place] = terminated_;
    out_.truncated[place] = truncated_;
    out_.first[at(step + 1)] = ended;
    const EpisodeEnd& info = ended ? end_ : present_;
    out_.progress[place] = info.numbers[static_cast<std::size_t>(InfoNumber::progress)];
    out_.stagnation[place] = info.numbers[static_cast<std::size_t>(InfoNumber::stagnation)];
    out_.final_values[place] = truncated_ != 0 ? final_value() : 0.0F;
    EpisodeStarts& starts = follower_.starts;
    if (ended) {
      end_.step = step;
      end_.lane = index_;
      end_.start = starts.present();
      end_.level = starts.level();
      follower_.ends.push_back(end_);
      starts.begun(lane_);
      follower_.recorder.begin_episode();
    } else if (rules_.spacing > 0) {
      Snapshot snapshot;
      snapshot.step = step;
      snapshot.lane = index_;
      snapshot.start = starts.present();
      snapshot.level = starts.level();
      follower_.recorder.look(rules_, slot_.info, lane_, std::move(snapshot));
    }
  }

  float final_value() {
    layout_.write(slot_.final_obs, slot_.final_features, final_row_.data());
    decider_.decide(final_row_.data());
    return decider_.value();
  }

  const ActiveLayout& layout_;
  const SnapshotRules& rules_;
  Follower& follower_;
  Lane& lane_;
  const RolloutArrays& out_;
  int index_;
  std::size_t lanes_;
  Decider decider_;
  std::vector<std::uint8_t> grid_, final_grid_;
  std::vector<Index> final_row_;
  std::array<std::uint8_t, mario::kFeatureCount> features_{}, final_features_{};
  std::array<std::int32_t, mario::ram::kEnemySlots * kEnemyNumbers> enemies_{};
  double acting_ = 0.0;  ///< Seconds.
  float reward_ = 0.0F;
  std::uint8_t terminated_ = 0, truncated_ = 0;
  EpisodeEnd present_;  ///< The info of every step, of the new episode where one ended.
  EpisodeEnd end_;      ///< The info at the end of an episode.
  LaneOutput slot_;
};

RolloutPlayer::RolloutPlayer(Pool& pool, std::shared_ptr<const Network> network)
    : pool_(pool), network_(std::move(network)), followers_(static_cast<std::size_t>(pool.size())) {
  const LaneSettings& settings = pool.settings();
  const ActiveLayout& layout = network_->layout();
  if (settings.obs != ObsKind::kTiles) refuse("obs must be 'tiles' to act natively");
  if (settings.autoreset != Autoreset::kSameStep) {
    refuse("autoreset must be 'same-step' to act natively");
  }
  if (layout.grid_bytes() != settings.obs_size() ||
      layout.feature_count() != static_cast<std::size_t>(mario::kFeatureCount)) {
    refuse("the network expects observations of " + std::to_string(layout.grid_bytes()) + " + " +
           std::to_string(layout.feature_count()) + " bytes; the environment makes " +
           std::to_string(settings.obs_size()) + " + " + std::to_string(mario::kFeatureCount));
  }
  if (network_->shape().actions != pool.action_count()) {
    refuse("the network has " + std::to_string(network_->shape().actions) +
           " actions; the environment has " + std::to_string(pool.action_count()));
  }
  for (int lane = 0; lane < pool.size(); ++lane) {
    follower(lane).starts.set_present(kOwnStart, task_name(pool.lane(lane).task()));
  }
}

RolloutPlayer::Follower& RolloutPlayer::follower(int lane) {
  if (lane < 0 || lane >= pool_.size()) {
    refuse("environment " + std::to_string(lane) + " does not exist; there are " +
           std::to_string(pool_.size()));
  }
  return followers_[static_cast<std::size_t>(lane)];
}

EpisodeStarts& RolloutPlayer::starts(int lane) { return follower(lane).starts; }

SnapshotRecorder& RolloutPlayer::recorder(int lane) { return follower(lane).recorder; }

void RolloutPlayer::play(const RolloutArrays& out) {
  const auto weights = network_->hold();
  pool_.for_each_lane([&](int index, Lane& lane) {
    LanePlay(*this, followers_[static_cast<std::size_t>(index)], index, lane, out).play();
  });
}

std::vector<EpisodeEnd> RolloutPlayer::ends() const {
  std::vector<EpisodeEnd> all;
  for (const Follower& follower : followers_) {
    all.insert(all.end(), follower.ends.begin(), follower.ends.end());
  }
  return in_order(std::move(all));
}

std::vector<Snapshot> RolloutPlayer::snapshots() const {
  std::vector<Snapshot> all;
  for (const Follower& follower : followers_) {
    all.insert(all.end(), follower.recorder.taken().begin(), follower.recorder.taken().end());
  }
  return in_order(std::move(all));
}

PlayTimes RolloutPlayer::times() const {
  PlayTimes sum;
  for (const Follower& follower : followers_) {
    sum.acting += follower.times.acting;
    sum.total += follower.times.total;
  }
  return sum;
}

}  // namespace warpzone::policy
