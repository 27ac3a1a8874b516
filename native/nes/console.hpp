/// One NES: processor, PPU, sound registers, controllers and a cartridge.
///
/// The machine has two paths to the same state. With `exact` every processor cycle moves the
/// PPU by three dots, one at a time: slow, literal, the reference. Otherwise program code
/// runs through a pre-decoded interpreter up to the next moment at which anything outside the
/// processor can be noticed, waiting loops are crossed in one step, and the PPU is brought
/// forward in closed form when somebody looks. Both give identical RAM, VRAM, OAM, cycle counts and
/// frames; tests compare them frame by frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "nes/cartridge.hpp"
#include "nes/machine.hpp"

namespace warpzone::nes {

/// Raised when a save state is refused; the text gives the reason.
struct StateError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Bits of a controller byte.
namespace button {
inline constexpr std::uint8_t kA = 0x01, kB = 0x02, kSelect = 0x04, kStart = 0x08, kUp = 0x10,
                              kDown = 0x20, kLeft = 0x40, kRight = 0x80;
}  // namespace button

inline constexpr int kScreenWidth = 256;
inline constexpr int kScreenHeight = 240;

class Console {
 public:
  explicit Console(std::shared_ptr<const Cartridge> cartridge, bool exact = false);

  /// As after switching on: memory cleared, then reset.
  void power_on();
  /// As after the reset button: memory is kept.
  void reset();

  /// Runs until the next frame is complete (scanline 240, dot 0, at an instruction boundary).
  /// The vertical-blank interrupt therefore comes early in the frame and reads `buttons`.
  /// With `render` false nothing is drawn and the screen keeps the last drawn frame.
  void run_frame(std::uint8_t buttons, bool render, std::uint8_t buttons2 = 0);

  /// Executes one instruction (or one interrupt entry) on the reference path.
  void step_instruction();

  std::uint8_t* ram() { return machine_.state.ram; }
  const std::uint8_t* ram() const { return machine_.state.ram; }
  /// 240 rows of 256 color numbers (0-63).
  const std::uint8_t* screen() const { return machine_.screen.data(); }
  /// Color-emphasis bits (mask register >> 5) of each of the 240 rows.
  const std::uint8_t* row_emphasis() const { return machine_.row_emphasis.data(); }

  /// Synthesises sound from now on, at `sample_rate` samples per second; 0 stops. Emulation is the
  /// same either way. Save states do not contain it: after `load` there is silence until the
  /// program writes the sound registers again.
  void set_sound(int sample_rate);
  int sound_rate() const { return machine_.sound() ? machine_.sound()->sample_rate() : 0; }
  /// Samples of the last frame, from -1 to 1; none without sound.
  std::span<const float> sound() const {
    return machine_.sound() ? machine_.sound()->samples() : std::span<const float>{};
  }

  /// Reads as a debugger would: no side effects (registers read as 0).
  std::uint8_t peek(std::uint16_t address) const;
  /// Writes RAM or cartridge RAM; other addresses are refused with std::out_of_range.
  void poke(std::uint16_t address, std::uint8_t value);

  std::uint64_t frame_count() const { return machine_.state.frame_count; }
  std::uint64_t cycle_count() const { return machine_.state.cycle; }
  CpuRegisters& cpu() { return machine_.state.cpu; }
  const MachineState& state() const { return machine_.state; }
  const Cartridge& cartridge() const { return *machine_.cartridge; }
  bool exact() const { return machine_.exact; }

  /// Save states for the outside: versioned, checksummed, tied to the cartridge, always
  /// `state_size()` bytes.
  std::size_t state_size() const;
  void save(std::span<std::uint8_t> out);
  std::vector<std::uint8_t> save();
  /// Restores exactly or throws StateError and leaves the machine as it was.
  void load(std::span<const std::uint8_t> blob);

  /// Bare snapshots for in-process search: a plain copy, no checks. Only for a console with the
  /// same cartridge.
  void snapshot(MachineState& out) const { machine_.copy_state_to(out); }
  void restore(const MachineState& from) { machine_.copy_state_from(from); }

 private:
  Machine machine_;
};

}  // namespace warpzone::nes
