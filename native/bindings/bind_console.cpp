#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>

#include "bindings/bindings.hpp"
#include "bindings/screen.hpp"
#include "nes/console.hpp"

namespace warpzone::bindings {
namespace nb = nanobind;
using namespace nb::literals;
using nes::Console;

namespace {

using ByteVector = nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>>;
using ReadOnlyFloats = nb::ndarray<nb::numpy, const float, nb::ndim<1>>;
using ReadOnlyBytes = nb::ndarray<nb::numpy, const std::uint8_t, nb::ndim<1>>;

/// The registers of a console, readable and settable.
struct Registers {
  nes::CpuRegisters& of;
};

template <auto Member>
auto get(const Registers& registers) {
  return registers.of.*Member;
}

template <auto Member, typename Value>
void set(Registers& registers, Value value) {
  registers.of.*Member = value;
}

/// `Console.ram` is a live view that any thread may read and write, so a frame runs with the GIL
/// held: it takes some tens of microseconds. A long run of frames releases it here.
void let_others_run() {
  {
    const nb::gil_scoped_release release;
  }
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

ReadOnlyFloats copy_of(std::span<const float> samples) {
  auto* copy = new float[samples.size()];
  std::copy(samples.begin(), samples.end(), copy);
  nb::capsule owner(copy, [](void* p) noexcept { delete[] static_cast<float*>(p); });
  return ReadOnlyFloats(copy, {samples.size()}, owner);
}

ReadOnlyBytes copy_of(const std::uint8_t* data, std::size_t size) {
  auto* copy = new std::uint8_t[size];
  std::memcpy(copy, data, size);
  nb::capsule owner(copy, [](void* p) noexcept { delete[] static_cast<std::uint8_t*>(p); });
  return ReadOnlyBytes(copy, {size}, owner);
}

}  // namespace

void bind_console(nb::module_& module) {
  nb::class_<Registers>(module, "Registers", "Processor registers of a console, settable.")
      .def_prop_rw("pc", &get<&nes::CpuRegisters::pc>, &set<&nes::CpuRegisters::pc, std::uint16_t>)
      .def_prop_rw("a", &get<&nes::CpuRegisters::a>, &set<&nes::CpuRegisters::a, std::uint8_t>)
      .def_prop_rw("x", &get<&nes::CpuRegisters::x>, &set<&nes::CpuRegisters::x, std::uint8_t>)
      .def_prop_rw("y", &get<&nes::CpuRegisters::y>, &set<&nes::CpuRegisters::y, std::uint8_t>)
      .def_prop_rw("sp", &get<&nes::CpuRegisters::sp>, &set<&nes::CpuRegisters::sp, std::uint8_t>)
      .def_prop_rw("p", &get<&nes::CpuRegisters::p>, [](Registers& registers, std::uint8_t value) {
        // The break bit exists only on the stack, the unused one is always set.
        registers.of.p = (value & ~nes::flag::kBreak) | nes::flag::kUnused;
      });

  nb::class_<Console>(module, "Console",
                      "One NES with a cartridge of board (mapper) 0, switched on.")
      .def(
          "__init__",
          [](Console* self, const nb::bytes& image, bool exact) {
            new (self) Console(nes::Cartridge::parse(span_of(image), !exact), exact);
          },
          "image"_a, "exact"_a = false)
      .def("power_on", &Console::power_on, "Switches off and on: memory is cleared.")
      .def("reset", &Console::reset, "Presses the reset button: memory is kept.")
      .def(
          "run_frame",
          [](Console& self, std::uint8_t buttons, bool render, std::uint8_t buttons2) {
            self.run_frame(buttons, render, buttons2);
          },
          "buttons"_a = 0, "render"_a = true, "buttons2"_a = 0,
          "Runs to the end of the next frame with the given buttons held (bits A, B, Select, "
          "Start, Up, Down, Left, Right from bit 0). Other threads see the console before or after "
          "the frame, never in the middle of it.")
      .def(
          "run_frames",
          [](Console& self, int count, std::uint8_t buttons, bool render) {
            for (int i = 0; i < count; ++i) {
              self.run_frame(buttons, render);
              let_others_run();
            }
          },
          "count"_a, "buttons"_a = 0, "render"_a = false,
          "Runs several frames with the same buttons. Other threads, and signals such as Ctrl-C, "
          "get their turn between two frames.")
      .def("step_instruction", &Console::step_instruction,
           "Executes one instruction or interrupt entry.")
      .def_prop_ro(
          "ram", [](Console& self) { return ByteVector(self.ram(), {2048}, nb::find(self)); },
          nb::rv_policy::automatic,
          "The 2 KiB of RAM: a live view, so writing to it changes the machine.")
      .def_prop_ro("screen", &rgb_screen, nb::rv_policy::automatic,
                   "The last drawn frame, 240 x 256 x 3.")
      .def(
          "set_sound", &Console::set_sound, "sample_rate"_a = 44'100,
          "Synthesises sound from now on, at this many samples per second; 0 stops. Emulation is "
          "the same either way. Save states do not contain it: after `load` there is silence until "
          "the game writes the sound registers again.")
      .def_prop_ro("sound_rate", &Console::sound_rate,
                   "Samples per second of `sound`; 0 without sound.")
      .def_prop_ro(
          "sound", [](const Console& self) { return copy_of(self.sound()); },
          nb::rv_policy::automatic,
          "The sound of the last frame: float32 samples from -1 to 1, empty without sound.")
      .def_prop_ro(
          "colors",
          [](const Console& self) {
            return copy_of(self.screen(), nes::kScreenWidth * nes::kScreenHeight);
          },
          nb::rv_policy::automatic, "The last drawn frame as color numbers (0-63), row by row.")
      .def(
          "nametable", [](const Console& self) { return copy_of(self.state().ppu.vram, 2048); },
          "A copy of the 2 KiB of frame memory that hold the nametables.")
      .def(
          "oam", [](const Console& self) { return copy_of(self.state().ppu.oam, 256); },
          "A copy of the sprite memory.")
      .def(
          "palette_ram", [](const Console& self) { return copy_of(self.state().ppu.palette, 32); },
          "A copy of the palette memory.")
      .def("peek", &Console::peek, "address"_a, "Reads without side effects.")
      .def("poke", &Console::poke, "address"_a, "value"_a, "Writes RAM or cartridge RAM.")
      .def(
          "save",
          [](Console& self) {
            const auto blob = self.save();
            return nb::bytes(reinterpret_cast<const char*>(blob.data()), blob.size());
          },
          "The whole machine as bytes.")
      .def(
          "load", [](Console& self, const nb::bytes& state) { self.load(span_of(state)); },
          "state"_a, "Restores exactly, or raises StateError and changes nothing.")
      .def_prop_ro("frame_count", &Console::frame_count)
      .def_prop_ro("cycle_count", &Console::cycle_count)
      .def_prop_ro("exact", &Console::exact)
      .def_prop_ro(
          "cpu", [](Console& self) { return Registers{self.cpu()}; }, nb::keep_alive<0, 1>(),
          "The processor's registers.");
}

}  // namespace warpzone::bindings
