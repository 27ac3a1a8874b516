/// The operations of the fast interpreter, as text that interpreter.cpp puts into its handlers. An
/// operation is OP_what applied in PLACE_where (see operations.hpp), so that every operation and
/// every place is written once and any two of them can stand behind one handler.
///
/// They work on the local variables of Machine::run_program: registers a, x, y, sp, carry,
/// overflow, nz (N and Z as the value they came from), `at` (the instruction) and `cycle` (when
/// the run in hand will end). All are Words, values below 256 except for nz.
#pragma once

#define PASS(bytes) at += (bytes)

// Places. Each gives `value`, and `cell` where it can be written; then the instruction is passed.
#define PLACE_Implied(operation) \
  operation;                     \
  PASS(1);
#define PLACE_Imm(operation)      \
  const Word value = at->operand; \
  operation;                      \
  PASS(at->length);
#define IN_RAM(index, operation, bytes)             \
  [[maybe_unused]] std::uint8_t& cell = ram[index]; \
  [[maybe_unused]] const Word value = cell;         \
  operation;                                        \
  PASS(bytes);
#define PLACE_Ram(operation) IN_RAM(at->operand, operation, at->length)
#define PLACE_Zpx(operation) IN_RAM((at->operand + x) & 0xFF, operation, 2)
#define PLACE_Zpy(operation) IN_RAM((at->operand + y) & 0xFF, operation, 2)
#define PLACE_Wax(operation) IN_RAM((at->operand + x) & 0x7FF, operation, 3)
#define PLACE_Way(operation) IN_RAM((at->operand + y) & 0x7FF, operation, 3)
#define IN_TABLE(memory, mask, index, operation)             \
  const Word value = memory[(at->operand + (index)) & mask]; \
  cycle += ((at->operand & 0xFFu) + (index)) >> 8;           \
  operation;                                                 \
  PASS(3);
#define PLACE_Rax(operation) IN_TABLE(ram, 0x7FF, x, operation)
#define PLACE_Ray(operation) IN_TABLE(ram, 0x7FF, y, operation)
#define PLACE_Rox(operation) IN_TABLE(program, 0x7FFF, x, operation)
#define PLACE_Roy(operation) IN_TABLE(program, 0x7FFF, y, operation)
#define POINTER(at_zero) (ram[(at_zero) & 0xFFu] | Word{ram[((at_zero) + 1) & 0xFFu]} << 8)
#define READ_ANYWHERE(address)           \
  Word value;                            \
  if ((address) >= 0x8000) {             \
    value = program[(address) & 0x7FFF]; \
  } else if ((address) < 0x2000) {       \
    value = ram[(address) & 0x7FF];      \
  } else {                               \
    goto literal;                        \
  }
#define PLACE_Inx(operation)                     \
  const Word address = POINTER(at->operand + x); \
  READ_ANYWHERE(address)                         \
  operation;                                     \
  PASS(2);
#define PLACE_Iny(operation)                \
  const Word base = POINTER(at->operand);   \
  const Word address = (base + y) & 0xFFFF; \
  READ_ANYWHERE(address)                    \
  cycle += ((base & 0xFF) + y) >> 8;        \
  operation;                                \
  PASS(2);
#define PLACE_Wix(operation)                     \
  const Word address = POINTER(at->operand + x); \
  if (address >= 0x2000) goto literal;           \
  IN_RAM(address & 0x7FF, operation, 2)
#define PLACE_Wiy(operation)                                \
  const Word address = (POINTER(at->operand) + y) & 0xFFFF; \
  if (address >= 0x2000) goto literal;                      \
  IN_RAM(address & 0x7FF, operation, 2)
#define PLACE_Branch(condition) \
  if (condition) {              \
    cycle += at->extra;         \
    at = code + at->operand;    \
  } else {                      \
    PASS(2);                    \
  }                             \
  ENTER();

// Operations.
#define OP_Lda nz = a = value
#define OP_Ldx nz = x = value
#define OP_Ldy nz = y = value
#define OP_Ora nz = a |= value
#define OP_And nz = a &= value
#define OP_Eor nz = a ^= value
#define ADD(term)                                   \
  {                                                 \
    const Word sum = a + (term) + carry;            \
    overflow = ((a ^ sum) & ((term) ^ sum)) & 0x80; \
    carry = sum >> 8;                               \
    nz = a = sum & 0xFF;                            \
  }
#define OP_Adc ADD(value)
#define OP_Sbc ADD((value ^ 0xFF))
#define COMPARE(what)             \
  {                               \
    carry = (what) >= value;      \
    nz = ((what) - value) & 0xFF; \
  }
#define OP_Cmp COMPARE(a)
#define OP_Cpx COMPARE(x)
#define OP_Cpy COMPARE(y)
#define OP_Bit                              \
  {                                         \
    nz = (a & value) | (value & 0x80) << 8; \
    overflow = value & 0x40;                \
  }
#define OP_Sta cell = static_cast<std::uint8_t>(a)
#define OP_Stx cell = static_cast<std::uint8_t>(x)
#define OP_Sty cell = static_cast<std::uint8_t>(y)

#define TO_CELL(result) cell = static_cast<std::uint8_t>(nz = (result) & 0xFF)
#define TO_A(result) nz = a = (result) & 0xFF
#define SHIFT(to, from, result, bit_out)    \
  {                                         \
    const Word old = from;                  \
    [[maybe_unused]] const Word in = carry; \
    carry = bit_out;                        \
    to(result);                             \
  }
#define OP_Asl SHIFT(TO_CELL, value, old << 1, old >> 7)
#define OP_Lsr SHIFT(TO_CELL, value, old >> 1, old & 1)
#define OP_Rol SHIFT(TO_CELL, value, old << 1 | in, old >> 7)
#define OP_Ror SHIFT(TO_CELL, value, old >> 1 | in << 7, old & 1)
#define OP_Inc TO_CELL(value + 1)
#define OP_Dec TO_CELL(value - 1)
#define OP_AslA SHIFT(TO_A, a, old << 1, old >> 7)
#define OP_LsrA SHIFT(TO_A, a, old >> 1, old & 1)
#define OP_RolA SHIFT(TO_A, a, old << 1 | in, old >> 7)
#define OP_RorA SHIFT(TO_A, a, old >> 1 | in << 7, old & 1)

#define PUSH(byte)                                     \
  {                                                    \
    ram[0x100 | sp] = static_cast<std::uint8_t>(byte); \
    sp = (sp - 1) & 0xFF;                              \
  }
#define STACKED(depth) \
  Word { ram[0x100 | ((sp + (depth)) & 0xFF)] }
#define OP_Pha PUSH(a)
#define OP_Php PUSH(status() | flag::kBreak | flag::kUnused)
#define OP_Pla            \
  {                       \
    nz = a = STACKED(1);  \
    sp = (sp + 1) & 0xFF; \
  }
#define OP_Tax nz = x = a
#define OP_Tay nz = y = a
#define OP_Txa nz = a = x
#define OP_Tya nz = a = y
#define OP_Tsx nz = x = sp
#define OP_Txs sp = x
#define OP_Inx nz = x = (x + 1) & 0xFF
#define OP_Iny nz = y = (y + 1) & 0xFF
#define OP_Dex nz = x = (x - 1) & 0xFF
#define OP_Dey nz = y = (y - 1) & 0xFF
#define OP_Clc carry = 0
#define OP_Sec carry = 1
#define OP_Clv overflow = 0
#define OP_Cld \
  other &= ~Word { flag::kDecimal }
#define OP_Sed other |= flag::kDecimal
#define OP_Sei other |= flag::kInterrupt
#define OP_Nop (void)0

// Chains of `times`.
#define CHAIN_Inx nz = x = (x + times) & 0xFF
#define CHAIN_Iny nz = y = (y + times) & 0xFF
#define CHAIN_Dex nz = x = (x - times) & 0xFF
#define CHAIN_Dey nz = y = (y - times) & 0xFF
#define CHAIN_AslA                   \
  {                                  \
    const Word shifted = a << times; \
    carry = shifted >> 8 & 1;        \
    nz = a = shifted & 0xFF;         \
  }
#define CHAIN_LsrA                        \
  {                                       \
    const Word shifted = a << 1 >> times; \
    carry = shifted & 1;                  \
    nz = a = shifted >> 1;                \
  }

// Branch conditions.
#define OP_Bpl (nz & kNegativeBits) == 0
#define OP_Bmi (nz & kNegativeBits) != 0
#define OP_Bvc overflow == 0
#define OP_Bvs overflow != 0
#define OP_Bcc carry == 0
#define OP_Bcs carry != 0
#define OP_Bne (nz & 0xFF) != 0
#define OP_Beq (nz & 0xFF) == 0

// Handlers, between CASE and NEXT or ENTER as interpreter.cpp defines them.
#define REGULAR(what, where) CASE(what##where) : {PLACE_##where(OP_##what)} NEXT();
#define PAIR(first, there, second, where) \
  CASE(first##there##second##where) : {   \
    {                                     \
      PLACE_##there(OP_##first)           \
    }                                     \
    {                                     \
      PLACE_##where(OP_##second)          \
    }                                     \
  }                                       \
  NEXT();
#define CHAIN(what)                 \
  CASE(what##Chain) : {             \
    const Word times = at->operand; \
    CHAIN_##what;                   \
    PASS(times);                    \
  }                                 \
  NEXT();

// The byte on the bus before a device answers is the high byte of its address.
#define DEVICE_READ(name, operation)                              \
  RARE_CASE(name) {                                               \
    state.open_bus = static_cast<std::uint8_t>(at->operand >> 8); \
    const Word value = bus_read(at->operand, began() + 3);        \
    operation;                                                    \
    PASS(3);                                                      \
  }                                                               \
  NEXT();
#define DEVICE_WRITE(name, what)                                          \
  RARE_CASE(name) {                                                       \
    bus_write(at->operand, static_cast<std::uint8_t>(what), began() + 3); \
    PASS(3);                                                              \
  }                                                                       \
  NEXT();
#define SWITCH_WRITE(name, what)                                   \
  RARE_CASE(name) {                                                \
    const auto byte = static_cast<std::uint8_t>(what);             \
    if (!can_switch(at->operand, byte, began() + 3)) goto literal; \
    bus_write(at->operand, byte, began() + 3);                     \
    PASS(3);                                                       \
  }                                                                \
  goto finish;

// Through tables that reach a device, or wrap at the end of memory.
#define FAR_READ(name, index)                                              \
  RARE_CASE(name) {                                                        \
    const Word address = (at->operand + (index)) & 0xFFFF;                 \
    const Word crossed = ((at->operand & 0xFFu) + (index)) >> 8;           \
    Word value;                                                            \
    if (!read_far(at->operand, address, began() + 3, value)) goto literal; \
    cycle += crossed;                                                      \
    OP_Lda;                                                                \
    PASS(3);                                                               \
  }                                                                        \
  NEXT();
#define FAR_WRITE(name, index)                                                                     \
  RARE_CASE(name) {                                                                                \
    const Word address = (at->operand + (index)) & 0xFFFF;                                         \
    if (!write_far(at->operand, address, static_cast<std::uint8_t>(a), began() + 4)) goto literal; \
    PASS(3);                                                                                       \
  }                                                                                                \
  NEXT();

// DEX, BNE: what is left of a loop that only counts down.
#define COUNT(name, index, operation)                                             \
  CASE(name) : {                                                                  \
    const Instruction& branch = at[1];                                            \
    const Word turns = index == 0 ? 256 : index;                                  \
    const std::uint64_t end =                                                     \
        began() + std::uint64_t{turns} * (at->run + branch.extra) - branch.extra; \
    if (end > limit) {                                                            \
      PLACE_Implied(operation) NEXT();                                            \
    }                                                                             \
    nz = index = 0;                                                               \
    cycle = end;                                                                  \
    PASS(3);                                                                      \
  }                                                                               \
  ENTER();

// STA table,X, INX..., BNE: all turns until the index comes to zero, if it does.
#define FILL(name, index, PLACE)                                                  \
  CASE(name) : {                                                                  \
    const Word step = at[3].operand, turns = (256 - index) / step;                \
    const Instruction& branch = at[3 + step];                                     \
    const std::uint64_t end =                                                     \
        began() + std::uint64_t{turns} * (at->run + branch.extra) - branch.extra; \
    if (end > limit || index + turns * step != 256) {                             \
      PLACE(OP_Sta) NEXT();                                                       \
    }                                                                             \
    for (; index < 256; index += step) {                                          \
      ram[(at->operand + index) & 0x7FF] = static_cast<std::uint8_t>(a);          \
    }                                                                             \
    nz = index = 0;                                                               \
    cycle = end;                                                                  \
    at += 3 + step + 2;                                                           \
  }                                                                               \
  ENTER();
