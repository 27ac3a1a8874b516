/// The random numbers of the game itself, which decide when Bowser jumps or where Lakitu flies.
#pragma once

#include <array>
#include <cstdint>

#include "nes/console.hpp"

namespace warpzone::mario {

/// The game moves a shift register of 56 bits by one bit per frame. A new bit depends on the last
/// 15 only, so there are 2^15 - 1 different registers, and every game runs through the same cycle.
inline constexpr std::uint32_t kRandomRegisters = 32'767;
inline constexpr int kRandomRegisterBytes = 7;

/// A register of the cycle, as RAM holds it, by a number below kRandomRegisters.
std::array<std::uint8_t, kRandomRegisterBytes> random_register(std::uint32_t number);

/// Puts another register into RAM, as if the game had been switched on at another moment.
void reseed_game(nes::Console& console, std::uint32_t number);

}  // namespace warpzone::mario
