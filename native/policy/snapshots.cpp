#include "policy/snapshots.hpp"

#include <algorithm>
#include <utility>

namespace warpzone::policy {
namespace {

constexpr Cell kCounters = 256;
constexpr Cell kColumns = 4096;

std::int32_t number(const InfoSlot& info, InfoNumber which) {
  return info.numbers[static_cast<std::ptrdiff_t>(which) * info.stride];
}

bool flag(const InfoSlot& info, InfoFlag which) {
  return info.flags[static_cast<std::ptrdiff_t>(which) * info.stride] != 0;
}

Cell floor_division(Cell value, Cell divisor) {
  return value / divisor - (value % divisor < 0 ? 1 : 0);
}

}  // namespace

void SnapshotRules::set_known(const std::string& level, std::vector<Cell> cells) {
  known_[level] = {cells.begin(), cells.end()};
}

bool SnapshotRules::is_known(const std::string& level, Cell cell) const {
  const auto found = known_.find(level);
  return found != known_.end() && found->second.contains(cell);
}

Cell SnapshotRules::cell_of(const InfoSlot& info) const {
  const bool stands = flag(info, InfoFlag::on_ground) || flag(info, InfoFlag::swimming);
  if (!stands || !flag(info, InfoFlag::in_control)) return kNowhere;
  Cell cell = number(info, InfoNumber::area);
  cell = cell * kCounters + number(info, InfoNumber::loop_correct);
  cell = cell * kCounters + number(info, InfoNumber::loop_passes);
  return cell * kColumns + floor_division(number(info, InfoNumber::x_pos), spacing);
}

void SnapshotRecorder::begin_rollout() { taken_.clear(); }

void SnapshotRecorder::look(const SnapshotRules& rules, const InfoSlot& info, Lane& lane,
                            Snapshot at) {
  if (rules.spacing <= 0) return;
  const Cell cell = rules.cell_of(info);
  if (cell == kNowhere || cell == cell_) return;
  cell_ = cell;
  const auto same = [&](const Snapshot& other) {
    return other.cell == cell && other.level == at.level;
  };
  if (rules.is_known(at.level, cell) || std::any_of(taken_.begin(), taken_.end(), same)) return;
  at.cell = cell;
  at.progress = number(info, InfoNumber::progress);
  at.state = lane.console().save();
  taken_.push_back(std::move(at));
}

}  // namespace warpzone::policy
