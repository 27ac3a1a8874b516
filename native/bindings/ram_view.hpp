/// Game knowledge reads RAM of any machine: our console's, or a copy of another machine's.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>

#include "nes/console.hpp"

namespace warpzone::bindings {

using RamArray = nanobind::ndarray<const std::uint8_t, nanobind::shape<2048>, nanobind::c_contig,
                                   nanobind::device::cpu>;

/// The 2 KiB, as long as the argument that they came with lives.
struct RamView {
  const std::uint8_t* data = nullptr;
};

}  // namespace warpzone::bindings

template <>
struct nanobind::detail::type_caster<warpzone::bindings::RamView> {
  NB_TYPE_CASTER(warpzone::bindings::RamView, const_name("Console | NDArray[numpy.uint8]"))

  bool from_python(handle source, std::uint8_t, cleanup_list*) noexcept {
    warpzone::nes::Console* console = nullptr;
    if (nanobind::try_cast(source, console, false) && console != nullptr) {
      value.data = console->ram();
      return true;
    }
    // Never a converted copy: its memory would be gone before it is read.
    warpzone::bindings::RamArray array;
    if (!nanobind::try_cast(source, array, false)) return false;
    value.data = array.data();
    return true;
  }
};
