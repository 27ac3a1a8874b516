#include "nes/program.hpp"

#include <optional>

namespace warpzone::nes {
namespace {

constexpr int kSize = 0x8000;
constexpr int kLongestWaitLoop = 16;  ///< Bytes.

bool is_ram(int address) { return address < 0x2000; }
bool is_program(int address) { return address >= 0x8000; }

/// Devices that may be read between two events: the access can neither raise an interrupt nor move
/// the next event.
bool can_read_device(int address) {
  return (address >= 0x2000 && address < 0x4000) || address == 0x4016 || address == 0x4017 ||
         (address >= 0x6000 && address < 0x8000);
}

bool can_write_device(int address) {
  const bool picture_unit = address >= 0x2000 && address < 0x4000 && (address & 7) >= 2;
  const bool sound_unit = address >= 0x4000 && address <= 0x4013;
  return picture_unit || sound_unit || address == 0x4016 ||
         (address >= 0x6000 && address < 0x8000);
}

/// Operations of one mnemonic by where its operand lies; kLiteral where there is none.
struct Family {
  Operation imm = Operation::kLiteral, ram = Operation::kLiteral, zero_x = Operation::kLiteral,
            zero_y = Operation::kLiteral, ram_x = Operation::kLiteral,
            ram_y = Operation::kLiteral, program_x = Operation::kLiteral,
            program_y = Operation::kLiteral, indirect_x = Operation::kLiteral,
            indirect_y = Operation::kLiteral, device = Operation::kLiteral;
};

#define WARPZONE_READER(op)                                                               \
  Family {                                                                                \
    .imm = Operation::k##op##Imm, .ram = Operation::k##op##Ram,                           \
    .zero_x = Operation::k##op##Zpx, .ram_x = Operation::k##op##Rax,                      \
    .ram_y = Operation::k##op##Ray, .program_x = Operation::k##op##Rox,                   \
    .program_y = Operation::k##op##Roy, .indirect_x = Operation::k##op##Inx,              \
    .indirect_y = Operation::k##op##Iny                                                   \
  }
#define WARPZONE_MODIFIER(op)                                                     \
  Family {                                                                        \
    .ram = Operation::k##op##Ram, .zero_x = Operation::k##op##Zpx,                \
    .ram_x = Operation::k##op##Rax                                                \
  }

enum class Kind { kRead, kWrite, kModify };
enum class Mode { kImmediate, kZero, kZeroX, kZeroY, kAbsolute, kAbsoluteX, kAbsoluteY, kIndirectX,
                  kIndirectY };

struct Shape {
  Family family;
  Kind kind;
  Mode mode;
};

/// The regular opcodes aaabbbcc; nothing for the irregular and the unofficial ones.
std::optional<Shape> regular_shape(int opcode) {
  const int family = opcode >> 5, mode_bits = (opcode >> 2) & 7;
  if ((opcode & 3) == 1) {
    constexpr Mode kModes[8] = {Mode::kIndirectX, Mode::kZero,  Mode::kImmediate, Mode::kAbsolute,
                                Mode::kIndirectY, Mode::kZeroX, Mode::kAbsoluteY, Mode::kAbsoluteX};
    const Mode mode = kModes[mode_bits];
    switch (family) {
      case 0: return Shape{WARPZONE_READER(Ora), Kind::kRead, mode};
      case 1: return Shape{WARPZONE_READER(And), Kind::kRead, mode};
      case 2: return Shape{WARPZONE_READER(Eor), Kind::kRead, mode};
      case 3: return Shape{WARPZONE_READER(Adc), Kind::kRead, mode};
      case 4:
        if (mode == Mode::kImmediate) return std::nullopt;
        return Shape{Family{.ram = Operation::kStaRam,
                            .zero_x = Operation::kStaZpx,
                            .ram_x = Operation::kStaRax,
                            .ram_y = Operation::kStaRay,
                            .indirect_x = Operation::kStaInx,
                            .indirect_y = Operation::kStaIny,
                            .device = Operation::kStaDevice},
                     Kind::kWrite, mode};
      case 5: {
        Family lda = WARPZONE_READER(Lda);
        lda.device = Operation::kLdaDevice;
        return Shape{lda, Kind::kRead, mode};
      }
      case 6: return Shape{WARPZONE_READER(Cmp), Kind::kRead, mode};
      default: return Shape{WARPZONE_READER(Sbc), Kind::kRead, mode};
    }
  }
  if ((opcode & 3) == 2) {
    if (opcode == 0xA2) return Shape{Family{.imm = Operation::kLdxImm}, Kind::kRead, Mode::kImmediate};
    if ((mode_bits & 1) == 0 || mode_bits > 7) return std::nullopt;
    constexpr Mode kModes[8] = {Mode::kZero, Mode::kZero, Mode::kZero, Mode::kAbsolute,
                                Mode::kZero, Mode::kZeroX, Mode::kZero, Mode::kAbsoluteX};
    const Mode mode = kModes[mode_bits];
    const Mode mode_y = mode == Mode::kZeroX       ? Mode::kZeroY
                        : mode == Mode::kAbsoluteX ? Mode::kAbsoluteY
                                                   : mode;
    switch (family) {
      case 0: return Shape{WARPZONE_MODIFIER(Asl), Kind::kModify, mode};
      case 1: return Shape{WARPZONE_MODIFIER(Rol), Kind::kModify, mode};
      case 2: return Shape{WARPZONE_MODIFIER(Lsr), Kind::kModify, mode};
      case 3: return Shape{WARPZONE_MODIFIER(Ror), Kind::kModify, mode};
      case 4:
        if (mode == Mode::kAbsoluteX) return std::nullopt;
        return Shape{Family{.ram = Operation::kStxRam,
                            .zero_y = Operation::kStxZpy,
                            .device = Operation::kStxDevice},
                     Kind::kWrite, mode_y};
      case 5:
        return Shape{Family{.imm = Operation::kLdxImm,
                            .ram = Operation::kLdxRam,
                            .zero_y = Operation::kLdxZpy,
                            .ram_y = Operation::kLdxRay,
                            .program_y = Operation::kLdxRoy,
                            .device = Operation::kLdxDevice},
                     Kind::kRead, mode_y};
      case 6: return Shape{WARPZONE_MODIFIER(Dec), Kind::kModify, mode};
      default: return Shape{WARPZONE_MODIFIER(Inc), Kind::kModify, mode};
    }
  }
  const Family ldy{.imm = Operation::kLdyImm,
                   .ram = Operation::kLdyRam,
                   .zero_x = Operation::kLdyZpx,
                   .ram_x = Operation::kLdyRax,
                   .program_x = Operation::kLdyRox,
                   .device = Operation::kLdyDevice};
  const Family sty{.ram = Operation::kStyRam,
                   .zero_x = Operation::kStyZpx,
                   .device = Operation::kStyDevice};
  const Family cpx{.imm = Operation::kCpxImm, .ram = Operation::kCpxRam};
  const Family cpy{.imm = Operation::kCpyImm, .ram = Operation::kCpyRam};
  const Family bit{.imm = Operation::kBitImm,
                   .ram = Operation::kBitRam,
                   .device = Operation::kBitDevice};
  switch (opcode) {
    case 0xA0: return Shape{ldy, Kind::kRead, Mode::kImmediate};
    case 0xA4: return Shape{ldy, Kind::kRead, Mode::kZero};
    case 0xB4: return Shape{ldy, Kind::kRead, Mode::kZeroX};
    case 0xAC: return Shape{ldy, Kind::kRead, Mode::kAbsolute};
    case 0xBC: return Shape{ldy, Kind::kRead, Mode::kAbsoluteX};
    case 0x84: return Shape{sty, Kind::kWrite, Mode::kZero};
    case 0x94: return Shape{sty, Kind::kWrite, Mode::kZeroX};
    case 0x8C: return Shape{sty, Kind::kWrite, Mode::kAbsolute};
    case 0xC0: return Shape{cpy, Kind::kRead, Mode::kImmediate};
    case 0xC4: return Shape{cpy, Kind::kRead, Mode::kZero};
    case 0xCC: return Shape{cpy, Kind::kRead, Mode::kAbsolute};
    case 0xE0: return Shape{cpx, Kind::kRead, Mode::kImmediate};
    case 0xE4: return Shape{cpx, Kind::kRead, Mode::kZero};
    case 0xEC: return Shape{cpx, Kind::kRead, Mode::kAbsolute};
    case 0x24: return Shape{bit, Kind::kRead, Mode::kZero};
    case 0x2C: return Shape{bit, Kind::kRead, Mode::kAbsolute};
    default: return std::nullopt;
  }
}

Operation implied_operation(int opcode) {
  switch (opcode) {
    case 0x0A: return Operation::kAslA;
    case 0x2A: return Operation::kRolA;
    case 0x4A: return Operation::kLsrA;
    case 0x6A: return Operation::kRorA;
    case 0x18: return Operation::kClc;
    case 0x38: return Operation::kSec;
    case 0x78: return Operation::kSei;
    case 0xB8: return Operation::kClv;
    case 0xD8: return Operation::kCld;
    case 0xF8: return Operation::kSed;
    case 0x88: return Operation::kDey;
    case 0xC8: return Operation::kIny;
    case 0xCA: return Operation::kDex;
    case 0xE8: return Operation::kInx;
    case 0x8A: return Operation::kTxa;
    case 0x98: return Operation::kTya;
    case 0xA8: return Operation::kTay;
    case 0xAA: return Operation::kTax;
    case 0x9A: return Operation::kTxs;
    case 0xBA: return Operation::kTsx;
    case 0xEA: return Operation::kNop;
    default: return Operation::kLiteral;
  }
}

class Decoder {
 public:
  explicit Decoder(const std::uint8_t* program) : program_(program) {}

  DecodedProgram decode() {
    // One more entry stands for running off the end of memory.
    DecodedProgram code(kSize + 1);
    for (int at = 0; at < kSize; ++at) code[at] = decode_at(at);
    for (int at = 0; at < kSize; ++at) {
      mark_wait_loop(code, at);
      mark_count_loop(code, at);
    }
    return code;
  }

 private:
  int byte(int at) const { return program_[at & (kSize - 1)]; }
  int word(int at) const { return byte(at) | byte(at + 1) << 8; }

  static Instruction make(Operation operation, int operand, int length, int cycles) {
    Instruction result{};
    result.operand = static_cast<std::uint16_t>(operand);
    result.operation = operation;
    result.length = static_cast<std::uint8_t>(length);
    result.cycles = static_cast<std::uint8_t>(cycles);
    return result;
  }

  Instruction decode_at(int at) const {
    const int opcode = byte(at);
    Instruction result = make(Operation::kLiteral, 0, 1, 2);
    if ((opcode & 0x1F) == 0x10) {
      result = decode_branch(at);
    } else if (const auto shape = regular_shape(opcode)) {
      result = decode_regular(*shape, at);
    } else {
      result = decode_irregular(opcode, at);
    }
    if (at + result.length > kSize) result.operation = Operation::kLiteral;
    return result;
  }

  Instruction decode_branch(int at) const {
    constexpr Operation kBranches[8] = {Operation::kBpl, Operation::kBmi, Operation::kBvc,
                                        Operation::kBvs, Operation::kBcc, Operation::kBcs,
                                        Operation::kBne, Operation::kBeq};
    const int next = at + 2;
    const int target = next + static_cast<std::int8_t>(byte(at + 1));
    if (target < 0 || target >= kSize) return make(Operation::kLiteral, 0, 2, 2);
    Instruction branch = make(kBranches[byte(at) >> 5], target, 2, 2);
    branch.extra = (next ^ target) > 0xFF ? 2 : 1;
    return branch;
  }

  Instruction decode_irregular(int opcode, int at) const {
    const int target = word(at + 1);
    switch (opcode) {
      case 0x4C:
        if (!is_program(target)) return make(Operation::kLiteral, 0, 3, 3);
        return make((target & 0x7FFF) == at ? Operation::kJmpSelf : Operation::kJmp,
                    target & 0x7FFF, 3, 3);
      case 0x6C:
        return make(is_ram(target) ? Operation::kJmpIndirect : Operation::kLiteral, target, 3, 5);
      case 0x20:
        return make(is_program(target) ? Operation::kJsr : Operation::kLiteral, target & 0x7FFF, 3,
                    6);
      case 0x60: return make(Operation::kRts, 0, 1, 6);
      case 0x48: return make(Operation::kPha, 0, 1, 3);
      case 0x08: return make(Operation::kPhp, 0, 1, 3);
      case 0x68: return make(Operation::kPla, 0, 1, 4);
      default: return make(implied_operation(opcode), 0, 1, 2);
    }
  }

  Instruction decode_regular(const Shape& shape, int at) const {
    const Family& f = shape.family;
    const int value = byte(at + 1), address = word(at + 1);
    const bool modify = shape.kind == Kind::kModify, store = shape.kind == Kind::kWrite;
    const int extra = modify ? 2 : 0;
    switch (shape.mode) {
      case Mode::kImmediate: return make(f.imm, value, 2, 2);
      case Mode::kZero: return make(f.ram, value, 2, 3 + extra);
      case Mode::kZeroX: return make(f.zero_x, value, 2, 4 + extra);
      case Mode::kZeroY: return make(f.zero_y, value, 2, 4);
      case Mode::kIndirectX: return make(f.indirect_x, value, 2, 6);
      case Mode::kIndirectY: return make(f.indirect_y, value, 2, store ? 6 : 5);
      case Mode::kAbsolute: return decode_absolute(shape, address, 4 + extra);
      default: break;
    }
    const bool by_x = shape.mode == Mode::kAbsoluteX;
    const int cycles = modify ? 7 : store ? 5 : 4;
    Operation operation = Operation::kLiteral;
    if (is_ram(address + 0xFF)) {
      operation = by_x ? f.ram_x : f.ram_y;
    } else if (is_program(address) && address + 0xFF <= 0xFFFF && shape.kind == Kind::kRead) {
      operation = by_x ? f.program_x : f.program_y;
    }
    return make(operation, address, 3, cycles);
  }

  Instruction decode_absolute(const Shape& shape, int address, int cycles) const {
    const Family& f = shape.family;
    if (is_ram(address)) return make(f.ram, address & 0x7FF, 3, cycles);
    if (shape.kind == Kind::kRead) {
      if (is_program(address)) return make(f.imm, byte(address & 0x7FFF), 3, cycles);
      if (can_read_device(address)) return make(f.device, address, 3, cycles);
    } else if (shape.kind == Kind::kWrite && can_write_device(address)) {
      return make(f.device, address, 3, cycles);
    }
    return make(Operation::kLiteral, 0, 3, cycles);
  }

  /// Whether an instruction only looks: it changes registers, nothing else, and reads nothing that
  /// changes by being read again.
  static bool only_looks(const Instruction& i) {
    switch (i.operation) {
      case Operation::kLdaImm: case Operation::kLdaRam: case Operation::kLdxImm:
      case Operation::kLdxRam: case Operation::kLdyImm: case Operation::kLdyRam:
      case Operation::kAndImm: case Operation::kAndRam: case Operation::kOraImm:
      case Operation::kOraRam: case Operation::kEorImm: case Operation::kEorRam:
      case Operation::kCmpImm: case Operation::kCmpRam: case Operation::kCpxImm:
      case Operation::kCpxRam: case Operation::kCpyImm: case Operation::kCpyRam:
      case Operation::kBitImm: case Operation::kBitRam: case Operation::kNop:
      case Operation::kTax: case Operation::kTay: case Operation::kTxa: case Operation::kTya:
      case Operation::kClc: case Operation::kSec: case Operation::kAslA: case Operation::kLsrA:
        return true;
      default:
        return polls_status(i);
    }
  }

  static bool polls_status(const Instruction& i) {
    const bool device = i.operation == Operation::kLdaDevice ||
                        i.operation == Operation::kLdxDevice ||
                        i.operation == Operation::kLdyDevice ||
                        i.operation == Operation::kBitDevice;
    return device && (i.operand & 0xE007) == 0x2002;
  }

  /// A backward branch over instructions that only look closes a loop that waits.
  static void mark_wait_loop(DecodedProgram& code, int at) {
    Instruction& branch = code[at];
    const bool is_branch =
        branch.operation >= Operation::kBpl && branch.operation <= Operation::kBeq;
    if (!is_branch || branch.operand > at || at - branch.operand > kLongestWaitLoop) return;
    int cycles = branch.cycles + branch.extra, cursor = branch.operand;
    bool status = false;
    for (; cursor < at; cursor += code[cursor].length) {
      if (!only_looks(code[cursor])) return;
      status = status || polls_status(code[cursor]);
      cycles += code[cursor].cycles;
    }
    if (cursor != at) return;
    branch.loop_cycles = static_cast<std::uint8_t>(cycles);
    branch.polls_status = status;
    branch.condition =
        (static_cast<unsigned>(branch.operation) - static_cast<unsigned>(Operation::kBpl)) & 7;
    branch.operation = Operation::kWaitLoop;
  }

  /// DEX or DEY with a BNE straight back to it only burns time.
  static void mark_count_loop(DecodedProgram& code, int at) {
    Instruction& count = code[at];
    if (count.operation != Operation::kDex && count.operation != Operation::kDey) return;
    const Instruction& branch = code[at + 1];
    if (branch.operation != Operation::kBne || branch.operand != at) return;
    count.operation =
        count.operation == Operation::kDex ? Operation::kCountX : Operation::kCountY;
    count.loop_cycles = static_cast<std::uint8_t>(count.cycles + branch.cycles + branch.extra);
    count.extra = branch.extra;
  }

  const std::uint8_t* program_;
};

}  // namespace

DecodedProgram decode_program(const std::uint8_t* program) { return Decoder(program).decode(); }

}  // namespace warpzone::nes
