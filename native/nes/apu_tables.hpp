/// Constants of the sound unit that both its readable part and the synthesis need.
#pragma once

#include <cstdint>

namespace warpzone::nes {

/// Processor cycles after the frame sequencer's start at which each of its steps happens. In
/// four-step mode the interrupt is raised in three cycles in a row; the middle one also clocks
/// envelopes and length counters.
inline constexpr int kFourStep[6] = {7457, 14913, 22371, 29828, 29829, 29830};
inline constexpr int kFiveStep[6] = {7457, 14913, 22371, 29829, 37281, 37282};

/// Values that length counters can be loaded with.
inline constexpr std::uint8_t kLengths[32] = {10, 254, 20,  2,  40, 4,  80, 6,  160, 8,  60,
                                              10, 14,  12,  26, 14, 12, 16, 24, 18,  48, 20,
                                              96, 22,  192, 24, 72, 26, 16, 28, 32,  30};

/// Processor cycles per output bit of sample playback, by rate.
inline constexpr int kSamplePeriods[16] = {428, 380, 340, 320, 286, 254, 226, 214,
                                           190, 160, 142, 128, 106, 84,  72,  54};

}  // namespace warpzone::nes
