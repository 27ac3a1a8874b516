#include "nes/sound_channels.hpp"

#include <algorithm>

#include "nes/apu_tables.hpp"

namespace warpzone::nes {
namespace {

constexpr std::uint8_t kDuties[4] = {0b0000'0010, 0b0000'0110, 0b0001'1110, 0b1111'1001};
constexpr int kNoisePeriods[16] = {4,   8,   16,  32,  64,  96,   128,  160,
                                   202, 254, 380, 508, 762, 1016, 2034, 4068};
constexpr int kLargestPulsePeriod = 0x7FF, kSmallestPulsePeriod = 8;
/// Below this the triangle is far above hearing. The chip would give a level in between.
constexpr int kSmallestTrianglePeriod = 2;

}  // namespace

void Envelope::write(std::uint8_t value) {
  loop = (value & 0x20) != 0;
  constant = (value & 0x10) != 0;
  period = value & 0x0F;
}

void Envelope::clock() {
  if (start) {
    start = false;
    decay = 15;
    divider = period;
  } else if (divider > 0) {
    --divider;
  } else {
    divider = period;
    if (decay > 0) {
      --decay;
    } else if (loop) {
      decay = 15;
    }
  }
}

void LengthCounter::load(std::uint8_t register_value) {
  if (enabled) value = kLengths[register_value >> 3];
}

void LengthCounter::enable(bool on) {
  enabled = on;
  if (!on) value = 0;
}

void PulseChannel::write(int index, std::uint8_t value) {
  switch (index) {
    case 0:
      duty = value >> 6;
      length.halted = (value & 0x20) != 0;
      envelope.write(value);
      break;
    case 1:
      sweep_enabled = (value & 0x80) != 0;
      sweep_period = value >> 4 & 7;
      sweep_negated = (value & 0x08) != 0;
      sweep_shift = value & 7;
      sweep_reload = true;
      break;
    case 2:
      period = (period & 0x700) | value;
      break;
    default:
      period = (period & 0xFF) | (value & 7) << 8;
      length.load(value);
      envelope.start = true;
      step = 0;
      break;
  }
}

void PulseChannel::clock_timer() {
  if (timer-- > 0) return;
  timer = period;
  step = (step + 1) & 7;
}

int PulseChannel::target() const {
  const int change = period >> sweep_shift;
  if (!sweep_negated) return period + change;
  return std::max(0, period - change - (first ? 1 : 0));
}

void PulseChannel::clock_sweep() {
  const int next = target();
  const bool possible = period >= kSmallestPulsePeriod && next <= kLargestPulsePeriod;
  if (sweep_divider == 0 && sweep_enabled && sweep_shift > 0 && possible) period = next;
  if (sweep_divider == 0 || sweep_reload) {
    sweep_divider = sweep_period;
    sweep_reload = false;
  } else {
    --sweep_divider;
  }
}

int PulseChannel::level() const {
  const bool muted =
      length.value == 0 || period < kSmallestPulsePeriod || target() > kLargestPulsePeriod;
  return !muted && (kDuties[duty] >> step & 1) != 0 ? envelope.level() : 0;
}

void TriangleChannel::write(int index, std::uint8_t value) {
  switch (index) {
    case 0:
      control = (value & 0x80) != 0;
      length.halted = control;
      linear_start = value & 0x7F;
      break;
    case 2:
      period = (period & 0x700) | value;
      break;
    case 3:
      period = (period & 0xFF) | (value & 7) << 8;
      length.load(value);
      linear_reload = true;
      break;
    default:
      break;
  }
}

void TriangleChannel::clock_timer() {
  if (timer-- > 0) return;
  timer = period;
  const bool moves = length.value > 0 && linear > 0 && period >= kSmallestTrianglePeriod;
  if (moves) step = (step + 1) & 31;
}

void TriangleChannel::clock_linear() {
  if (linear_reload) {
    linear = linear_start;
  } else if (linear > 0) {
    --linear;
  }
  if (!control) linear_reload = false;
}

int TriangleChannel::level() const { return step < 16 ? 15 - step : step - 16; }

void NoiseChannel::write(int index, std::uint8_t value) {
  switch (index) {
    case 0:
      length.halted = (value & 0x20) != 0;
      envelope.write(value);
      break;
    case 2:
      short_mode = (value & 0x80) != 0;
      period = kNoisePeriods[value & 0x0F];
      break;
    case 3:
      length.load(value);
      envelope.start = true;
      break;
    default:
      break;
  }
}

void NoiseChannel::clock_timer() {
  if (--timer > 0) return;
  timer = period;
  const unsigned feedback = (shift ^ shift >> (short_mode ? 6 : 1)) & 1;
  shift = shift >> 1 | feedback << 14;
}

void SampleChannel::write(int index, std::uint8_t value) {
  switch (index) {
    case 0:
      loop = (value & 0x40) != 0;
      period = kSamplePeriods[value & 0x0F];
      break;
    case 1:
      output = value & 0x7F;
      break;
    case 2:
      start_address = 0xC000 + value * 64;
      break;
    default:
      start_length = value * 16 + 1;
      break;
  }
}

void SampleChannel::enable(bool on) {
  if (!on) {
    bytes_left = 0;
  } else if (bytes_left == 0) {
    begin();
  }
}

void SampleChannel::begin() {
  address = start_address;
  bytes_left = start_length;
}

void SampleChannel::fetch(std::span<const std::uint8_t> program) {
  if (buffer_full || bytes_left == 0) return;
  buffer = program[static_cast<std::size_t>(address & 0x7FFF)];
  buffer_full = true;
  address = address == 0xFFFF ? 0x8000 : address + 1;
  if (--bytes_left == 0 && loop) begin();
}

void SampleChannel::clock_timer(std::span<const std::uint8_t> program) {
  fetch(program);
  if (--timer > 0) return;
  timer = period;
  if (!silent) {
    const int next = output + ((shift & 1) != 0 ? 2 : -2);
    if (next >= 0 && next <= 127) output = next;
    shift >>= 1;
  }
  if (--bits_left > 0) return;
  bits_left = 8;
  silent = !buffer_full;
  shift = buffer;
  buffer_full = false;
}

}  // namespace warpzone::nes
