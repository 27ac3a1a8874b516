#pragma once

#include <nanobind/nanobind.h>

namespace warpzone::bindings {

void bind_console(nanobind::module_& module);

}  // namespace warpzone::bindings
