#include "nes/sound.hpp"

#include <array>
#include <cmath>
#include <numbers>

#include "nes/apu_tables.hpp"

namespace warpzone::nes {
namespace {

constexpr double kCyclesPerSecond = 1'789'772.727;
/// The console's own filters: they remove the constant part and soften the highest notes.
constexpr double kHighPassHertz = 90.0, kLowPassHertz = 14'000.0;

/// The two pulse channels share one resistor network, the other three another: the sum is not
/// linear. Indices are the sum of both pulse levels, and 3 * triangle + 2 * noise + sample.
std::array<float, 31> make_pulse_mix() {
  std::array<float, 31> mix{};
  for (std::size_t i = 1; i < mix.size(); ++i) {
    mix[i] = static_cast<float>(95.52 / (8128.0 / static_cast<double>(i) + 100.0));
  }
  return mix;
}

std::array<float, 203> make_other_mix() {
  std::array<float, 203> mix{};
  for (std::size_t i = 1; i < mix.size(); ++i) {
    mix[i] = static_cast<float>(163.67 / (24329.0 / static_cast<double>(i) + 100.0));
  }
  return mix;
}

const std::array<float, 31> kPulseMix = make_pulse_mix();
const std::array<float, 203> kOtherMix = make_other_mix();

}  // namespace

Sound::Sound(std::span<const std::uint8_t> program, int sample_rate)
    : program_(program), sample_rate_(sample_rate), steps_(kCyclesPerSecond, sample_rate) {}

void Sound::restart(std::uint64_t cycle, std::uint8_t enabled) {
  channels_ = Channels{};
  cycle_ = cycle;
  steps_.set_origin(cycle);
  restart_sequencer(cycle);
  five_step_ = false;
  write(0x4015, enabled, cycle);
}

void Sound::restart_sequencer(std::uint64_t cycle) {
  sequence_start_ = cycle;
  sequence_step_ = 0;
}

void Sound::write(std::uint16_t address, std::uint8_t value, std::uint64_t cycle) {
  run_to(cycle);
  const int index = address & 3;
  if (address < 0x4008) {
    channels_.pulse[address >> 2 & 1].write(index, value);
  } else if (address < 0x400C) {
    channels_.triangle.write(index, value);
  } else if (address < 0x4010) {
    channels_.noise.write(index, value);
  } else if (address < 0x4014) {
    channels_.sample.write(index, value);
  } else if (address == 0x4015) {
    channels_.pulse[0].length.enable((value & 1) != 0);
    channels_.pulse[1].length.enable((value & 2) != 0);
    channels_.triangle.length.enable((value & 4) != 0);
    channels_.noise.length.enable((value & 8) != 0);
    channels_.sample.enable((value & 16) != 0);
  } else if (address == 0x4017) {
    restart_sequencer(cycle);
    five_step_ = (value & 0x80) != 0;
    if (five_step_) {
      clock_quarter_frame();
      clock_half_frame();
    }
  }
}

void Sound::clock_quarter_frame() {
  for (PulseChannel& pulse : channels_.pulse) pulse.envelope.clock();
  channels_.noise.envelope.clock();
  channels_.triangle.clock_linear();
}

void Sound::clock_half_frame() {
  for (PulseChannel& pulse : channels_.pulse) {
    pulse.length.clock();
    pulse.clock_sweep();
  }
  channels_.triangle.length.clock();
  channels_.noise.length.clock();
}

void Sound::run_sequencer() {
  const int* times = five_step_ ? kFiveStep : kFourStep;
  if (cycle_ < sequence_start_ + static_cast<std::uint64_t>(times[sequence_step_])) return;
  const int step = sequence_step_;
  if (step != 3 && step != 5) clock_quarter_frame();
  if (step == 1 || step == 4) clock_half_frame();
  if (step == 5) {
    restart_sequencer(sequence_start_ + static_cast<std::uint64_t>(times[5]));
  } else {
    ++sequence_step_;
  }
}

void Sound::clock_timers() {
  if ((cycle_ & 1) == 0) {
    for (PulseChannel& pulse : channels_.pulse) pulse.clock_timer();
  }
  channels_.triangle.clock_timer();
  channels_.noise.clock_timer();
  channels_.sample.clock_timer(program_);
}

float Sound::mixed() const {
  const int pulses = channels_.pulse[0].level() + channels_.pulse[1].level();
  const int others =
      3 * channels_.triangle.level() + 2 * channels_.noise.level() + channels_.sample.level();
  return kPulseMix[static_cast<std::size_t>(pulses)] + kOtherMix[static_cast<std::size_t>(others)];
}

void Sound::run_to(std::uint64_t cycle) {
  for (; cycle_ < cycle; ++cycle_) {
    run_sequencer();
    clock_timers();
    const float level = mixed();
    if (level != level_) {
      steps_.add(cycle_, level - level_);
      level_ = level;
    }
  }
}

void Sound::end_frame(std::uint64_t cycle) {
  run_to(cycle);
  samples_.clear();
  steps_.take(cycle, samples_);
  filter();
}

void Sound::filter() {
  const auto decay = [this](double hertz) {
    return static_cast<float>(std::exp(-2.0 * std::numbers::pi * hertz / sample_rate_));
  };
  const float high = decay(kHighPassHertz), low = decay(kLowPassHertz);
  for (float& sample : samples_) {
    high_pass_ = high * (high_pass_ + sample - before_);
    before_ = sample;
    low_pass_ = high_pass_ + low * (low_pass_ - high_pass_);
    sample = low_pass_;
  }
}

}  // namespace warpzone::nes
