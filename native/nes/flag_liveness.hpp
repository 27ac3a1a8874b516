/// Which flags are looked at before they are set again, for code that need not compute the others.
#pragma once

#include <cstdint>
#include <vector>

#include "nes/program.hpp"

namespace warpzone::nes {

/// Sets of flags. N and Z are always set together.
namespace flags {
inline constexpr std::uint8_t kNz = 1, kCarry = 2, kOverflow = 4, kAll = 7;
}  // namespace flags

/// The flags that matter in front of each instruction. At the end of a run all do, and in front of
/// every instruction at which compiled code may stop.
std::vector<std::uint8_t> live_flags(const DecodedProgram& code);

/// Whether compiled code may stop in front of this instruction in the middle of a run.
bool may_stop(const Instruction& instruction);

}  // namespace warpzone::nes
