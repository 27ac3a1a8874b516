/// A fast 64-bit hash for fingerprints and checksums of save states. Not cryptographic: it finds
/// accidents, not forgers.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

namespace warpzone::nes {

inline std::uint64_t hash_bytes(std::span<const std::uint8_t> bytes, std::uint64_t seed = 0) {
  constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87ULL, kPrime2 = 0xC2B2AE3D27D4EB4FULL;
  std::uint64_t hash = seed ^ (bytes.size() * kPrime1);
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data() + i, 8);
    hash = (hash ^ word) * kPrime1;
    hash ^= hash >> 29;
  }
  for (; i < bytes.size(); ++i) hash = (hash ^ bytes[i]) * kPrime2;
  hash ^= hash >> 32;
  hash *= kPrime2;
  return hash ^ (hash >> 29);
}

}  // namespace warpzone::nes
