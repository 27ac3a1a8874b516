/// How the fast paths keep the processor's flags: as the values that they came from.
#pragma once

#include <cstdint>

#include "nes/state.hpp"

namespace warpzone::nes {

/// Z is set when the low byte is zero, N when bit 7 or bit 15 is set: BIT and PLP can set both.
inline constexpr std::uint32_t kNegativeBits = 0x8080;

inline std::uint32_t pack_nz(std::uint32_t p) {
  const std::uint32_t low = (p & flag::kZero) != 0 ? 0 : 1;
  return low | ((p & flag::kNegative) != 0 ? 0x8000u : 0u);
}

/// N, Z, C and V of the status register.
inline std::uint32_t unpack_flags(std::uint32_t nz, std::uint32_t carry, std::uint32_t overflow) {
  return carry | ((nz & 0xFF) == 0 ? flag::kZero : 0u) |
         ((nz & kNegativeBits) != 0 ? flag::kNegative : 0u) |
         (overflow != 0 ? flag::kOverflow : 0u);
}

}  // namespace warpzone::nes
