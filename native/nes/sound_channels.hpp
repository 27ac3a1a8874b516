/// The five channels of the sound unit. Each has the registers, counters and generator of the chip,
/// is clocked by `Sound`, and gives its present level.
#pragma once

#include <cstdint>
#include <span>

namespace warpzone::nes {

/// Volume of a channel: constant, or falling from 15 to 0.
struct Envelope {
  void write(std::uint8_t value);
  void clock();
  int level() const { return constant ? period : decay; }

  bool start = false, loop = false, constant = false;
  int period = 0, divider = 0, decay = 0;
};

/// Silences a channel after a while.
struct LengthCounter {
  void load(std::uint8_t value);
  void enable(bool on);
  void clock() { value -= value > 0 && !halted; }

  bool enabled = false, halted = false;
  int value = 0;
};

/// A square wave with an envelope, and a sweep that moves its pitch.
struct PulseChannel {
  /// The first of the two channels sweeps downwards one step further.
  explicit PulseChannel(bool is_first) : first(is_first) {}

  void write(int index, std::uint8_t value);
  /// Every second processor cycle.
  void clock_timer();
  void clock_sweep();
  int level() const;
  /// Timer period that the sweep moves to.
  int target() const;

  bool first;
  Envelope envelope;
  LengthCounter length;
  int duty = 0, step = 0, period = 0, timer = 0;
  bool sweep_enabled = false, sweep_negated = false, sweep_reload = false;
  int sweep_period = 0, sweep_shift = 0, sweep_divider = 0;
};

/// A triangle wave of constant volume.
struct TriangleChannel {
  void write(int index, std::uint8_t value);
  /// Every processor cycle.
  void clock_timer();
  void clock_linear();
  int level() const;

  LengthCounter length;
  bool control = false, linear_reload = false;
  int linear = 0, linear_start = 0;
  int step = 0, period = 0, timer = 0;
};

/// Noise from a shift register.
struct NoiseChannel {
  void write(int index, std::uint8_t value);
  /// Every processor cycle.
  void clock_timer();
  int level() const { return length.value > 0 && (shift & 1) == 0 ? envelope.level() : 0; }

  Envelope envelope;
  LengthCounter length;
  bool short_mode = false;
  int period = 4, timer = 0;
  unsigned shift = 1;
};

/// Playback of samples from the program: each bit moves the level up or down by two.
struct SampleChannel {
  void write(int index, std::uint8_t value);
  void enable(bool on);
  /// Every processor cycle. `program` is what the processor sees from $8000 to $FFFF.
  void clock_timer(std::span<const std::uint8_t> program);
  int level() const { return output; }

  bool loop = false, silent = true, buffer_full = false;
  int period = 428, timer = 0, output = 0;
  int start_address = 0xC000, start_length = 1;
  int address = 0xC000, bytes_left = 0;
  int bits_left = 8;
  unsigned shift = 0, buffer = 0;

 private:
  void begin();
  void fetch(std::span<const std::uint8_t> program);
};

}  // namespace warpzone::nes
