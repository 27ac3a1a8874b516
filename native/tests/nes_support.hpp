/// What the tests of the machine share: cartridges made of a few bytes of code.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <random>
#include <vector>

#include "nes/console.hpp"

namespace warpzone::nes {

inline constexpr int kCodeStart = 0x8000, kNmiStart = 0x9000, kIrqStart = 0xA000;

using Bytes = std::vector<std::uint8_t>;

/// Parts of a synthetic cartridge: code at $8000, an interrupt handler at $9000 (an RTI if empty).
struct Recipe {
  Bytes code;
  Bytes nmi = {};
  bool vertical = false;
  bool pattern_ram = false;
  std::uint32_t pattern_seed = 1;
};

inline Bytes random_bytes(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  Bytes bytes(count);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

inline Bytes image_of(const Recipe& recipe) {
  Bytes image(16);
  const std::uint8_t header[] = {'N',
                                 'E',
                                 'S',
                                 0x1A,
                                 2,
                                 static_cast<std::uint8_t>(recipe.pattern_ram ? 0 : 1),
                                 static_cast<std::uint8_t>(recipe.vertical ? 1 : 0)};
  std::copy(std::begin(header), std::end(header), image.begin());
  Bytes program(0x8000, 0xEA);
  const auto put = [&](int address, const Bytes& code) {
    std::copy(code.begin(), code.end(), program.begin() + (address - 0x8000));
  };
  const auto vector_to = [&](int at, int address) {
    put(at, {static_cast<std::uint8_t>(address), static_cast<std::uint8_t>(address >> 8)});
  };
  put(kCodeStart, recipe.code);
  put(kNmiStart, recipe.nmi.empty() ? Bytes{0x40} : recipe.nmi);
  put(kIrqStart, {0x40});
  vector_to(0xFFFA, kNmiStart);
  vector_to(0xFFFC, kCodeStart);
  vector_to(0xFFFE, kIrqStart);
  image.insert(image.end(), program.begin(), program.end());
  if (!recipe.pattern_ram) {
    const Bytes patterns = random_bytes(0x2000, recipe.pattern_seed);
    image.insert(image.end(), patterns.begin(), patterns.end());
  }
  return image;
}

inline std::shared_ptr<const Cartridge> cartridge_of(const Recipe& recipe) {
  return Cartridge::parse(image_of(recipe));
}

}  // namespace warpzone::nes
