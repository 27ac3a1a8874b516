/// Arithmetic of the 6502, shared by the literal processor and the fast interpreter.
#pragma once

#include <cstdint>

namespace warpzone::nes::alu {

struct Sum {
  std::uint8_t value;
  std::uint8_t carry;
  std::uint8_t overflow;
};

inline Sum add(std::uint8_t a, std::uint8_t b, unsigned carry) {
  const unsigned sum = a + b + carry;
  return {static_cast<std::uint8_t>(sum), static_cast<std::uint8_t>(sum >> 8),
          static_cast<std::uint8_t>(((a ^ sum) & (b ^ sum)) >> 7 & 1)};
}

/// The 6502 subtracts by adding the complement; carry means "no borrow".
inline Sum subtract(std::uint8_t a, std::uint8_t b, unsigned carry) {
  return add(a, static_cast<std::uint8_t>(~b), carry);
}

struct Shifted {
  std::uint8_t value;
  std::uint8_t carry;
};

inline Shifted shift_left(std::uint8_t value, unsigned carry_in) {
  return {static_cast<std::uint8_t>(value << 1 | carry_in), static_cast<std::uint8_t>(value >> 7)};
}

inline Shifted shift_right(std::uint8_t value, unsigned carry_in) {
  return {static_cast<std::uint8_t>(value >> 1 | carry_in << 7),
          static_cast<std::uint8_t>(value & 1)};
}

}  // namespace warpzone::nes::alu
