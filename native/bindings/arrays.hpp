/// NumPy arrays that own a copy of native data.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstddef>
#include <initializer_list>

namespace warpzone::bindings {

template <typename Value>
using OwnedArray = nanobind::ndarray<nanobind::numpy, Value>;

template <typename Value>
OwnedArray<Value> array_of(const Value* data, std::initializer_list<std::size_t> shape) {
  std::size_t size = 1;
  for (const std::size_t length : shape) size *= length;
  auto* copy = new Value[size];
  std::copy_n(data, size, copy);
  nanobind::capsule owner(copy, [](void* p) noexcept { delete[] static_cast<Value*>(p); });
  return OwnedArray<Value>(copy, shape, owner);
}

}  // namespace warpzone::bindings
