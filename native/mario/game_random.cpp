#include "mario/game_random.hpp"

#include <cstddef>
#include <stdexcept>
#include <string>

#include "mario/ram.hpp"

namespace warpzone::mario {

std::array<std::uint8_t, kRandomRegisterBytes> random_register(std::uint32_t number) {
  if (number >= kRandomRegisters) {
    throw std::invalid_argument("there is no random register " + std::to_string(number));
  }
  // A bit is the exclusive or of the bits 7 and 15 steps before it.
  constexpr std::size_t kNear = 7;
  constexpr std::size_t kFar = 15;
  constexpr std::size_t kByte = 8;
  std::array<std::uint8_t, kRandomRegisterBytes * kByte> bits{};  // Oldest first.
  for (std::size_t i = 0; i < kFar; ++i) {
    bits[i] = (number + 1) >> i & 1;  // Never all zero, which would stay zero forever.
  }
  for (std::size_t i = kFar; i < bits.size(); ++i) {
    bits[i] = bits[i - kNear] ^ bits[i - kFar];
  }
  // The newest bit is the highest bit of the first byte.
  std::array<std::uint8_t, kRandomRegisterBytes> result{};
  for (std::size_t i = 0; i < bits.size(); ++i) {
    std::uint8_t& byte = result[i / kByte];
    byte = static_cast<std::uint8_t>(byte << 1 | bits[bits.size() - 1 - i]);
  }
  return result;
}

void reseed_game(nes::Console& console, std::uint32_t number) {
  auto address = ram::kRandom;
  for (const std::uint8_t value : random_register(number)) console.poke(address++, value);
}

}  // namespace warpzone::mario
