/// The only code that knows Python. Each bind_* file wraps one part of the core.
#include "bindings/bindings.hpp"

#include "nes/cartridge.hpp"
#include "nes/console.hpp"

NB_MODULE(_native, module) {
  module.doc() = "Native core of warpzone.";
  module.attr("__version__") = WARPZONE_VERSION;
  nanobind::exception<warpzone::nes::CartridgeError>(module, "CartridgeError", PyExc_ValueError);
  nanobind::exception<warpzone::nes::StateError>(module, "StateError", PyExc_ValueError);
  warpzone::bindings::bind_console(module);
}
