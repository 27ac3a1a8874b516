/// Synthesis of sound from the writes to the sound registers.
///
/// It only listens: a machine with sound runs exactly as one without, and one without pays nothing.
/// What programs can read back from the sound unit is in `Apu`.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nes/band_limited.hpp"
#include "nes/sound_channels.hpp"

namespace warpzone::nes {

class Sound {
 public:
  /// `program` is what the processor sees from $8000 to $FFFF; samples are played from it.
  Sound(std::span<const std::uint8_t> program, int sample_rate);

  /// Silence from `cycle` on, as after a reset; of the registers only the enabled channels
  /// (four bits, as in $4015) are known.
  void restart(std::uint64_t cycle, std::uint8_t enabled);

  /// A write to $4000-$4017 in processor cycle `cycle`.
  void write(std::uint16_t address, std::uint8_t value, std::uint64_t cycle);

  /// Replaces the samples by those since the last call.
  void end_frame(std::uint64_t cycle);

  /// Samples of the last frame, from -1 to 1.
  std::span<const float> samples() const { return samples_; }
  int sample_rate() const { return sample_rate_; }

 private:
  struct Channels {
    PulseChannel pulse[2] = {PulseChannel(true), PulseChannel(false)};
    TriangleChannel triangle;
    NoiseChannel noise;
    SampleChannel sample;
  };

  void run_to(std::uint64_t cycle);
  void run_sequencer();
  void restart_sequencer(std::uint64_t cycle);
  void clock_quarter_frame();
  void clock_half_frame();
  void clock_timers();
  float mixed() const;
  void filter();

  std::span<const std::uint8_t> program_;
  int sample_rate_;
  Channels channels_;
  BandLimitedSteps steps_;
  std::vector<float> samples_;

  std::uint64_t cycle_ = 0;           ///< The next cycle to synthesise.
  std::uint64_t sequence_start_ = 0;  ///< Cycle at which the frame sequencer stood at zero.
  int sequence_step_ = 0;
  bool five_step_ = false;
  float level_ = 0.0F;
  float high_pass_ = 0.0F, before_ = 0.0F, low_pass_ = 0.0F;
};

}  // namespace warpzone::nes
