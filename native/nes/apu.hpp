/// The sound unit as programs can observe it: frame interrupt, length counters, sample playback
/// (for its interrupt and the cycles it steals). `Sound` makes the sound.
#pragma once

#include <cstdint>

#include "nes/state.hpp"

namespace warpzone::nes {

class Apu {
 public:
  explicit Apu(ApuState& state) : s_(state) {}

  void power_on();
  void reset(std::uint64_t cycle);

  void write(std::uint16_t address, std::uint8_t value, std::uint64_t cycle);
  std::uint8_t read_status(std::uint64_t cycle, std::uint8_t open_bus);

  /// Level of the interrupt line at the end of `cycle`.
  bool irq_level(std::uint64_t cycle) {
    if (cycle >= s_.next_step || s_.reset_pending != 0) run_to(cycle);
    return (s_.frame_irq | s_.dmc.irq) != 0;
  }
  /// The interrupt line cannot rise before this cycle unless a register is written.
  std::uint64_t quiet_until() const;

  /// Sample playback reads memory by itself and delays the processor.
  bool playing_sample() const { return s_.dmc.active != 0 || s_.dmc.buffer_full != 0; }
  /// Moves playback on; true when it wants the next byte now.
  bool wants_sample(std::uint64_t cycle);
  void sample_fetched();

 private:
  void run_to(std::uint64_t cycle);
  void sequencer_step();
  void clock_lengths();
  void restart_sequence(std::uint64_t cycle);
  void start_sample();

  ApuState& s_;
};

}  // namespace warpzone::nes
