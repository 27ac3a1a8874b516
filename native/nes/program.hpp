/// Program memory decoded once for the fast interpreter.
///
/// Program memory of a fixed cartridge never changes, so what can be known about an instruction
/// from its bytes alone is worked out when the cartridge is parsed: which of RAM, program memory
/// or a device its operand lies in, its cycles, where a branch goes and what it costs, which
/// neighbours can be executed as one, and whether a loop only waits.
#pragma once

#include <cstdint>
#include <vector>

#include "nes/operations.hpp"

namespace warpzone::nes {

/// A run is the straight line from an instruction to the next one that may go elsewhere, or needs
/// the literal processor. Cycles are added, and the time limit is checked, once a run.
struct Instruction {
  std::uint16_t operand;  ///< Value, RAM index, table base or (index of the) jump target.
  Operation operation;    ///< What is executed: this instruction, or it and its followers as one.
  Operation plain;        ///< This instruction alone.
  std::uint8_t run;       ///< Cycles to the end of the run, without page-crossing extras.
  std::uint8_t cycles;    ///< Without page-crossing and branch-taken extras; 0 if literal.
  std::uint8_t length;
  std::uint8_t extra;  ///< Branches: cycles added when taken.
};
static_assert(sizeof(Instruction) == 8);

/// A run takes at most this many cycles (`Instruction::run` holds it) and crosses at most a quarter
/// as many pages, since what can cross one takes four cycles or more.
inline constexpr int kLongestRun = 240;
inline constexpr int kMostExtras = kLongestRun / 4;

/// Indexed by address & 0x7FFF.
using DecodedProgram = std::vector<Instruction>;

DecodedProgram decode_program(const std::uint8_t* program);

/// The second half of decoding: recognises loops, chains and pairs and puts them in `operation`
/// (fusion.cpp).
void fuse_instructions(DecodedProgram& code);

/// Devices that may be read, or written, between two events: the access can neither raise an
/// interrupt nor move the next event.
bool can_read_device(int address);
bool can_write_device(int address);

/// The instruction reads the PPU's status register.
bool polls_status(const Instruction& instruction);

}  // namespace warpzone::nes
