/// The wiring: which address reaches which part, and how a processor cycle moves all the others.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "nes/apu.hpp"
#include "nes/cartridge.hpp"
#include "nes/ppu.hpp"
#include "nes/sound.hpp"
#include "nes/state.hpp"

namespace warpzone::nes {

/// Within a processor cycle, the dot before which a register access takes effect.
inline constexpr int kAccessDot = 2;
/// A processor cycle is three dots long.
inline constexpr int kDotsPerCycle = 3;
/// The PPU's clock at which an access in processor cycle `cycle` takes effect.
inline std::uint64_t clock_of_access(std::uint64_t cycle) {
  return cycle * kDotsPerCycle + kAccessDot;
}

class Machine {
 public:
  Machine(std::shared_ptr<const Cartridge> cartridge, bool exact);
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  void power_on();
  void reset();
  void run_frame(bool render);
  /// One instruction or interrupt entry, cycle by cycle (cpu.cpp).
  void step();

  /// Listens to the sound registers from now on; nullptr stops.
  void set_sound(std::unique_ptr<Sound> sound);
  const Sound* sound() const { return sound_.get(); }

  /// To be called before the state leaves for a machine that may take the other path.
  void settle();
  void copy_state_to(MachineState& out) const;
  void copy_state_from(const MachineState& from);

  MachineState state{};
  const std::shared_ptr<const Cartridge> cartridge;
  const bool exact;
  std::vector<std::uint8_t> screen, row_emphasis;

 private:
  friend class Cpu;

  /// One processor cycle each.
  std::uint8_t read(std::uint16_t address);
  void write(std::uint16_t address, std::uint8_t value);
  void end_cycle();
  void sample_interrupts();
  void yield_to_sample_playback();

  /// The bus itself, at a cycle and without moving time.
  std::uint8_t bus_read(std::uint16_t address, std::uint64_t cycle);
  void bus_write(std::uint16_t address, std::uint8_t value, std::uint64_t cycle);
  std::uint8_t read_controller(int port);
  void sprite_dma(std::uint8_t page);

  /// How far the program can run before anything else may act.
  struct Horizon {
    std::uint64_t limit;     ///< Instructions that begin earlier are undisturbed.
    std::uint64_t idle_end;  ///< So are those of a JMP to itself that end no later.
  };
  bool can_run_ahead() const;
  Horizon horizon() const;
  /// Runs program code until the limit, or until the horizon may have moved, or up to an
  /// instruction that needs the literal path. Returns false in the last case.
  bool run_program(const Horizon& horizon);
  enum class Extent {
    kAll,        ///< As far as possible.
    kOperation,  ///< One operation, whole loops included.
    kLoop,       ///< Until a loop that waits has been left.
  };
  /// The same in decoded code (interpreter.cpp), up to the given extent.
  bool interpret(const Horizon& horizon, Extent extent);
  /// The same in compiled code (compiled_run.cpp), up to where the interpreter is needed.
  CompiledExit run_compiled(const CompiledProgram& compiled, const Horizon& horizon);
  /// What it calls (see CompiledContext).
  static std::int32_t read_device(void* machine, std::uint32_t address, std::uint64_t cycle);
  static std::int32_t write_device(void* machine, std::uint32_t address, std::uint64_t cycle,
                                   std::uint32_t value);
  static std::int32_t read_table(void* machine, std::uint32_t address, std::uint64_t cycle);
  static std::int32_t write_table(void* machine, std::uint32_t address, std::uint64_t cycle,
                                  std::uint32_t value);
  /// Whether a write to a register that switches interrupts leaves the lines as they are.
  bool can_switch(std::uint16_t address, std::uint8_t value, std::uint64_t cycle);
  /// Indexed accesses to anywhere; false, with nothing done, if they need the literal path.
  bool read_far(std::uint16_t base, std::uint32_t address, std::uint64_t cycle,
                std::uint32_t& value);
  bool write_far(std::uint16_t base, std::uint32_t address, std::uint8_t value,
                 std::uint64_t cycle);

  Ppu ppu_;
  Apu apu_;
  std::unique_ptr<Sound> sound_;
  /// Sprite DMA asked for by the instruction in hand; it runs once that instruction has polled for
  /// interrupts, so it is never pending between steps.
  int dma_page_ = -1;
};

}  // namespace warpzone::nes
