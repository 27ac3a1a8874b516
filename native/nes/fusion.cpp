/// Recognises, by what they do, instructions that can be executed as one: pairs, chains of the same
/// one-byte operation, and loops that wait, count or fill memory.
#include "nes/program.hpp"

namespace warpzone::nes {
namespace {

constexpr int kLongestWaitLoop = 16;  ///< Bytes.
constexpr int kLongestChain = 8;

bool is_branch(Operation operation) {
  return operation >= Operation::kBplBranch && operation <= Operation::kBeqBranch;
}

/// Whether an instruction only looks: it changes registers, nothing else, and reads nothing that
/// changes by being read again.
bool only_looks(const Instruction& i) {
  switch (i.plain) {
      // clang-format off
    case Operation::kLdaImm: case Operation::kLdaRam: case Operation::kLdxImm:
    case Operation::kLdxRam: case Operation::kLdyImm: case Operation::kLdyRam:
    case Operation::kAndImm: case Operation::kAndRam: case Operation::kOraImm:
    case Operation::kOraRam: case Operation::kEorImm: case Operation::kEorRam:
    case Operation::kCmpImm: case Operation::kCmpRam: case Operation::kCpxImm:
    case Operation::kCpxRam: case Operation::kCpyImm: case Operation::kCpyRam:
    case Operation::kBitImm: case Operation::kBitRam: case Operation::kNopImplied:
    case Operation::kTaxImplied: case Operation::kTayImplied: case Operation::kTxaImplied:
    case Operation::kTyaImplied: case Operation::kClcImplied: case Operation::kSecImplied:
    case Operation::kAslAImplied: case Operation::kLsrAImplied:
      // clang-format on
      return true;
    default:
      return polls_status(i);
  }
}

/// A backward branch over instructions that only look closes a loop that waits.
Operation wait_loop(const DecodedProgram& code, int at) {
  const Instruction& branch = code[at];
  if (!is_branch(branch.plain)) return Operation::kLiteral;
  int cursor = branch.operand;
  if (cursor > at || at - cursor > kLongestWaitLoop) return Operation::kLiteral;
  for (; cursor < at; cursor += code[cursor].length) {
    if (!only_looks(code[cursor])) return Operation::kLiteral;
  }
  return cursor == at ? Operation::kWaitLoop : Operation::kLiteral;
}

/// DEX or DEY with a BNE straight back to it only burns time.
Operation count_loop(const DecodedProgram& code, int at) {
  const Instruction& branch = code[at + 1];
  if (branch.plain != Operation::kBneBranch || branch.operand != at) return Operation::kLiteral;
  switch (code[at].plain) {
    case Operation::kDexImplied:
      return Operation::kCountX;
    case Operation::kDeyImplied:
      return Operation::kCountY;
    default:
      return Operation::kLiteral;
  }
}

/// How many times the one-byte operation at `at` stands there in a row. The entry after the last
/// one of the program is not such an operation, so the count stays inside.
int chain_length(const DecodedProgram& code, int at) {
  int length = 1;
  while (length < kLongestChain && code[at + length].plain == code[at].plain) ++length;
  return length;
}

/// A store to a RAM table, INX or INY (any number), and a BNE back to the store.
Operation fill_loop(const DecodedProgram& code, int at) {
  const bool by_x = code[at].plain == Operation::kStaWax;
  if (!by_x && code[at].plain != Operation::kStaWay) return Operation::kLiteral;
  const int step = at + code[at].length;
  if (code[step].plain != (by_x ? Operation::kInxImplied : Operation::kInyImplied)) {
    return Operation::kLiteral;
  }
  const Instruction& branch = code[step + chain_length(code, step)];
  if (branch.plain != Operation::kBneBranch || branch.operand != at) return Operation::kLiteral;
  return by_x ? Operation::kFillX : Operation::kFillY;
}

Operation chain(Operation plain) {
  switch (plain) {
#define WARPZONE_CHAIN(what)        \
  case Operation::k##what##Implied: \
    return Operation::k##what##Chain;
    WARPZONE_CHAINS(WARPZONE_CHAIN)
#undef WARPZONE_CHAIN
    default:
      return Operation::kLiteral;
  }
}

Operation pair(Operation first, Operation second) {
#define WARPZONE_PAIR(first_what, first_where, second_what, second_where)    \
  if (first == Operation::k##first_what##first_where &&                      \
      second == Operation::k##second_what##second_where) {                   \
    return Operation::k##first_what##first_where##second_what##second_where; \
  }
  WARPZONE_PAIRS(WARPZONE_PAIR)
#undef WARPZONE_PAIR
  return Operation::kLiteral;
}

}  // namespace

bool polls_status(const Instruction& i) {
  const bool device = i.plain == Operation::kLdaDevice || i.plain == Operation::kLdxDevice ||
                      i.plain == Operation::kLdyDevice || i.plain == Operation::kBitDevice;
  return device && (i.operand & 0xE007) == 0x2002;
}

void fuse_instructions(DecodedProgram& code) {
  const int size = static_cast<int>(code.size()) - 1;
  const auto take = [&](int at, Operation fused) {
    if (fused != Operation::kLiteral) code[at].operation = fused;
    return fused != Operation::kLiteral;
  };
  for (int at = 0; at < size; ++at) {
    if (code[at].plain == Operation::kLiteral) continue;
    take(at, wait_loop(code, at)) || take(at, count_loop(code, at)) ||
        take(at, fill_loop(code, at));
  }
  // Upwards, so that the follower shows whether it belongs to a loop, and is not fused otherwise.
  for (int at = 0; at < size; ++at) {
    Instruction& i = code[at];
    if (chain(i.plain) != Operation::kLiteral) {
      i.operand = static_cast<std::uint16_t>(chain_length(code, at));
    }
    if (i.operation != i.plain || i.plain == Operation::kLiteral || is_branch(i.plain)) continue;
    if (i.operand > 1 && take(at, chain(i.plain))) continue;
    take(at, pair(i.plain, code[at + i.length].operation));
  }
}

}  // namespace warpzone::nes
