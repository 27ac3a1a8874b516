#include "nes/machine.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace warpzone::nes {
namespace {

constexpr std::uint64_t kNever = ~std::uint64_t{0};
/// No instruction or interrupt entry takes more cycles than this, sampling delay included.
constexpr std::uint64_t kLongestInstruction = 10;

constexpr std::size_t kStateCore = offsetof(MachineState, cartridge_ram);
constexpr std::uint8_t kCartridgeRamUsed = 1, kPatternRamUsed = 2;

}  // namespace

Machine::Machine(std::shared_ptr<const Cartridge> cart, bool exact_path)
    : cartridge(std::move(cart)),
      exact(exact_path),
      screen(240 * 256),
      row_emphasis(240),
      ppu_(state.ppu, *cartridge, state.pattern_ram, exact_path, screen.data(),
           row_emphasis.data()),
      apu_(state.apu) {
  power_on();
}

void Machine::power_on() {
  std::memset(&state, 0, sizeof state);
  if (cartridge->has_pattern_ram()) state.memory_used |= kPatternRamUsed;
  ppu_.power_on();
  apu_.power_on();
  state.cpu.p = flag::kUnused;
  reset();
}

void Machine::reset() {
  ppu_.reset(state.cycle * kDotsPerCycle);
  apu_.reset(state.cycle);
  if (sound_ != nullptr) sound_->restart(state.cycle, state.apu.enabled);
  state.interrupts = InterruptState{};
  state.cpu.jammed = 0;
  // The reset sequence is an interrupt entry whose three pushes are turned into reads.
  for (int i = 0; i < 5; ++i) read(state.cpu.pc);
  state.cpu.sp = static_cast<std::uint8_t>(state.cpu.sp - 3);
  state.cpu.p |= flag::kInterrupt;
  const std::uint8_t low = read(0xFFFC);
  state.cpu.pc = static_cast<std::uint16_t>(low | read(0xFFFD) << 8);
}

void Machine::set_sound(std::unique_ptr<Sound> sound) {
  sound_ = std::move(sound);
  if (sound_ != nullptr) sound_->restart(state.cycle, state.apu.enabled);
}

void Machine::settle() { ppu_.settle(state.cycle * kDotsPerCycle); }

void Machine::copy_state_to(MachineState& out) const {
  std::memcpy(&out, &state, kStateCore);
  if ((state.memory_used & kCartridgeRamUsed) != 0) {
    std::memcpy(out.cartridge_ram, state.cartridge_ram, sizeof state.cartridge_ram);
  }
  if ((state.memory_used & kPatternRamUsed) != 0) {
    std::memcpy(out.pattern_ram, state.pattern_ram, sizeof state.pattern_ram);
  }
}

void Machine::copy_state_from(const MachineState& from) {
  const bool had_cartridge_ram = (state.memory_used & kCartridgeRamUsed) != 0;
  std::memcpy(&state, &from, kStateCore);
  if ((from.memory_used & kCartridgeRamUsed) != 0) {
    std::memcpy(state.cartridge_ram, from.cartridge_ram, sizeof state.cartridge_ram);
  } else if (had_cartridge_ram) {
    std::memset(state.cartridge_ram, 0, sizeof state.cartridge_ram);
  }
  if ((from.memory_used & kPatternRamUsed) != 0) {
    std::memcpy(state.pattern_ram, from.pattern_ram, sizeof state.pattern_ram);
  }
  ppu_.state_replaced();
  if (sound_ != nullptr) sound_->restart(state.cycle, state.apu.enabled);
}

void Machine::run_frame(bool render) {
  ppu_.set_drawing(render);
  const std::uint64_t frame = state.ppu.frame_start;
  if (exact) {
    while (state.ppu.frame_start == frame) step();
  } else {
    while (state.ppu.frame_start == frame && state.cycle * kDotsPerCycle < ppu_.frame_end()) {
      if (can_run_ahead()) {
        const Horizon ahead = horizon();
        if (state.cycle < ahead.limit && run_program(ahead)) continue;
      }
      step();
    }
    ppu_.run_to(state.cycle * kDotsPerCycle);
  }
  ++state.frame_count;
  if (sound_ != nullptr) sound_->end_frame(state.cycle);
}

bool Machine::can_run_ahead() const {
  const InterruptState& i = state.interrupts;
  const bool irq = state.apu.frame_irq != 0 || state.apu.dmc.irq != 0;
  return (i.service | i.nmi_latched | i.irq_seen) == 0 && !apu_.playing_sample() &&
         !(irq && (state.cpu.p & flag::kInterrupt) == 0) && state.cpu.pc >= 0x8000 &&
         state.cpu.jammed == 0 && cartridge->mapper().fixed_program();
}

Machine::Horizon Machine::horizon() const {
  const std::uint64_t frame_end = (ppu_.frame_end() + kDotsPerCycle - 1) / kDotsPerCycle;
  Horizon result{frame_end, frame_end + 2};  // The last turn (three cycles) begins just before.
  const auto stop_before = [&](std::uint64_t cycle) {
    const auto ahead_of = [&](std::uint64_t margin) { return cycle > margin ? cycle - margin : 0; };
    result.limit = std::min(result.limit, ahead_of(kLongestInstruction));
    result.idle_end = std::min(result.idle_end, ahead_of(1));
  };
  if ((state.ppu.control & 0x80) != 0) {
    stop_before(ppu_.next_vblank(state.cycle * kDotsPerCycle) / kDotsPerCycle);
  }
  if (const std::uint64_t quiet = apu_.quiet_until(); quiet != kNever) {
    const bool raised = state.apu.frame_irq != 0;  // Already up, and masked: nothing can change.
    if (!raised) stop_before(quiet);
  }
  return result;
}

void Machine::sample_interrupts() {
  InterruptState& i = state.interrupts;
  i.nmi_latched_before = i.nmi_latched;
  const bool nmi = ppu_.nmi_level(state.cycle * kDotsPerCycle);
  if (nmi && i.nmi_level == 0) i.nmi_latched = 1;
  i.nmi_level = nmi;
  i.irq_seen_before = i.irq_seen;
  i.irq_seen = apu_.irq_level(state.cycle - 1) && (state.cpu.p & flag::kInterrupt) == 0;
}

void Machine::end_cycle() {
  ++state.cycle;
  if (exact) ppu_.run_to(state.cycle * kDotsPerCycle);
  sample_interrupts();
}

void Machine::yield_to_sample_playback() {
  constexpr int kStolenCycles = 4;
  while (apu_.wants_sample(state.cycle)) {
    apu_.sample_fetched();
    for (int i = 0; i < kStolenCycles; ++i) end_cycle();
  }
}

std::uint8_t Machine::read(std::uint16_t address) {
  if (apu_.playing_sample()) yield_to_sample_playback();
  const std::uint8_t value = bus_read(address, state.cycle);
  end_cycle();
  return value;
}

void Machine::write(std::uint16_t address, std::uint8_t value) {
  bus_write(address, value, state.cycle);
  end_cycle();
  if (address == 0x4014) dma_page_ = value;
}

std::uint8_t Machine::bus_read(std::uint16_t address, std::uint64_t cycle) {
  if (address < 0x2000) {
    state.open_bus = state.ram[address & 0x7FF];
  } else if (address >= 0x8000) {
    state.open_bus = cartridge->program()[address & 0x7FFF];
  } else if (address < 0x4000) {
    state.open_bus = ppu_.read(address & 7, clock_of_access(cycle));
  } else if (address >= 0x6000) {
    state.open_bus = state.cartridge_ram[address & 0x1FFF];
  } else if (address == 0x4015) {
    return apu_.read_status(cycle, state.open_bus);  // Inside the chip: the bus keeps its value.
  } else if (address == 0x4016 || address == 0x4017) {
    state.open_bus =
        static_cast<std::uint8_t>((state.open_bus & 0xE0) | read_controller(address & 1));
  }
  return state.open_bus;
}

void Machine::bus_write(std::uint16_t address, std::uint8_t value, std::uint64_t cycle) {
  state.open_bus = value;
  if (address < 0x2000) {
    state.ram[address & 0x7FF] = value;
  } else if (address < 0x4000) {
    ppu_.write(address & 7, value, clock_of_access(cycle));
  } else if (address == 0x4016) {
    ControllerState& pads = state.controllers;
    if ((pads.strobe & 1) != 0 || (value & 1) != 0) {
      pads.shift[0] = pads.buttons[0];
      pads.shift[1] = pads.buttons[1];
    }
    pads.strobe = value & 1;
  } else if (address < 0x4018) {
    apu_.write(address, value, cycle);
    if (sound_ != nullptr) sound_->write(address, value, cycle);
  } else if (address >= 0x8000) {
    cartridge->mapper().write(address, value);
  } else if (address >= 0x6000) {
    state.cartridge_ram[address & 0x1FFF] = value;
    state.memory_used |= kCartridgeRamUsed;
  }
}

bool Machine::can_switch(std::uint16_t address, std::uint8_t value, std::uint64_t cycle) {
  const bool control = address < 0x4000 && (address & 7) == 0;
  const bool enables_nmi = control && (value & ~state.ppu.control & 0x80) != 0;
  return !enables_nmi || ppu_.nmi_stays_low(clock_of_access(cycle));
}

bool Machine::read_far(std::uint16_t base, std::uint32_t address, std::uint64_t cycle,
                       std::uint32_t& value) {
  const bool crossed = ((base ^ address) & 0xFF00) != 0;
  const bool device = address >= 0x2000 && address < 0x6000;
  // Across pages the processor reads the wrong one first: devices would notice.
  if (crossed && (device || (base >= 0x2000 && base < 0x6000))) return false;
  if (device && !can_read_device(static_cast<int>(address))) return false;
  state.open_bus = static_cast<std::uint8_t>(base >> 8);
  value = bus_read(static_cast<std::uint16_t>(address), cycle);
  return true;
}

bool Machine::write_far(std::uint16_t base, std::uint32_t address, std::uint8_t value,
                        std::uint64_t cycle) {
  const auto harmless = [](std::uint32_t where) {
    return where < 0x2000 || (where >= 0x4000 && where <= 0x4013) || where >= 0x6000;
  };
  // What is read before the write, and the write itself; the program's board is left alone.
  if (!harmless((base & 0xFF00u) | (address & 0xFF)) || !harmless(address) || address >= 0x8000) {
    return false;
  }
  bus_write(static_cast<std::uint16_t>(address), value, cycle);
  return true;
}

std::uint8_t Machine::read_controller(int port) {
  ControllerState& pads = state.controllers;
  if (pads.strobe != 0) return pads.buttons[port] & 1;
  const std::uint8_t bit = pads.shift[port] & 1;
  pads.shift[port] = static_cast<std::uint8_t>(pads.shift[port] >> 1 | 0x80);
  return bit;
}

void Machine::sprite_dma(std::uint8_t page) {
  const std::uint16_t source = static_cast<std::uint16_t>(page << 8);
  // One cycle to halt, one more to meet the read phase.
  const int wait = (state.cycle & 1) != 0 ? 2 : 1;
  const std::uint64_t end = state.cycle + static_cast<std::uint64_t>(wait) + 512;
  const bool undisturbed = !exact && !apu_.playing_sample() && page < 0x20 &&
                           ppu_.in_vblank_until(end * kDotsPerCycle) &&
                           end + 2 < apu_.quiet_until() &&
                           end * kDotsPerCycle + 6 < ppu_.next_vblank(state.cycle * kDotsPerCycle);
  if (undisturbed) {
    ppu_.copy_oam(state.ram + (source & 0x7FF), clock_of_access(state.cycle));
    state.open_bus = state.ram[(source & 0x7FF) | 0xFF];
    state.cycle = end;
    sample_interrupts();
    sample_interrupts();
    return;
  }
  for (int i = 0; i < wait; ++i) end_cycle();
  for (int i = 0; i < 256; ++i) {
    const std::uint8_t value = read(static_cast<std::uint16_t>(source + i));
    state.open_bus = value;
    ppu_.write_oam(value, clock_of_access(state.cycle));
    end_cycle();
  }
}

}  // namespace warpzone::nes
