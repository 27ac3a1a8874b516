/// What the tests of the game layer share: made-up RAM, and the real game when it is at hand.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mario/ram.hpp"
#include "nes/console.hpp"

namespace warpzone::mario {

using Memory = std::array<std::uint8_t, ram::kSize2KiB>;

/// Small Mario in control, on the ground of 1-1.
inline Memory playing(int x = 40, int y = 176) {
  Memory memory{};
  memory[ram::kMode] = ram::kPlaying;
  memory[ram::kModeTask] = 3;
  memory[ram::kPlayerTask] = ram::kTaskControl;
  memory[ram::kSize] = 1;
  memory[ram::kLives] = 2;
  memory[ram::kAreaType] = 1;
  memory[ram::kAreaData] = 0x90;
  memory[ram::kAreaData + 1] = 0xA6;
  memory[ram::kXPage] = static_cast<std::uint8_t>(x >> 8);
  memory[ram::kX] = static_cast<std::uint8_t>(x);
  memory[ram::kYPage] = static_cast<std::uint8_t>(1 + (y >> 8));
  memory[ram::kY] = static_cast<std::uint8_t>(y);
  return memory;
}

inline std::shared_ptr<const nes::Cartridge> cartridge_at(const std::string& path,
                                                          bool compile = true) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::printf("skipped: no ROM at %s\n", path.c_str());
    return nullptr;
  }
  const std::vector<std::uint8_t> image((std::istreambuf_iterator<char>(file)),
                                        std::istreambuf_iterator<char>());
  return nes::Cartridge::parse(image, compile);
}

/// The game named by WARPZONE_ROM, or nothing, with a word about it.
inline std::shared_ptr<const nes::Cartridge> game_cartridge(bool compile = true) {
  const char* path = std::getenv("WARPZONE_ROM");
  if (path == nullptr || *path == '\0') {
    std::printf("skipped: no ROM\n");
    return nullptr;
  }
  return cartridge_at(path, compile);
}

/// The Lost Levels, which the public wheel keeps in the same folder.
inline std::shared_ptr<const nes::Cartridge> lost_levels_cartridge() {
  const char* path = std::getenv("WARPZONE_ROM");
  if (path == nullptr || *path == '\0') {
    std::printf("skipped: no ROM\n");
    return nullptr;
  }
  const std::string folder(path, std::string_view(path).find_last_of("/\\") + 1);
  return cartridge_at(folder + "super-mario-bros-2.nes");
}

}  // namespace warpzone::mario
