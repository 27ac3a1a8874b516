/// Where episodes begin. Getting to a level's start takes a few hundred frames from power-on; they
/// are run once, and every later reset is a copy.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "nes/console.hpp"
#include "vector/config.hpp"

namespace warpzone {

class StartStates {
 public:
  StartStates(std::shared_ptr<const nes::Cartridge> cartridge, mario::Game game,
              const EnvConfig& config);

  /// Puts the console at the start of the task; the whole game always starts the same way. Any
  /// thread may call it.
  void start(const Task& task, const mario::StartOptions& options, nes::Console& console);

 private:
  struct Entry {
    Task task;
    mario::StartOptions options;
    std::unique_ptr<nes::MachineState> state;
  };

  std::shared_ptr<const nes::Cartridge> cartridge_;
  mario::Game game_;
  bool exact_;
  std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace warpzone
