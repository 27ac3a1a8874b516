/// Turns changes of a level at exact moments into samples without aliasing.
#pragma once

#include <cstdint>
#include <vector>

namespace warpzone::nes {

/// A square wave has overtones far above half the sample rate. Reading its level once per sample
/// would fold them back into the audible range. Here each change adds a step whose overtones above
/// that limit are filtered out, placed between samples where it belongs.
class BandLimitedSteps {
 public:
  /// `input_rate` is in processor cycles per second, `output_rate` in samples per second.
  BandLimitedSteps(double input_rate, int output_rate);

  /// Cycles are counted from here on.
  void set_origin(std::uint64_t cycle) { origin_ = cycle; }

  /// The level changes by `amount` at `cycle`; calls come in the order of cycles.
  void add(std::uint64_t cycle, float amount);

  /// Appends the samples up to `cycle`, which becomes the origin.
  void take(std::uint64_t cycle, std::vector<float>& out);

 private:
  double position(std::uint64_t cycle) const {
    return offset_ + static_cast<double>(cycle - origin_) * samples_per_cycle_;
  }

  double samples_per_cycle_;
  double offset_ = 0.0;  ///< Fraction of a sample by which the origin follows a sample.
  std::uint64_t origin_ = 0;
  std::vector<float> kernels_;  ///< One row per position between two samples.
  std::vector<float> changes_;  ///< Change of the level per sample; its sum is the level.
  float level_ = 0.0F;
};

}  // namespace warpzone::nes
