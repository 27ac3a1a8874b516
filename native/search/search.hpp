/// Finds inputs that clear a level, with save states and no knowledge of any level.
///
/// A round chooses some cells of the archive, explores from each with a random stream of its own,
/// and adds what was found in the order of choice. So the result depends on the seed and the number
/// of rounds only, whatever the number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/workers.hpp"
#include "search/archive.hpp"
#include "search/explorer.hpp"
#include "search/line.hpp"
#include "search/replay.hpp"

namespace warpzone::search {

struct Options {
  Task task;
  std::vector<std::uint8_t> buttons;  ///< Allowed combinations; empty means every sensible one.
  bool warps = false;                 ///< A warp to another world is an end, too.
  std::uint64_t seed = 0;
  int threads = 1;
  std::size_t memory_limit = std::size_t{256} << 20;  ///< Of the archive, in bytes.
};

/// Inputs that were proved by a replay from power-on.
struct Solution {
  std::vector<std::uint8_t> inputs;  ///< One per step.
  ReplayResult result;
};

struct Counts {
  std::int64_t rounds = 0;
  std::int64_t frames = 0;   ///< Emulated, replays included.
  std::int64_t refuted = 0;  ///< Solutions that a replay did not confirm.
};

class Search {
 public:
  /// Throws std::invalid_argument for options out of range or an unknown level.
  Search(std::shared_ptr<const nes::Cartridge> cartridge, const Options& options);

  /// Explores from a few cells. Once there is a solution, looks for shorter ones.
  void run_round();

  const std::optional<Solution>& solution() const { return solution_; }
  const Counts& counts() const { return counts_; }
  const Archive& archive() const { return archive_; }
  const Options& options() const { return options_; }

 private:
  void begin();
  /// Calls `work` with every number below `count` over the threads; raises what one of them threw.
  void share_out(std::size_t count, const std::function<void(std::size_t)>& work);
  void explore(int tasks);
  void vary(int tasks);
  void merge(const Departure& from, Findings& findings);
  /// Proves a solution by replay and keeps it.
  void judge(std::vector<std::uint8_t> inputs);
  std::int32_t most_frames() const;

  Options options_;
  Rules rules_;
  std::shared_ptr<const nes::Cartridge> cartridge_;
  Archive archive_;
  Random random_;
  Workers workers_;
  std::vector<std::unique_ptr<Explorer>> explorers_;
  nes::Console judge_;
  std::optional<Solution> solution_;
  Line line_;  ///< Of the solution.
  Counts counts_;
};

}  // namespace warpzone::search
