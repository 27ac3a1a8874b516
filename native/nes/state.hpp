/// Everything that changes while the machine runs, as plain data: copying these bytes is a save
/// state. Nothing here points anywhere, and every byte is a named field: padding would keep
/// whatever the memory held before, and states of equal play would differ.
#pragma once

#include <cstdint>
#include <type_traits>

namespace warpzone::nes {

/// Processor status bits.
namespace flag {
inline constexpr std::uint8_t kCarry = 0x01, kZero = 0x02, kInterrupt = 0x04, kDecimal = 0x08,
                              kBreak = 0x10, kUnused = 0x20, kOverflow = 0x40, kNegative = 0x80;
}  // namespace flag

struct CpuRegisters {
  std::uint16_t pc;
  std::uint8_t a, x, y, sp;
  std::uint8_t p;
  std::uint8_t jammed;  ///< A KIL opcode stopped the processor; only a reset helps.
};

/// The interrupt lines as the processor sampled them at the end of the last two cycles: it acts on
/// what it saw one cycle before an instruction's last.
struct InterruptState {
  std::uint8_t nmi_level;
  std::uint8_t nmi_latched, nmi_latched_before;
  std::uint8_t irq_seen, irq_seen_before;
  std::uint8_t service;  ///< The next step enters an interrupt instead of an instruction.
};

/// One of up to eight sprites latched for the line being drawn.
struct LineSprite {
  std::uint8_t x, low, high, attributes;
};

struct PpuState {
  std::uint64_t clock;          ///< Dots processed since power-on.
  std::uint64_t frame_start;    ///< `clock` at scanline 240, dot 0 of the running frame.
  std::uint64_t flags_clock;    ///< Status flags are right up to this clock (>= clock).
  std::int16_t line, dot;       ///< The next dot to process; line 261 comes before line 0.
  std::uint16_t v, t;           ///< Scroll position in use and the one prepared.
  std::uint16_t line_v;         ///< `v` when the tiles of the line in hand began to be fetched.
  std::uint16_t line_v_before;  ///< The same of the line before.
  std::uint16_t overflow_dot;   ///< Reference path: dot of this line at which overflow is found.
  std::uint16_t pattern_low, pattern_high, attribute_low, attribute_high;  ///< Shift registers.
  std::uint8_t next_tile, next_attribute, next_low, next_high;             ///< Fetched, not shown.
  std::uint8_t fine_x, second_write;
  std::uint8_t control, mask, status;
  std::uint8_t oam_address, read_buffer, bus_latch;
  std::uint8_t odd_frame, suppress_vblank;
  std::uint8_t skip_dot;  ///< Decided: the pre-render line in hand ends one dot early.
  /// Lines still to be drawn dot by dot, since a write met a line half drawn: the shift registers,
  /// not `line_v`, determine what they show.
  std::uint8_t lines_live;
  std::uint8_t sprite_count, sprite_zero_on_line;
  LineSprite sprites[8];
  std::uint8_t palette[32];
  std::uint8_t oam[256];
  std::uint8_t vram[2048];
};

struct DmcState {
  std::uint8_t control, sample_address, sample_length;
  std::uint8_t irq, buffer_full, shift_bits, silent, active;
  std::uint16_t bytes_left;
  std::uint16_t address;
  std::uint8_t reserved[4];
  std::uint64_t next_clock;  ///< Cycle of the next output bit.
};

/// What programs can read back from the sound unit.
struct ApuState {
  std::uint64_t sequence_start;  ///< Cycle at which the frame sequencer stood at zero.
  std::uint64_t next_step;       ///< Cycle of its next step.
  std::uint8_t step, five_step, irq_inhibited, frame_irq;
  std::uint8_t enabled, halted, reset_pending, reset_value;
  std::uint64_t reset_at;
  std::uint8_t length[4];
  std::uint8_t reserved[4];
  DmcState dmc;
};

struct ControllerState {
  std::uint8_t buttons[2];
  std::uint8_t shift[2];
  std::uint8_t strobe;
};

struct MachineState {
  std::uint64_t cycle;
  std::uint64_t frame_count;
  CpuRegisters cpu;
  InterruptState interrupts;
  ControllerState controllers;
  std::uint8_t open_bus;
  std::uint8_t memory_used;  ///< Cartridge RAM has been written: it must be copied as well.
  std::uint8_t reserved[3];
  PpuState ppu;
  ApuState apu;
  std::uint8_t ram[2048];
  std::uint8_t cartridge_ram[8192];
  std::uint8_t pattern_ram[8192];
};

static_assert(std::is_trivially_copyable_v<MachineState>);
static_assert(std::has_unique_object_representations_v<MachineState>, "name the padding");

}  // namespace warpzone::nes
