/// Every operation the fast interpreter knows, as lists that generate the enumeration, the
/// handlers and the table of pairs.
#pragma once

#include <cstdint>

namespace warpzone::nes {

// An entry X(what, where) is an operation and the place of its operand:
//   Implied  none, or a register        Branch   a target in program memory
//   Imm      a known value              Ram      a fixed RAM address
//   Zpx Zpy  zero page plus index       Inx Iny  through a zero-page pointer
//   Rax Ray  a RAM table plus index, read; Wax Way the same, written (a write never saves the
//            cycle that a read saves when index and base stay in one page); Wix Wiy: Inx and Iny,
//            written
//   Rox Roy  a program table plus index
//   Fax Fay  a table that is neither, or runs from one into the other ("far")
// clang-format off
#define WARPZONE_READS(X, what)                                                           \
  X(what, Imm)                                                                            \
  X(what, Ram) X(what, Zpx) X(what, Rax) X(what, Ray) X(what, Rox) X(what, Roy) X(what, Inx) \
      X(what, Iny)
#define WARPZONE_MODIFIES(X, what) X(what, Ram) X(what, Zpx) X(what, Wax)

#define WARPZONE_REGULAR(X)                                                                   \
  WARPZONE_READS(X, Lda)                                                                      \
  WARPZONE_READS(X, Ora)                                                                      \
  WARPZONE_READS(X, And)                                                                      \
  WARPZONE_READS(X, Eor)                                                                      \
  WARPZONE_READS(X, Adc)                                                                      \
  WARPZONE_READS(X, Sbc)                                                                      \
  WARPZONE_READS(X, Cmp)                                                                      \
  X(Ldx, Imm) X(Ldx, Ram) X(Ldx, Zpy) X(Ldx, Ray) X(Ldx, Roy)                                 \
  X(Ldy, Imm) X(Ldy, Ram) X(Ldy, Zpx) X(Ldy, Rax) X(Ldy, Rox)                                 \
  X(Cpx, Imm) X(Cpx, Ram) X(Cpy, Imm) X(Cpy, Ram) X(Bit, Imm) X(Bit, Ram)                     \
  X(Sta, Ram) X(Sta, Zpx) X(Sta, Wax) X(Sta, Way) X(Sta, Wix) X(Sta, Wiy)                     \
  X(Stx, Ram) X(Stx, Zpy) X(Sty, Ram) X(Sty, Zpx)                                             \
  WARPZONE_MODIFIES(X, Asl)                                                                   \
  WARPZONE_MODIFIES(X, Lsr)                                                                   \
  WARPZONE_MODIFIES(X, Rol)                                                                   \
  WARPZONE_MODIFIES(X, Ror)                                                                   \
  WARPZONE_MODIFIES(X, Inc)                                                                   \
  WARPZONE_MODIFIES(X, Dec)                                                                   \
  X(AslA, Implied) X(LsrA, Implied) X(RolA, Implied) X(RorA, Implied)                         \
  X(Pha, Implied) X(Pla, Implied) X(Php, Implied)                                             \
  X(Tax, Implied) X(Tay, Implied) X(Txa, Implied) X(Tya, Implied) X(Tsx, Implied)             \
  X(Txs, Implied) X(Inx, Implied) X(Iny, Implied) X(Dex, Implied) X(Dey, Implied)             \
  X(Clc, Implied) X(Sec, Implied) X(Clv, Implied) X(Cld, Implied) X(Sed, Implied)             \
  X(Sei, Implied) X(Nop, Implied)                                                             \
  X(Bpl, Branch) X(Bmi, Branch) X(Bvc, Branch) X(Bvs, Branch)                                 \
  X(Bcc, Branch) X(Bcs, Branch) X(Bne, Branch) X(Beq, Branch)

/// Neighbours that are executed as one, chosen by how often games run them: each entry saves a
/// dispatch. Any two regular operations may be listed.
#define WARPZONE_PAIRS(X)                                                                     \
  X(Lda, Ram, Bne, Branch) X(Lda, Ram, Beq, Branch) X(Lda, Ram, Bpl, Branch)                  \
  X(Lda, Ram, Bmi, Branch) X(Lda, Rax, Beq, Branch) X(Lda, Rax, Bne, Branch)                  \
  X(Lda, Zpx, Beq, Branch) X(Lda, Zpx, Bne, Branch) X(Ldy, Ram, Bne, Branch)                  \
  X(Cmp, Imm, Bne, Branch) X(Cmp, Imm, Beq, Branch) X(Cmp, Imm, Bcc, Branch)                  \
  X(Cmp, Imm, Bcs, Branch) X(Cmp, Imm, Bmi, Branch) X(Cmp, Imm, Bpl, Branch)                  \
  X(Cmp, Ram, Bcc, Branch) X(Cmp, Ram, Bne, Branch) X(Cpy, Imm, Bcc, Branch)                  \
  X(Cpy, Imm, Bne, Branch) X(Cpy, Imm, Beq, Branch) X(Cpx, Imm, Bne, Branch)                  \
  X(Cpx, Imm, Beq, Branch) X(And, Imm, Bne, Branch) X(And, Imm, Beq, Branch)                  \
  X(Dex, Implied, Bpl, Branch) X(Dex, Implied, Bne, Branch)                                   \
  X(Dey, Implied, Bpl, Branch) X(Dey, Implied, Bne, Branch)                                   \
  X(Clc, Implied, Adc, Imm) X(Clc, Implied, Adc, Ram) X(Clc, Implied, Adc, Zpx)               \
  X(Clc, Implied, Adc, Roy) X(Clc, Implied, Adc, Ray)                                         \
  X(Sec, Implied, Sbc, Imm) X(Sec, Implied, Sbc, Ram) X(Sec, Implied, Sbc, Zpx)               \
  X(Lda, Ram, And, Imm) X(Lda, Ram, Cmp, Imm) X(Lda, Ram, Sta, Ram) X(Lda, Imm, Sta, Ram)     \
  X(Lda, Iny, Sta, Ram) X(Lda, Roy, Sta, Ram) X(Lda, Rax, Cmp, Ram) X(Lda, Ram, Sta, Way)     \
  X(And, Imm, Cmp, Imm) X(And, Imm, Sta, Ram) X(Sta, Ram, Lda, Ram) X(Ldx, Ram, Cmp, Imm)     \
  X(LsrA, Implied, Ora, Ram) X(Pla, Implied, RolA, Implied) X(Dex, Implied, Dey, Implied)

/// One-byte operations that come in chains: the operand counts how many.
#define WARPZONE_CHAINS(X) X(Inx) X(Iny) X(Dex) X(Dey) X(AslA) X(LsrA)

/// Operations with a handler of their own. `Literal` sends the instruction to the literal
/// processor. `Device` ones reach a register that answers at once; `Switch` ones may change what
/// the processor must wait for. `Wait`, `Count` and `Fill` stand for whole loops.
#define WARPZONE_SPECIAL(X)                                                                   \
  X(Literal)                                                                                  \
  X(Jmp) X(JmpSelf) X(JmpIndirect) X(Jsr) X(Rts) X(Rti) X(Plp) X(Cli)                         \
  X(LdaFax) X(LdaFay) X(StaFax) X(StaFay)                                                     \
  X(LdaDevice) X(LdxDevice) X(LdyDevice) X(BitDevice) X(StaDevice) X(StxDevice) X(StyDevice)  \
  X(StaSwitch) X(StxSwitch) X(StySwitch)                                                      \
  X(WaitLoop) X(CountX) X(CountY) X(FillX) X(FillY)

enum class Operation : std::uint8_t {
#define WARPZONE_NAME(what) k##what,
#define WARPZONE_NAME_2(what, where) k##what##where,
#define WARPZONE_NAME_4(first, there, second, where) k##first##there##second##where,
#define WARPZONE_NAME_CHAIN(what) k##what##Chain,
  WARPZONE_SPECIAL(WARPZONE_NAME)
  WARPZONE_REGULAR(WARPZONE_NAME_2)
  WARPZONE_CHAINS(WARPZONE_NAME_CHAIN)
  WARPZONE_PAIRS(WARPZONE_NAME_4)
#undef WARPZONE_NAME
#undef WARPZONE_NAME_2
#undef WARPZONE_NAME_4
#undef WARPZONE_NAME_CHAIN
  kCount
};
// clang-format on

}  // namespace warpzone::nes
