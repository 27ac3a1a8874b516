/// What the 256 opcodes are, as far as the fast interpreter handles them.
#pragma once

#include <optional>

#include "nes/operations.hpp"

namespace warpzone::nes {

/// Operations of one mnemonic by where its operand lies; kLiteral where there is none.
struct Family {
  Operation imm = Operation::kLiteral, ram = Operation::kLiteral, zero_x = Operation::kLiteral,
            zero_y = Operation::kLiteral, ram_x = Operation::kLiteral, ram_y = Operation::kLiteral,
            program_x = Operation::kLiteral, program_y = Operation::kLiteral,
            indirect_x = Operation::kLiteral, indirect_y = Operation::kLiteral,
            far_x = Operation::kLiteral, far_y = Operation::kLiteral, device = Operation::kLiteral,
            device_switch = Operation::kLiteral;
};

enum class Kind { kRead, kWrite, kModify };
enum class Mode {
  kImmediate,
  kZero,
  kZeroX,
  kZeroY,
  kAbsolute,
  kAbsoluteX,
  kAbsoluteY,
  kIndirectX,
  kIndirectY
};

struct Shape {
  Family family;
  Kind kind;
  Mode mode;
};

/// The regular opcodes aaabbbcc; nothing for the irregular and the unofficial ones.
std::optional<Shape> regular_shape(int opcode);

/// One-byte instructions of two cycles; kLiteral for the rest.
Operation implied_operation(int opcode);

}  // namespace warpzone::nes
