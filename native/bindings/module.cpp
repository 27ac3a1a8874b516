/// The only code that knows Python. Each bind_* file wraps one part of the core.
///
/// Objects that Python threads share are safe because of the GIL (Console, whose RAM is a live
/// view) or a lock of their own (Pool and Search, which release the GIL while they work). The
/// module does not declare itself safe without the GIL, so a free-threaded interpreter enables it
/// on import.
#include <exception>
#include <stdexcept>

#include "bindings/bindings.hpp"
#include "mario/levels.hpp"
#include "nes/cartridge.hpp"
#include "nes/console.hpp"
#include "vector/pool.hpp"

namespace {

namespace nb = nanobind;

/// Raises the error of that name from warpzone.errors. It is looked up only now: the module must
/// also load alone, when its type stub is made.
void raise_as(const char* name, const std::exception& error) {
  nb::object type = nb::module_::import_("warpzone.errors").attr(name);
  PyErr_SetString(type.ptr(), error.what());
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const warpzone::nes::CartridgeError& error) {
    raise_as("CartridgeError", error);
  } catch (const warpzone::nes::StateError& error) {
    raise_as("StateError", error);
  } catch (const warpzone::LaneError& error) {
    raise_as("EnvError", error);
  } catch (const warpzone::InFlightError& error) {
    raise_as("InFlightError", error);
  } catch (const warpzone::mario::StartError& error) {
    raise_as("EnvError", error);
  } catch (const warpzone::ForkedError& error) {
    raise_as("ClosedError", error);
  } catch (const std::invalid_argument& error) {
    raise_as("ConfigError", error);
  }
}

}  // namespace

NB_MODULE(_native, module) {
  module.doc() = "Native core of warpzone.";
  module.attr("__version__") = WARPZONE_VERSION;
  nb::register_exception_translator(translate);
  warpzone::bindings::bind_console(module);
  warpzone::bindings::bind_config(module);
  warpzone::bindings::bind_game(module);
  warpzone::bindings::bind_pool(module);
  warpzone::bindings::bind_replay(module);
  warpzone::bindings::bind_search(module);
  warpzone::bindings::bind_policy(module);
  warpzone::bindings::bind_player(module);
  warpzone::bindings::bind_images(module);
}
