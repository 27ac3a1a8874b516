/// What the tests of the machine share: cartridges made of a few bytes of code.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
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

inline std::shared_ptr<const Cartridge> cartridge_of(const Recipe& recipe, bool compile = true) {
  return Cartridge::parse(image_of(recipe), compile);
}

/// Instructions of all regular kinds: mostly in RAM, with short branches, calls and returns that
/// meet, and now and then a table or a pointer that leads anywhere.
inline Bytes random_instructions(std::size_t size, std::uint32_t seed) {
  // clang-format off
  constexpr std::uint8_t kOneByte[] = {
      0x0A, 0x2A, 0x4A, 0x6A, 0x18, 0x38, 0xB8, 0x88, 0xC8, 0xCA, 0xE8, 0x8A, 0x98, 0xA8, 0xAA,
      0xBA, 0xEA, 0x48, 0x68, 0x08};
  constexpr std::uint8_t kTwoBytes[] = {
      0x09, 0x29, 0x49, 0x69, 0xA9, 0xC9, 0xE9, 0xA0, 0xA2, 0xC0, 0xE0, 0x05, 0x25, 0x45, 0x65,
      0x85, 0xA5, 0xC5, 0xE5, 0x06, 0x26, 0x46, 0x66, 0x86, 0xA6, 0xC6, 0xE6, 0x84, 0xA4, 0xC4,
      0xE4, 0x24, 0x15, 0x35, 0x55, 0x75, 0x95, 0xB5, 0xD5, 0xF5, 0x16, 0x36, 0x56, 0x76, 0xD6,
      0xF6, 0x94, 0xB4, 0x96, 0xB6, 0x01, 0x21, 0x41, 0x61, 0x81, 0xA1, 0xC1, 0xE1, 0x11, 0x31,
      0x51, 0x71, 0x91, 0xB1, 0xD1, 0xF1};
  constexpr std::uint8_t kThreeBytes[] = {
      0x0D, 0x2D, 0x4D, 0x6D, 0x8D, 0xAD, 0xCD, 0xED, 0x0E, 0x2E, 0x4E, 0x6E, 0x8E, 0xAE, 0xCE,
      0xEE, 0x8C, 0xAC, 0xCC, 0xEC, 0x2C, 0x19, 0x39, 0x59, 0x79, 0x99, 0xB9, 0xD9, 0xF9, 0x1D,
      0x3D, 0x5D, 0x7D, 0x9D, 0xBD, 0xDD, 0xFD, 0x1E, 0x3E, 0x5E, 0x7E, 0xDE, 0xFE, 0xBC, 0xBE};
  // clang-format on
  std::mt19937 random(seed);
  const auto one_of = [&](const auto& list) { return list[random() % std::size(list)]; };
  const auto byte = [&] { return static_cast<std::uint8_t>(random()); };
  const auto address = [&]() -> int {
    switch (random() % 8) {
      case 0:
        return static_cast<int>(kCodeStart + random() % 0x7F00);  // A table in the program.
      case 1:
        return static_cast<int>(random() % 0x10000);
      default:
        return static_cast<int>(random() % 0x800);
    }
  };
  Bytes code;
  const auto put = [&](std::initializer_list<int> bytes) {
    for (const int value : bytes) code.push_back(static_cast<std::uint8_t>(value));
  };
  while (code.size() < size) {
    switch (random() % 10) {
      case 0:
      case 1:
        put({one_of(kOneByte)});
        break;
      case 2:
      case 3:
      case 4:
      case 5:
        put({one_of(kTwoBytes), byte()});
        break;
      case 6:
      case 7: {
        const int where = address();
        put({one_of(kThreeBytes), where & 0xFF, where >> 8});
        break;
      }
      case 8:
        put({0x10 | static_cast<int>(random() % 8) << 5, static_cast<int>(random() % 12)});
        break;
      default: {
        const int where = kCodeStart + static_cast<int>(random() % size);
        put({random() % 2 == 0 ? 0x20 : 0x4C, where & 0xFF, where >> 8});
        if (random() % 2 == 0) put({0x60});
      }
    }
  }
  return code;
}

}  // namespace warpzone::nes
