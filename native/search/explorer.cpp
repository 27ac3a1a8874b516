#include "search/explorer.hpp"

#include <algorithm>

namespace warpzone::search {
namespace {

constexpr std::int32_t kLeastFrames = 60, kFramesSpan = 141;
constexpr std::int32_t kNoveltyFrames = 60;
// Pipes and other scripted moments cost nothing of the above; this ends what never ends.
constexpr std::int64_t kMostFrames = 6000;
constexpr double kAlternativeChance = 0.1;
// A variation leaves out up to 1, 2, 4, ... or 64 steps and may put in fewer.
constexpr std::uint32_t kLeaveOutDoublings = 7;
constexpr double kPutInChance = 0.6;

}  // namespace

void Findings::clear() {
  inputs.clear();
  discoveries.clear();
  frames_played = 0;
  end.reset();
}

Explorer::Explorer(std::shared_ptr<const nes::Cartridge> cartridge, const Rules& rules)
    : rules_(rules),
      console_(std::move(cartridge)),
      scratch_(std::make_unique<nes::MachineState>()) {}

void Explorer::depart(const PackedState& state, std::int32_t frames) {
  findings_.clear();
  seen_.clear();
  state.restore(console_, *scratch_);
  episode_.reset(console_.ram(), mario::last_level_of(rules_.task.game));
  frames_ = frames;
}

Explorer::Fate Explorer::frame_fate() const {
  const mario::Events& events = episode_.events;
  if (events.death || events.game_over) return Fate::kOver;
  if (events.clear) return Fate::kReachedEnd;
  if (events.warp) return rules_.warps ? Fate::kReachedEnd : Fate::kOver;
  return events.level_changed ? Fate::kOver : Fate::kGoesOn;
}

Explorer::Fate Explorer::step(std::uint8_t buttons) {
  findings_.inputs.push_back(buttons);
  Fate fate = Fate::kGoesOn;
  for (int i = 0; i < rules_.task.skip && fate == Fate::kGoesOn; ++i) {
    console_.run_frame(buttons, false);
    ++frames_;
    ++findings_.frames_played;
    if (episode_.update(console_.ram(), false)) fate = frame_fate();
  }
  if (fate == Fate::kReachedEnd) findings_.end = frames_;
  return fate;
}

Explorer::Fate Explorer::step_at_random(Macros& macros) {
  const std::uint8_t* ram = console_.ram();
  return step(mario::in_control(ram) ? macros.next(ram[mario::ram::kSwimming] != 0) : 0);
}

bool Explorer::look(const Archive& archive, Random& random) {
  const std::optional<CellKey> key = cell_of(console_.ram());
  if (!key || *key == last_key_) return false;
  last_key_ = *key;
  if (!seen_.insert(*key).second) return false;
  const bool known = archive.knows(*key);
  const bool wanted = archive.wants(*key, frames_);
  const bool alternative =
      !wanted && archive.tires_of(*key, frames_) && random.uniform() < kAlternativeChance;
  if (wanted || alternative) {
    findings_.discoveries.push_back(
        {*key, frames_, alternative, findings_.inputs.size(), PackedState(console_)});
  }
  return !known;
}

void Explorer::explore(const Departure& from, const Archive& archive, std::uint64_t seed,
                       std::int32_t most_frames) {
  depart(*from.state, from.frames);
  last_key_ = from.key;
  Random random{seed};
  Macros macros(random, rules_.buttons, rules_.task.skip);
  std::int32_t left = kLeastFrames + static_cast<std::int32_t>(
                                         random.below(static_cast<std::uint32_t>(kFramesSpan)));
  while (left > 0 && frames_ < most_frames && findings_.frames_played < kMostFrames) {
    if (mario::in_control(console_.ram())) left -= rules_.task.skip;
    if (step_at_random(macros) != Fate::kGoesOn) return;
    if (look(archive, random)) left = std::max(left, kNoveltyFrames);
  }
}

void Explorer::vary(const Line& line, std::uint64_t seed, std::int32_t most_frames) {
  Random random{seed};
  const std::span<const std::uint8_t> solution = line.inputs();
  const auto steps = static_cast<std::uint32_t>(solution.size());
  const std::size_t at = random.below(steps);
  const std::uint32_t most_left_out = 1U << random.below(kLeaveOutDoublings);
  const std::size_t left_out = 1 + random.below(most_left_out);
  const std::size_t put_in =
      random.uniform() < kPutInChance ? random.below(static_cast<std::uint32_t>(left_out)) : 0;
  const Line::Stop& stop = line.stop_before(at);
  depart(stop.state, static_cast<std::int32_t>(stop.step) * rules_.task.skip);
  findings_.inputs.assign(solution.begin(),
                          solution.begin() + static_cast<std::ptrdiff_t>(stop.step));

  Macros macros(random, rules_.buttons, rules_.task.skip);
  for (std::size_t i = stop.step; i < at; ++i) {
    if (step(solution[i]) != Fate::kGoesOn) return;
  }
  for (std::size_t i = 0; i < put_in; ++i) {
    if (step_at_random(macros) != Fate::kGoesOn) return;
  }
  for (std::size_t i = at + left_out; i < solution.size() && frames_ < most_frames; ++i) {
    if (step(solution[i]) != Fate::kGoesOn || !line.passes(console_.ram(), i + 1)) return;
  }
}

}  // namespace warpzone::search
