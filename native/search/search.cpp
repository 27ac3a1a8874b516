#include "search/search.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <stdexcept>
#include <string>

namespace warpzone::search {
namespace {

// Explorations of a round, a constant so that results do not depend on the number of threads. They
// do not see each other's discoveries; much larger numbers would waste effort for that reason.
constexpr int kTasksPerRound = 16;
constexpr std::size_t kLeastMemory = std::size_t{8} << 20;
constexpr int kMostSkip = 60, kMostThreads = 256;

[[noreturn]] void refuse(const std::string& text) { throw std::invalid_argument(text); }

const Options& checked(const Options& options) {
  if (options.task.skip < 1 || options.task.skip > kMostSkip) {
    refuse("frame_skip is " + std::to_string(options.task.skip) + "; it must be from 1 to " +
           std::to_string(kMostSkip));
  }
  if (options.threads < 1 || options.threads > kMostThreads) {
    refuse("threads is " + std::to_string(options.threads) + "; it must be from 1 to " +
           std::to_string(kMostThreads));
  }
  const auto& buttons = options.buttons;
  if (!buttons.empty() && std::find(buttons.begin(), buttons.end(), 0) == buttons.end()) {
    refuse("the allowed buttons lack 0, no button, which scripted moments need");
  }
  if (options.memory_limit < kLeastMemory) {
    refuse("memory is " + std::to_string(options.memory_limit >> 20) +
           " MB; the archive needs at least " + std::to_string(kLeastMemory >> 20));
  }
  return options;
}

}  // namespace

Search::Search(std::shared_ptr<const nes::Cartridge> cartridge, const Options& options)
    : options_(checked(options)),
      rules_{options.task, AllowedButtons(options.buttons), options.warps},
      cartridge_(std::move(cartridge)),
      archive_(options.memory_limit),
      random_{options.seed},
      workers_(options.threads),
      judge_(cartridge_) {
  for (int i = 0; i < kTasksPerRound; ++i) {
    explorers_.push_back(std::make_unique<Explorer>(cartridge_, rules_));
  }
  begin();
}

void Search::begin() {
  mario::start_level(judge_, options_.task.game, options_.task.level);
  Discovery start;
  start.key = cell_of(judge_.ram()).value_or(0);
  start.state = PackedState(judge_);
  NodeId node = kNoNode;
  archive_.add(std::move(start), kNoNode, {}, node, random_);
}

std::int32_t Search::most_frames() const {
  return solution_ ? solution_->result.frames : std::numeric_limits<std::int32_t>::max();
}

void Search::run_round() {
  if (solution_) {
    vary(kTasksPerRound);
    explore(kTasksPerRound / 2);
  } else {
    explore(kTasksPerRound);
  }
  ++counts_.rounds;
}

void Search::share_out(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::vector<std::exception_ptr> errors(count);
  workers_.run(static_cast<int>(count), [&](int i) {
    const auto at = static_cast<std::size_t>(i);
    try {
      work(at);
    } catch (...) {
      errors[at] = std::current_exception();
    }
  });
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

void Search::explore(int tasks) {
  std::vector<Departure> departures;
  std::vector<std::uint64_t> seeds;
  for (int i = 0; i < tasks; ++i) {
    const Cell* cell = archive_.choose(random_, most_frames());
    if (cell == nullptr) continue;
    // Held, since the cell may get another path while the round is merged.
    archive_.trail().hold(cell->node);
    departures.push_back({cell->key, cell->frames, cell->node, &cell->state});
    seeds.push_back(random_.next());
  }
  share_out(departures.size(), [&](std::size_t i) {
    explorers_[i]->explore(departures[i], archive_, seeds[i], most_frames());
  });
  for (std::size_t i = 0; i < departures.size(); ++i) {
    merge(departures[i], explorers_[i]->findings());
    archive_.trail().release(departures[i].node);
  }
}

void Search::vary(int tasks) {
  std::vector<std::uint64_t> seeds;
  for (int i = 0; i < tasks; ++i) seeds.push_back(random_.next());
  share_out(seeds.size(),
            [&](std::size_t i) { explorers_[i]->vary(line_, seeds[i], most_frames()); });
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    Findings& findings = explorers_[i]->findings();
    counts_.frames += findings.frames_played;
    if (findings.end && *findings.end < most_frames()) judge(std::move(findings.inputs));
  }
}

void Search::merge(const Departure& from, Findings& findings) {
  counts_.frames += findings.frames_played;
  NodeId parent = from.node;
  std::size_t done = 0;
  bool news = false;
  const std::span<const std::uint8_t> inputs = findings.inputs;
  archive_.trail().hold(parent);
  for (Discovery& discovery : findings.discoveries) {
    const std::size_t reached = discovery.inputs;
    NodeId node = kNoNode;
    const Archive::Change change = archive_.add(
        std::move(discovery), parent, inputs.subspan(done, reached - done), node, random_);
    if (change == Archive::Change::kNone) continue;
    news |= change == Archive::Change::kNew;
    archive_.trail().hold(node);
    archive_.trail().release(parent);
    parent = node;
    done = reached;
  }
  if (findings.end && *findings.end < most_frames()) {
    std::vector<std::uint8_t> solution = archive_.trail().inputs_to(parent);
    solution.insert(solution.end(), inputs.begin() + static_cast<std::ptrdiff_t>(done),
                    inputs.end());
    judge(std::move(solution));
  }
  archive_.trail().release(parent);
  if (news) archive_.praise(from.key);
}

void Search::judge(std::vector<std::uint8_t> inputs) {
  Line line;
  const int skip = options_.task.skip;
  const ReplayResult result =
      replay(judge_, options_.task, inputs,
             [&](nes::Console& console, std::int32_t frame) { line.record(console, frame, skip); });
  counts_.frames += result.ending_frames;
  if (!result.clears() && !(options_.warps && result.ending == Ending::kWarp)) {
    ++counts_.refuted;
    return;
  }
  if (solution_ && !result.beats(solution_->result)) return;
  line.finish(inputs);
  line_ = std::move(line);
  solution_ = Solution{std::move(inputs), result};
}

}  // namespace warpzone::search
