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

  /// Puts the console at the start of the task, with Mario small (0), big (1) or with fire (2); the
  /// whole game always starts small. Any thread may call it.
  void start(const Task& task, int power, nes::Console& console);

 private:
  struct Entry {
    Task task;
    int power;
    std::unique_ptr<nes::MachineState> state;
  };

  std::shared_ptr<const nes::Cartridge> cartridge_;
  mario::Game game_;
  bool halfway_;
  bool exact_;
  std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace warpzone
