/// Program memory decoded once for the fast interpreter.
///
/// Program memory of a fixed cartridge never changes, so what can be known about an instruction
/// from its bytes alone is worked out when the cartridge is parsed: which of RAM, program memory
/// or a device its operand lies in, its cycles, where a branch goes and what it costs, and whether
/// a backward branch closes a loop that only waits.
#pragma once

#include <cstdint>
#include <vector>

namespace warpzone::nes {

/// Every operation the interpreter knows. `kLiteral` sends the instruction to the literal processor.
/// Suffixes: Imm a known value; Ram a fixed RAM address; Zpx/Zpy zero page plus index; Rax/Ray a RAM
/// table plus index; Rox/Roy a program table plus index; Inx/Iny through a zero-page pointer.
#define WARPZONE_READ_MODES(X, op) \
  X(op##Imm) X(op##Ram) X(op##Zpx) X(op##Rax) X(op##Ray) X(op##Rox) X(op##Roy) X(op##Inx) X(op##Iny)
#define WARPZONE_MODIFY_MODES(X, op) X(op##Ram) X(op##Zpx) X(op##Rax)
#define WARPZONE_OPERATIONS(X)                                                                 \
  X(Literal)                                                                                   \
  WARPZONE_READ_MODES(X, Lda) WARPZONE_READ_MODES(X, Ora) WARPZONE_READ_MODES(X, And)          \
  WARPZONE_READ_MODES(X, Eor) WARPZONE_READ_MODES(X, Adc) WARPZONE_READ_MODES(X, Sbc)          \
  WARPZONE_READ_MODES(X, Cmp)                                                                  \
  X(LdxImm) X(LdxRam) X(LdxZpy) X(LdxRay) X(LdxRoy)                                            \
  X(LdyImm) X(LdyRam) X(LdyZpx) X(LdyRax) X(LdyRox)                                            \
  X(CpxImm) X(CpxRam) X(CpyImm) X(CpyRam) X(BitImm) X(BitRam)                                  \
  X(StaRam) X(StaZpx) X(StaRax) X(StaRay) X(StaInx) X(StaIny)                                  \
  X(StxRam) X(StxZpy) X(StyRam) X(StyZpx)                                                      \
  WARPZONE_MODIFY_MODES(X, Asl) WARPZONE_MODIFY_MODES(X, Lsr) WARPZONE_MODIFY_MODES(X, Rol)    \
  WARPZONE_MODIFY_MODES(X, Ror) WARPZONE_MODIFY_MODES(X, Inc) WARPZONE_MODIFY_MODES(X, Dec)    \
  X(AslA) X(LsrA) X(RolA) X(RorA)                                                              \
  X(Bpl) X(Bmi) X(Bvc) X(Bvs) X(Bcc) X(Bcs) X(Bne) X(Beq)                                      \
  X(Jmp) X(JmpSelf) X(JmpIndirect) X(Jsr) X(Rts)                                               \
  X(Pha) X(Pla) X(Php)                                                                         \
  X(Tax) X(Tay) X(Txa) X(Tya) X(Tsx) X(Txs) X(Inx) X(Iny) X(Dex) X(Dey)                        \
  X(Clc) X(Sec) X(Clv) X(Cld) X(Sed) X(Sei) X(Nop)                                             \
  X(LdaDevice) X(LdxDevice) X(LdyDevice) X(BitDevice) X(StaDevice) X(StxDevice) X(StyDevice)   \
  X(WaitLoop) X(CountX) X(CountY)

enum class Operation : std::uint8_t {
#define WARPZONE_NAME(name) k##name,
  WARPZONE_OPERATIONS(WARPZONE_NAME)
#undef WARPZONE_NAME
      kCount
};

struct Instruction {
  std::uint16_t operand;  ///< Value, RAM index, table base or (index of the) jump target.
  Operation operation;
  std::uint8_t length;
  std::uint8_t cycles;  ///< Without page-crossing and branch-taken extras.
  std::uint8_t extra;   ///< Branches: cycles added when taken.
  std::uint8_t loop_cycles;  ///< Waiting and counting loops: cycles of one turn.
  std::uint8_t condition : 4;     ///< Wait loops: which branch closes them, counted from BPL.
  std::uint8_t polls_status : 4;  ///< Wait loops: a turn reads the picture unit's status.
};
static_assert(sizeof(Instruction) == 8);

/// Indexed by address & 0x7FFF.
using DecodedProgram = std::vector<Instruction>;

DecodedProgram decode_program(const std::uint8_t* program);

}  // namespace warpzone::nes
