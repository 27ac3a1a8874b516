/// Which events of the game end an episode.
#pragma once

#include "mario/end_reason.hpp"
#include "mario/episode.hpp"

namespace warpzone::mario {

/// The reason that a death gives; `cause` must be one.
EndReason reason_of(DeathCause cause);

/// The last castle and the last life end every episode.
struct EndRules {
  bool one_life = true;   ///< The first life lost does, too.
  bool one_level = true;  ///< So does a level that is cleared or left.

  /// Judges the events of the step just taken.
  EndReason judge(const Events& events) const;
};

}  // namespace warpzone::mario
