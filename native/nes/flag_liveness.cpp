#include "nes/flag_liveness.hpp"

#include "nes/instruction_parts.hpp"

namespace warpzone::nes {
namespace {

std::uint8_t used_flags(What what) {
  switch (what) {
    case What::kAdc:
    case What::kSbc:
    case What::kRol:
    case What::kRor:
    case What::kRolA:
    case What::kRorA:
      return flags::kCarry;
    default:
      return 0;
  }
}

std::uint8_t set_flags(What what) {
  switch (what) {
    case What::kAdc:
    case What::kSbc:
      return flags::kAll;
    case What::kCmp:
    case What::kCpx:
    case What::kCpy:
    case What::kAsl:
    case What::kLsr:
    case What::kRol:
    case What::kRor:
    case What::kAslA:
    case What::kLsrA:
    case What::kRolA:
    case What::kRorA:
      return flags::kNz | flags::kCarry;
    case What::kBit:
      return flags::kNz | flags::kOverflow;
    case What::kClc:
    case What::kSec:
      return flags::kCarry;
    case What::kClv:
      return flags::kOverflow;
    case What::kSta:
    case What::kStx:
    case What::kSty:
    case What::kPha:
    case What::kTxs:
    case What::kNop:
      return 0;
    default:
      return flags::kNz;
  }
}

/// Runs end here, or another processor takes over.
bool needs_all(const Instruction& instruction) {
  const Parts parts = parts_of(instruction.plain);
  switch (parts.what) {
    case What::kNone:
    case What::kPhp:
    case What::kCld:
    case What::kSed:
    case What::kSei:
      return true;
    default:
      return parts.where == Where::kBranch || may_stop(instruction);
  }
}

}  // namespace

bool may_stop(const Instruction& instruction) {
  switch (instruction.operation) {
    case Operation::kCountX:
    case Operation::kCountY:
    case Operation::kFillX:
    case Operation::kFillY:
      return true;
    default:
      break;
  }
  switch (parts_of(instruction.plain).where) {
    case Where::kInx:
    case Where::kIny:
    case Where::kWix:
    case Where::kWiy:
    case Where::kFax:
    case Where::kFay:
      return true;
    default:
      return false;
  }
}

std::vector<std::uint8_t> live_flags(const DecodedProgram& code) {
  std::vector<std::uint8_t> live(code.size(), flags::kAll);
  for (std::size_t at = code.size() - 1; at-- > 0;) {
    const Instruction& instruction = code[at];
    if (needs_all(instruction)) continue;
    const What what = parts_of(instruction.plain).what;
    live[at] = static_cast<std::uint8_t>(used_flags(what) |
                                         (live[at + instruction.length] & ~set_flags(what)));
  }
  return live;
}

}  // namespace warpzone::nes
