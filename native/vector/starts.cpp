#include "vector/starts.hpp"

#include <algorithm>

namespace warpzone {

StartStates::StartStates(std::shared_ptr<const nes::Cartridge> cartridge, mario::Game game,
                         const EnvConfig& config)
    : cartridge_(std::move(cartridge)), game_(game), exact_(config.exact) {}

void StartStates::start(const Task& task, const mario::StartOptions& options,
                        nes::Console& console) {
  const std::scoped_lock lock(mutex_);
  auto entry = std::find_if(entries_.begin(), entries_.end(),
                            [&](const Entry& e) { return e.task == task && e.options == options; });
  if (entry == entries_.end()) {
    nes::Console scout(cartridge_, exact_);
    if (task.whole_game) {
      mario::start_game(scout, game_);
    } else {
      mario::start_level(scout, game_, task.level, options);
    }
    auto state = std::make_unique<nes::MachineState>();
    scout.snapshot(*state);
    entries_.push_back({task, options, std::move(state)});
    entry = entries_.end() - 1;
  }
  console.restore(*entry->state);
}

}  // namespace warpzone
