/// Plays from a save state and reports what it found: the unit of work that threads share.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

#include "common/random.hpp"
#include "mario/episode.hpp"
#include "search/archive.hpp"
#include "search/line.hpp"
#include "search/macros.hpp"
#include "search/replay.hpp"

namespace warpzone::search {

/// What all explorers of a search share and none changes.
struct Rules {
  Task task;
  AllowedButtons buttons;
  bool warps = false;  ///< Reaching another world by a warp pipe counts as a clear.
};

/// Where an exploration begins.
struct Departure {
  CellKey key = 0;
  std::int32_t frames = 0;
  NodeId node = kNoNode;
  const PackedState* state = nullptr;
};

/// What became of one exploration.
struct Findings {
  std::vector<std::uint8_t> inputs;  ///< One per step.
  std::vector<Discovery> discoveries;
  std::int64_t frames_played = 0;
  std::optional<std::int32_t>
      end;  ///< The solution ends here, in frames from the start of the level.

  void clear();
};

class Explorer {
 public:
  Explorer(std::shared_ptr<const nes::Cartridge> cartridge, const Rules& rules);

  /// Random play from `from`, not beyond `most_frames` from the start of the level. The archive is
  /// only read.
  void explore(const Departure& from, const Archive& archive, std::uint64_t seed,
               std::int32_t most_frames);
  /// Plays the best solution with a few of its inputs left out or replaced by fewer random ones.
  /// The inputs found are those of the whole solution; discoveries are left out.
  void vary(const Line& line, std::uint64_t seed, std::int32_t most_frames);

  Findings& findings() { return findings_; }

 private:
  enum class Fate { kGoesOn, kOver, kReachedEnd };

  void depart(const PackedState& state, std::int32_t frames);
  /// One input, for as many frames as a step has.
  Fate step(std::uint8_t buttons);
  /// One random input, or none in a scripted moment.
  Fate step_at_random(Macros& macros);
  Fate frame_fate() const;
  /// Keeps the present cell if it is worth it. Returns true when it is new to all.
  bool look(const Archive& archive, Random& random);

  const Rules& rules_;
  nes::Console console_;
  std::unique_ptr<nes::MachineState> scratch_;
  mario::Episode episode_;
  Findings findings_;
  std::int32_t frames_ = 0;  ///< From the start of the level.
  CellKey last_key_ = 0;
  std::unordered_set<CellKey> seen_;
};

}  // namespace warpzone::search
