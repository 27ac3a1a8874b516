/// Arrays that belong to the caller: NumPy arrays or CPU tensors, checked and used in place.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <stdexcept>
#include <string>

namespace warpzone::bindings {

template <typename Value>
using CallerArray = nanobind::ndarray<Value, nanobind::c_contig, nanobind::device::cpu>;

/// The array's memory. Throws std::invalid_argument unless it has `expected` elements.
template <typename Value>
Value* checked_data(const CallerArray<Value>& array, std::size_t expected,
                    const std::string& name) {
  if (array.size() != expected) {
    throw std::invalid_argument(name + " has " + std::to_string(array.size()) +
                                " elements; it needs " + std::to_string(expected));
  }
  return array.data();
}

}  // namespace warpzone::bindings
