/// Floats that begin at a cache line, so that no vector of a padded row crosses two.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace warpzone::policy {

inline constexpr std::size_t kCacheLine = 64;
inline constexpr std::size_t kLineFloats = kCacheLine / sizeof(float);

template <typename Value>
struct AlignedAllocator {
  using value_type = Value;

  AlignedAllocator() = default;
  template <typename Other>
  explicit AlignedAllocator(const AlignedAllocator<Other>&) {}

  Value* allocate(std::size_t count) {
    return static_cast<Value*>(::operator new(count * sizeof(Value), std::align_val_t{kCacheLine}));
  }
  void deallocate(Value* values, std::size_t) {
    ::operator delete(values, std::align_val_t{kCacheLine});
  }
  bool operator==(const AlignedAllocator&) const { return true; }
};

using AlignedFloats = std::vector<float, AlignedAllocator<float>>;

/// Floats of a row that fills whole cache lines.
constexpr std::size_t padded(std::size_t width) {
  return (width + kLineFloats - 1) / kLineFloats * kLineFloats;
}

}  // namespace warpzone::policy
