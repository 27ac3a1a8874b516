/// From decoded 6502 instructions to machine code for 64-bit x86 (see compiled_program.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "nes/program.hpp"

namespace warpzone::nes::x64 {

struct Translation {
  std::vector<std::uint8_t> code;   ///< Begins with the entry, CompiledExit(CompiledContext*).
  std::vector<std::size_t> bodies;  ///< Where the code of each instruction begins.
};

Translation translate(const DecodedProgram& program);

}  // namespace warpzone::nes::x64
