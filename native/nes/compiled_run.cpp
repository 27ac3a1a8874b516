/// The fast path of the machine: compiled code, and the interpreter for what it leaves.
#include "nes/machine.hpp"
#include "nes/packed_flags.hpp"

namespace warpzone::nes {

std::int32_t Machine::read_device(void* machine, std::uint32_t address, std::uint64_t cycle) {
  Machine& self = *static_cast<Machine*>(machine);
  // The byte on the bus before a device answers is the high byte of its address.
  self.state.open_bus = static_cast<std::uint8_t>(address >> 8);
  return self.bus_read(static_cast<std::uint16_t>(address), cycle);
}

std::int32_t Machine::write_device(void* machine, std::uint32_t address, std::uint64_t cycle,
                                   std::uint32_t value) {
  static_cast<Machine*>(machine)->bus_write(static_cast<std::uint16_t>(address),
                                            static_cast<std::uint8_t>(value), cycle);
  return 0;
}

std::int32_t Machine::read_table(void* machine, std::uint32_t address, std::uint64_t cycle) {
  const auto base = static_cast<std::uint16_t>(address);
  std::uint32_t value = 0;
  const bool done = static_cast<Machine*>(machine)->read_far(
      base, (base + (address >> 16)) & 0xFFFF, cycle, value);
  return done ? static_cast<std::int32_t>(value) : -1;
}

std::int32_t Machine::write_table(void* machine, std::uint32_t address, std::uint64_t cycle,
                                  std::uint32_t value) {
  const auto base = static_cast<std::uint16_t>(address);
  const bool done = static_cast<Machine*>(machine)->write_far(
      base, (base + (address >> 16)) & 0xFFFF, static_cast<std::uint8_t>(value), cycle);
  return done ? 0 : -1;
}

bool Machine::run_program(const Horizon& horizon) {
  const CompiledProgram* compiled = cartridge->compiled();
  if (compiled == nullptr) return interpret(horizon, Extent::kAll);
  if (run_compiled(*compiled, horizon) == CompiledExit::kLimit) {
    return interpret(horizon, Extent::kAll);
  }
  if (state.cpu.pc < 0x8000) return false;  // The program ran off the end of memory.
  // The interpreter does what compiled code does not, and then the horizon may be another.
  switch (cartridge->decoded()[state.cpu.pc & 0x7FFF].operation) {
    case Operation::kLiteral:
      return false;
    case Operation::kWaitLoop:
      return interpret(horizon, Extent::kLoop);
    default:
      return interpret(horizon, Extent::kOperation);
  }
}

CompiledExit Machine::run_compiled(const CompiledProgram& compiled, const Horizon& horizon) {
  CpuRegisters& cpu = state.cpu;
  CompiledContext context{
      .cycle = state.cycle,
      .guard = horizon.limit > kMostExtras ? horizon.limit - kMostExtras : 0,
      .ram = state.ram,
      .machine = this,
      .read = read_device,
      .write = write_device,
      .read_far = read_table,
      .write_far = write_table,
      .tables = nullptr,
      .at = cpu.pc & 0x7FFFu,
      .a = cpu.a,
      .x = cpu.x,
      .y = cpu.y,
      .sp = cpu.sp,
      .nz = pack_nz(cpu.p),
      .carry = cpu.p & std::uint32_t{flag::kCarry},
      .overflow = cpu.p & std::uint32_t{flag::kOverflow},
  };
  const CompiledExit exit = compiled.run(context);
  constexpr std::uint32_t kKept = flag::kInterrupt | flag::kDecimal | flag::kUnused;
  cpu.p = static_cast<std::uint8_t>((cpu.p & kKept) |
                                    unpack_flags(context.nz, context.carry, context.overflow));
  cpu.pc = static_cast<std::uint16_t>(0x8000 + context.at);
  cpu.a = static_cast<std::uint8_t>(context.a);
  cpu.x = static_cast<std::uint8_t>(context.x);
  cpu.y = static_cast<std::uint8_t>(context.y);
  cpu.sp = static_cast<std::uint8_t>(context.sp);
  state.cycle = context.cycle;
  // What the processor would have sampled in the last cycle; no other was worth noticing.
  state.interrupts.nmi_level = ppu_.nmi_level(state.cycle * kDotsPerCycle);
  return exit;
}

}  // namespace warpzone::nes
