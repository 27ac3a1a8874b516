/// The fast path: decoded program code, as long as nothing outside the processor can interfere.
///
/// Registers live in local variables; N and Z are kept as the value they came from. Every operation
/// leaves exactly what the literal processor would leave, cycles included; what it cannot do it
/// hands back (`kLiteral`, or an address that turns out to be a device).
#include <algorithm>

#include "nes/alu.hpp"
#include "nes/machine.hpp"

namespace warpzone::nes {
namespace {

using Word = std::uint32_t;

/// Z is set when the low byte is zero, N when bit 7 or bit 15 is set: BIT and PLP can set both.
constexpr Word kNegativeBits = 0x8080;

Word pack_nz(std::uint8_t p) {
  const Word low = (p & flag::kZero) != 0 ? 0 : 1;
  return low | ((p & flag::kNegative) != 0 ? 0x8000u : 0u);
}

/// What a waiting loop looked like the last time round.
struct LastTurn {
  const Instruction* branch = nullptr;
  std::uint64_t cycle = 0;
  Word a = 0, x = 0, y = 0, nz = 0, carry = 0, overflow = 0;
};

}  // namespace

#if defined(__GNUC__)
#define WARPZONE_LABEL(name) &&label_##name,
#define CASE(name) label_##name
#define NEXT()                                                          \
  do {                                                                  \
    if (cycle >= limit) goto finish;                                    \
    goto* kLabels[static_cast<std::size_t>(at->operation)];             \
  } while (false)
#else
#define CASE(name) case Operation::k##name
#define NEXT() goto dispatch
#endif

#define PASS()          \
  do {                  \
    cycle += at->cycles; \
    at += at->length;   \
  } while (false)

// The value of each addressing mode, then the instruction is passed.
#define READ_IMM() const Word value = at->operand; PASS();
#define READ_RAM() const Word value = ram[at->operand]; PASS();
#define READ_ZPX() const Word value = ram[(at->operand + x) & 0xFF]; PASS();
#define READ_ZPY() const Word value = ram[(at->operand + y) & 0xFF]; PASS();
#define READ_TABLE(memory, mask, index)                                 \
  const Word value = memory[(at->operand + index) & mask];              \
  cycle += ((at->operand & 0xFFu) + index) >> 8;                        \
  PASS();
#define READ_RAX() READ_TABLE(ram, 0x7FF, x)
#define READ_RAY() READ_TABLE(ram, 0x7FF, y)
#define READ_ROX() READ_TABLE(program, 0x7FFF, x)
#define READ_ROY() READ_TABLE(program, 0x7FFF, y)
#define READ_FAR(address)                               \
  Word value;                                           \
  if (address >= 0x8000) {                              \
    value = program[address & 0x7FFF];                  \
  } else if (address < 0x2000) {                        \
    value = ram[address & 0x7FF];                       \
  } else {                                              \
    goto label_literal;                                 \
  }
#define POINTER(at_zero) (ram[(at_zero) & 0xFFu] | Word{ram[((at_zero) + 1) & 0xFFu]} << 8)
#define READ_INX()                                 \
  const Word address = POINTER(at->operand + x);   \
  READ_FAR(address)                                \
  PASS();
#define READ_INY()                                  \
  const Word base = POINTER(at->operand);           \
  const Word address = (base + y) & 0xFFFF;         \
  READ_FAR(address)                                 \
  cycle += ((base & 0xFF) + y) >> 8;                \
  PASS();

#define OPERATION(name, READ, statement) \
  CASE(name) : {                         \
    READ() statement;                    \
  }                                      \
  NEXT();
#define ALL_READS(op, statement)              \
  OPERATION(op##Imm, READ_IMM, statement)     \
  OPERATION(op##Ram, READ_RAM, statement)     \
  OPERATION(op##Zpx, READ_ZPX, statement)     \
  OPERATION(op##Rax, READ_RAX, statement)     \
  OPERATION(op##Ray, READ_RAY, statement)     \
  OPERATION(op##Rox, READ_ROX, statement)     \
  OPERATION(op##Roy, READ_ROY, statement)     \
  OPERATION(op##Inx, READ_INX, statement)     \
  OPERATION(op##Iny, READ_INY, statement)

#define ADD(operand)                              \
  {                                               \
    const Word sum = a + (operand) + carry;       \
    overflow = ((a ^ sum) & ((operand) ^ sum)) >> 7 & 1; \
    carry = sum >> 8;                             \
    nz = a = sum & 0xFF;                          \
  }
#define COMPARE(reg)                      \
  {                                       \
    carry = reg >= value;                 \
    nz = (reg - value) & 0xFF;            \
  }
#define TEST_BITS()                                  \
  {                                                  \
    nz = (a & value) | (value & 0x80) << 8;          \
    overflow = value >> 6 & 1;                       \
  }

#define STORE(name, index, what)          \
  CASE(name) : {                          \
    ram[index] = static_cast<std::uint8_t>(what); \
    PASS();                               \
  }                                       \
  NEXT();

#define MODIFY(name, index, statement)                \
  CASE(name) : {                                      \
    std::uint8_t& cell = ram[index];                  \
    const Word old = cell;                            \
    Word result;                                      \
    statement;                                        \
    nz = result &= 0xFF;                              \
    cell = static_cast<std::uint8_t>(result);         \
    PASS();                                           \
  }                                                   \
  NEXT();
#define ALL_MODIFIES(op, statement)                               \
  MODIFY(op##Ram, at->operand, statement)                         \
  MODIFY(op##Zpx, (at->operand + x) & 0xFF, statement)            \
  MODIFY(op##Rax, (at->operand + x) & 0x7FF, statement)

#define SHIFT_LEFT(in) { result = old << 1 | (in); carry = old >> 7; }
#define SHIFT_RIGHT(in) { result = old >> 1 | (in) << 7; carry = old & 1; }
#define ON_A(name, statement)   \
  CASE(name) : {                \
    const Word old = a;         \
    Word result;                \
    statement;                  \
    nz = a = result & 0xFF;     \
    PASS();                     \
  }                             \
  NEXT();

#define BRANCH(name, condition)             \
  CASE(name) : {                            \
    if (condition) {                        \
      cycle += at->cycles + at->extra;      \
      at = code + at->operand;              \
    } else {                                \
      PASS();                               \
    }                                       \
  }                                         \
  NEXT();

#define SIMPLE(name, statement) \
  CASE(name) : {                \
    statement;                  \
    PASS();                     \
  }                             \
  NEXT();

// The byte on the bus before a device answers is the high byte of its address.
#define DEVICE_READ(name, statement)                                             \
  CASE(name) : {                                                                 \
    state.open_bus = static_cast<std::uint8_t>(at->operand >> 8);                \
    const Word value = bus_read(at->operand, cycle + 3);                         \
    statement;                                                                   \
    PASS();                                                                      \
  }                                                                              \
  NEXT();
#define DEVICE_WRITE(name, what)                                                 \
  CASE(name) : {                                                                 \
    bus_write(at->operand, static_cast<std::uint8_t>(what), cycle + 3);          \
    PASS();                                                                      \
  }                                                                              \
  NEXT();

#define COUNT_DOWN(name, reg)                                                              \
  CASE(name) : {                                                                           \
    const Word turns = reg == 0 ? 256 : reg;                                               \
    const std::uint64_t total = std::uint64_t{turns} * at->loop_cycles - at->extra;        \
    if (cycle + total < limit) {                                                           \
      nz = reg = 0;                                                                        \
      cycle += total;                                                                      \
      at += 3;                                                                             \
    } else {                                                                               \
      nz = reg = (reg - 1) & 0xFF;                                                         \
      PASS();                                                                              \
    }                                                                                      \
  }                                                                                        \
  NEXT();

bool Machine::run_program(const std::uint64_t limit) {
#if defined(__GNUC__)
  static const void* const kLabels[] = {WARPZONE_OPERATIONS(WARPZONE_LABEL)};
#endif
  const Instruction* const code = cartridge->decoded().data();
  const std::uint8_t* const program = cartridge->program();
  std::uint8_t* const ram = state.ram;
  CpuRegisters& cpu = state.cpu;

  std::uint64_t cycle = state.cycle;
  const Instruction* at = code + (cpu.pc & 0x7FFF);
  Word a = cpu.a, x = cpu.x, y = cpu.y, sp = cpu.sp;
  Word nz = pack_nz(cpu.p);
  Word carry = cpu.p & flag::kCarry;
  Word overflow = (cpu.p & flag::kOverflow) != 0;
  Word other = cpu.p & (flag::kInterrupt | flag::kDecimal | flag::kUnused);
  Word jump_to = 0;
  bool finished = true;
  LastTurn last;

  const auto status = [&] {
    return static_cast<std::uint8_t>(other | carry | ((nz & 0xFF) == 0 ? flag::kZero : 0) |
                                     ((nz & kNegativeBits) != 0 ? flag::kNegative : 0) |
                                     (overflow != 0 ? flag::kOverflow : 0));
  };

#if defined(__GNUC__)
  NEXT();
#else
dispatch:
  if (cycle >= limit) goto finish;
  switch (at->operation) {
#endif

  ALL_READS(Lda, nz = a = value)
  ALL_READS(Ora, nz = a |= value)
  ALL_READS(And, nz = a &= value)
  ALL_READS(Eor, nz = a ^= value)
  ALL_READS(Adc, ADD(value))
  ALL_READS(Sbc, ADD((value ^ 0xFF)))
  ALL_READS(Cmp, COMPARE(a))
  OPERATION(LdxImm, READ_IMM, nz = x = value)
  OPERATION(LdxRam, READ_RAM, nz = x = value)
  OPERATION(LdxZpy, READ_ZPY, nz = x = value)
  OPERATION(LdxRay, READ_RAY, nz = x = value)
  OPERATION(LdxRoy, READ_ROY, nz = x = value)
  OPERATION(LdyImm, READ_IMM, nz = y = value)
  OPERATION(LdyRam, READ_RAM, nz = y = value)
  OPERATION(LdyZpx, READ_ZPX, nz = y = value)
  OPERATION(LdyRax, READ_RAX, nz = y = value)
  OPERATION(LdyRox, READ_ROX, nz = y = value)
  OPERATION(CpxImm, READ_IMM, COMPARE(x))
  OPERATION(CpxRam, READ_RAM, COMPARE(x))
  OPERATION(CpyImm, READ_IMM, COMPARE(y))
  OPERATION(CpyRam, READ_RAM, COMPARE(y))
  OPERATION(BitImm, READ_IMM, TEST_BITS())
  OPERATION(BitRam, READ_RAM, TEST_BITS())

  STORE(StaRam, at->operand, a)
  STORE(StaZpx, (at->operand + x) & 0xFF, a)
  STORE(StaRax, (at->operand + x) & 0x7FF, a)
  STORE(StaRay, (at->operand + y) & 0x7FF, a)
  STORE(StxRam, at->operand, x)
  STORE(StxZpy, (at->operand + y) & 0xFF, x)
  STORE(StyRam, at->operand, y)
  STORE(StyZpx, (at->operand + x) & 0xFF, y)
  CASE(StaInx) : {
    const Word address = POINTER(at->operand + x);
    if (address >= 0x2000) goto label_literal;
    ram[address & 0x7FF] = static_cast<std::uint8_t>(a);
    PASS();
  }
  NEXT();
  CASE(StaIny) : {
    const Word address = (POINTER(at->operand) + y) & 0xFFFF;
    if (address >= 0x2000) goto label_literal;
    ram[address & 0x7FF] = static_cast<std::uint8_t>(a);
    PASS();
  }
  NEXT();

  ALL_MODIFIES(Asl, SHIFT_LEFT(0u))
  ALL_MODIFIES(Lsr, SHIFT_RIGHT(0u))
  ALL_MODIFIES(Rol, SHIFT_LEFT(carry))
  ALL_MODIFIES(Ror, SHIFT_RIGHT(carry))
  ALL_MODIFIES(Inc, result = old + 1)
  ALL_MODIFIES(Dec, result = old - 1)
  ON_A(AslA, SHIFT_LEFT(0u))
  ON_A(LsrA, SHIFT_RIGHT(0u))
  ON_A(RolA, SHIFT_LEFT(carry))
  ON_A(RorA, SHIFT_RIGHT(carry))

  BRANCH(Bpl, (nz & kNegativeBits) == 0)
  BRANCH(Bmi, (nz & kNegativeBits) != 0)
  BRANCH(Bvc, overflow == 0)
  BRANCH(Bvs, overflow != 0)
  BRANCH(Bcc, carry == 0)
  BRANCH(Bcs, carry != 0)
  BRANCH(Bne, (nz & 0xFF) != 0)
  BRANCH(Beq, (nz & 0xFF) == 0)

  CASE(Jmp) : {
    cycle += 3;
    at = code + at->operand;
  }
  NEXT();
  CASE(JmpSelf) : {
    cycle += (limit - cycle + 2) / 3 * 3;  // Turns until the limit is reached, all alike.
  }
  NEXT();
  CASE(JmpIndirect) : {
    const Word pointer = at->operand;
    jump_to = ram[pointer & 0x7FF] |
              Word{ram[((pointer & 0xFF00) | ((pointer + 1) & 0xFF)) & 0x7FF]} << 8;
    cycle += 5;
    goto jump;
  }
  CASE(Jsr) : {
    const Word back = static_cast<Word>(at - code) + 0x8000 + 2;
    ram[0x100 | sp] = static_cast<std::uint8_t>(back >> 8);
    sp = (sp - 1) & 0xFF;
    ram[0x100 | sp] = static_cast<std::uint8_t>(back);
    sp = (sp - 1) & 0xFF;
    cycle += 6;
    at = code + at->operand;
  }
  NEXT();
  CASE(Rts) : {
    sp = (sp + 1) & 0xFF;
    jump_to = ram[0x100 | sp];
    sp = (sp + 1) & 0xFF;
    jump_to = ((jump_to | Word{ram[0x100 | sp]} << 8) + 1) & 0xFFFF;
    cycle += 6;
    goto jump;
  }

  CASE(Pha) : {
    ram[0x100 | sp] = static_cast<std::uint8_t>(a);
    sp = (sp - 1) & 0xFF;
    PASS();
  }
  NEXT();
  CASE(Php) : {
    ram[0x100 | sp] = status() | flag::kBreak | flag::kUnused;
    sp = (sp - 1) & 0xFF;
    PASS();
  }
  NEXT();
  CASE(Pla) : {
    sp = (sp + 1) & 0xFF;
    nz = a = ram[0x100 | sp];
    PASS();
  }
  NEXT();

  SIMPLE(Tax, nz = x = a)
  SIMPLE(Tay, nz = y = a)
  SIMPLE(Txa, nz = a = x)
  SIMPLE(Tya, nz = a = y)
  SIMPLE(Tsx, nz = x = sp)
  SIMPLE(Txs, sp = x)
  SIMPLE(Inx, nz = x = (x + 1) & 0xFF)
  SIMPLE(Iny, nz = y = (y + 1) & 0xFF)
  SIMPLE(Dex, nz = x = (x - 1) & 0xFF)
  SIMPLE(Dey, nz = y = (y - 1) & 0xFF)
  SIMPLE(Clc, carry = 0)
  SIMPLE(Sec, carry = 1)
  SIMPLE(Clv, overflow = 0)
  SIMPLE(Cld, other &= ~Word{flag::kDecimal})
  SIMPLE(Sed, other |= flag::kDecimal)
  SIMPLE(Sei, other |= flag::kInterrupt)
  SIMPLE(Nop, (void)0)

  DEVICE_READ(LdaDevice, nz = a = value)
  DEVICE_READ(LdxDevice, nz = x = value)
  DEVICE_READ(LdyDevice, nz = y = value)
  DEVICE_READ(BitDevice, TEST_BITS())
  DEVICE_WRITE(StaDevice, a)
  DEVICE_WRITE(StxDevice, x)
  DEVICE_WRITE(StyDevice, y)

  COUNT_DOWN(CountX, x)
  COUNT_DOWN(CountY, y)

  CASE(WaitLoop) : {
    const bool tests[8] = {(nz & kNegativeBits) == 0, (nz & kNegativeBits) != 0,
                           overflow == 0,             overflow != 0,
                           carry == 0,                carry != 0,
                           (nz & 0xFF) != 0,          (nz & 0xFF) == 0};
    if (!tests[at->condition & 7]) {
      PASS();
      NEXT();
    }
    cycle += at->cycles + at->extra;
    const bool same = last.branch == at && cycle - last.cycle == at->loop_cycles && last.a == a &&
                      last.x == x && last.y == y && last.nz == nz && last.carry == carry &&
                      last.overflow == overflow;
    if (same && cycle < limit) {
      // Two turns that left the same registers: so will every other one until what they look at
      // changes. RAM cannot change before the limit. The picture unit's flags may have changed
      // since this turn looked at them, so they are asked from its beginning on.
      std::uint64_t until = limit;
      if (at->polls_status != 0) {
        const std::uint64_t turn_began = (cycle - at->loop_cycles) * kDotsPerCycle;
        until = std::min(until, ppu_.flags_stable_until(turn_began) / kDotsPerCycle);
      }
      const std::uint64_t turns = until > cycle ? (until - cycle) / at->loop_cycles : 0;
      if (turns > 1) cycle += (turns - 1) * at->loop_cycles;
    }
    last = {at, cycle, a, x, y, nz, carry, overflow};
    at = code + at->operand;
  }
  NEXT();

  CASE(Literal) : {
  label_literal:
    finished = false;
    goto finish;
  }

#if !defined(__GNUC__)
    default:
      finished = false;
      goto finish;
  }
#endif

jump:
  if (jump_to >= 0x8000) {
    at = code + (jump_to & 0x7FFF);
    NEXT();
  }
  cpu.pc = static_cast<std::uint16_t>(jump_to);
  goto store;

finish:
  cpu.pc = static_cast<std::uint16_t>(0x8000 + (at - code));
store:
  cpu.a = static_cast<std::uint8_t>(a);
  cpu.x = static_cast<std::uint8_t>(x);
  cpu.y = static_cast<std::uint8_t>(y);
  cpu.sp = static_cast<std::uint8_t>(sp);
  cpu.p = status();
  state.cycle = cycle;
  return finished;
}

}  // namespace warpzone::nes
