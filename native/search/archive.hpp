/// The cells found so far, each with the shortest known path and a save state at its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "common/random.hpp"
#include "search/cell.hpp"
#include "search/packed_state.hpp"
#include "search/trail.hpp"

namespace warpzone::search {

struct Cell {
  CellKey key = 0;
  std::int32_t frames = 0;  ///< From the start of the level.
  std::uint32_t chosen = 0;
  std::uint32_t stale = 0;  ///< Times chosen since something new was found from here.
  NodeId node = kNoNode;
  PackedState state;
};

/// What an exploration came across.
struct Discovery {
  CellKey key = 0;
  std::int32_t frames = 0;
  bool alternative = false;  ///< Longer, but another chance for a cell from which nothing comes.
  std::size_t inputs = 0;    ///< Inputs of the exploration up to here.
  PackedState state;
};

/// Reading is safe from many threads as long as no thread writes.
class Archive {
 public:
  enum class Change { kNone, kNew, kBetter };

  /// `memory_limit` in bytes; when it is reached, the least promising cells make room.
  explicit Archive(std::size_t memory_limit) : memory_limit_(memory_limit) {}

  bool knows(CellKey key) const { return by_key_.contains(key); }
  /// Whether this would be a new cell, or a shorter path to a known one.
  bool wants(CellKey key, std::int32_t frames) const;
  /// Whether the cell is known and nothing has come from it for long; a state of another moment
  /// may lead further, unless it is far longer.
  bool tires_of(CellKey key, std::int32_t frames) const;

  /// Takes a discovery that was reached by `inputs` from `parent`. `node` then names its end and
  /// is held by the archive alone; it is untouched for Change::kNone.
  Change add(Discovery&& discovery, NodeId parent, std::span<const std::uint8_t> inputs,
             NodeId& node, Random& random);

  /// A cell to explore from, counted as chosen. Those of `most_frames` and more are left alone;
  /// null when there is no other.
  const Cell* choose(Random& random, std::int32_t most_frames);
  /// Something new came of exploring this cell.
  void praise(CellKey key);

  Trail& trail() { return trail_; }
  std::size_t size() const { return order_.size(); }
  std::size_t memory() const { return states_memory_ + trail_.memory(); }
  std::size_t memory_limit() const { return memory_limit_; }
  std::uint64_t forgotten() const { return forgotten_; }

 private:
  using Slot = std::uint32_t;

  Slot insert(CellKey key);
  void make_room(Random& random, Slot keep);
  void forget(std::size_t position);
  Slot draw_newest(Random& random) const;
  Slot draw_any(Random& random) const;

  std::size_t memory_limit_;
  std::size_t states_memory_ = 0;
  std::uint64_t forgotten_ = 0;
  Trail trail_;
  std::vector<Cell> cells_;
  std::vector<Slot> free_;
  std::vector<Slot> order_;  ///< By time of discovery.
  std::unordered_map<CellKey, Slot> by_key_;
};

}  // namespace warpzone::search
