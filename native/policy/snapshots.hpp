/// Save states of places that lanes enter, for later episodes to begin at.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "vector/info.hpp"
#include "vector/lane.hpp"

namespace warpzone::policy {

/// A place: area, counters of a maze, and a stretch of the level. Mazes that send Mario back change
/// their counters, so he is elsewhere the second time.
using Cell = std::int64_t;
inline constexpr Cell kNowhere = -1;

struct Snapshot {
  std::int32_t step = 0, lane = 0;
  Cell cell = kNowhere;
  std::int64_t start = 0;  ///< Where the episode began.
  std::string level;
  std::int32_t progress = 0;
  std::vector<std::uint8_t> state;  ///< Of the console.
};

/// Which places are worth a snapshot. Not changed while lanes play.
class SnapshotRules {
 public:
  /// Takes none while `spacing`, the length of a stretch in pixels, is 0.
  int spacing = 0;

  /// Cells of a level that need no snapshot; replaces those given before.
  void set_known(const std::string& level, std::vector<Cell> cells);
  bool is_known(const std::string& level, Cell cell) const;
  /// The cell that an info tells of; kNowhere where Mario neither stands nor swims under control.
  Cell cell_of(const InfoSlot& info) const;

 private:
  std::map<std::string, std::unordered_set<Cell>> known_;
};

/// Follows one lane.
class SnapshotRecorder {
 public:
  void begin_rollout();
  void begin_episode() { cell_ = kNowhere; }
  /// Takes a snapshot if a cell has just been entered, is not known, and was not yet taken in this
  /// rollout. `at` tells the rest of it.
  void look(const SnapshotRules& rules, const InfoSlot& info, Lane& lane, Snapshot at);

  const std::vector<Snapshot>& taken() const { return taken_; }
  /// The last cell entered in this episode.
  Cell cell() const { return cell_; }
  void set_cell(Cell cell) { cell_ = cell; }

 private:
  Cell cell_ = kNowhere;
  std::vector<Snapshot> taken_;
};

}  // namespace warpzone::policy
