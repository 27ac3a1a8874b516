#include "mario/ending.hpp"

namespace warpzone::mario {

EndReason reason_of(DeathCause cause) {
  switch (cause) {
    case DeathCause::kTime:
      return EndReason::time;
    case DeathCause::kPit:
      return EndReason::pit;
    default:
      return EndReason::enemy;
  }
}

EndReason EndRules::judge(const Events& events) const {
  if (events.game_cleared || (one_level && events.clear)) return EndReason::clear;
  if (one_life && events.death) return reason_of(events.cause);
  if (events.game_over) return EndReason::game_over;
  if (!one_level || !events.level_changed) return EndReason::running;
  return events.warp ? EndReason::warp : EndReason::level_changed;
}

}  // namespace warpzone::mario
