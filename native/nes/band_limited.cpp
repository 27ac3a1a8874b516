#include "nes/band_limited.hpp"

#include <cmath>
#include <cstddef>
#include <numbers>

namespace warpzone::nes {
namespace {

constexpr int kPhases = 64;
constexpr int kTaps = 24;
/// Part of the range up to half the sample rate that passes; the rest is the filter's slope.
constexpr double kPassband = 0.9;

/// Rows of a windowed sinc, each with the sum 1: a step ends exactly at its height.
std::vector<float> make_kernels() {
  std::vector<float> kernels(static_cast<std::size_t>(kPhases) * kTaps);
  for (int phase = 0; phase < kPhases; ++phase) {
    float* row = kernels.data() + static_cast<std::ptrdiff_t>(phase) * kTaps;
    const double centre = kTaps / 2.0 - 1.0 + (phase + 0.5) / kPhases;
    double values[kTaps];
    double sum = 0.0;
    for (int tap = 0; tap < kTaps; ++tap) {
      const double x = tap - centre;
      const double angle = std::numbers::pi * kPassband * x;
      const double sinc = std::abs(x) < 1e-9 ? 1.0 : std::sin(angle) / angle;
      const double turn = 2.0 * std::numbers::pi * (x / kTaps + 0.5);
      const double window = 0.42 - 0.5 * std::cos(turn) + 0.08 * std::cos(2.0 * turn);
      values[tap] = sinc * window;
      sum += values[tap];
    }
    for (int tap = 0; tap < kTaps; ++tap) row[tap] = static_cast<float>(values[tap] / sum);
  }
  return kernels;
}

}  // namespace

BandLimitedSteps::BandLimitedSteps(double input_rate, int output_rate)
    : samples_per_cycle_(output_rate / input_rate), kernels_(make_kernels()) {}

void BandLimitedSteps::add(std::uint64_t cycle, float amount) {
  const double place = position(cycle);
  const auto sample = static_cast<std::size_t>(place);
  const auto phase = static_cast<int>((place - static_cast<double>(sample)) * kPhases);
  if (changes_.size() < sample + kTaps) changes_.resize(sample + kTaps);
  const float* row = kernels_.data() + static_cast<std::ptrdiff_t>(phase) * kTaps;
  for (std::size_t tap = 0; tap < kTaps; ++tap) changes_[sample + tap] += amount * row[tap];
}

void BandLimitedSteps::take(std::uint64_t cycle, std::vector<float>& out) {
  const double end = position(cycle);
  const auto count = static_cast<std::size_t>(end);
  if (changes_.size() < count) changes_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    level_ += changes_[i];
    out.push_back(level_);
  }
  changes_.erase(changes_.begin(), changes_.begin() + static_cast<std::ptrdiff_t>(count));
  offset_ = end - static_cast<double>(count);
  origin_ = cycle;
}

}  // namespace warpzone::nes
