#include "nes/program.hpp"

#include "nes/opcodes.hpp"

namespace warpzone::nes {
namespace {

constexpr int kSize = 0x8000;

bool is_ram(int address) { return address < 0x2000; }
bool is_program(int address) { return address >= 0x8000; }

/// Registers that switch interrupts, drawing or sample playback.
bool is_switch(int address) {
  const bool ppu = address >= 0x2000 && address < 0x4000 && (address & 7) < 2;
  return ppu || address == 0x4015 || address == 0x4017;
}

class Decoder {
 public:
  explicit Decoder(const std::uint8_t* program) : program_(program) {}

  DecodedProgram decode() const {
    // One more entry stands for running off the end of memory.
    DecodedProgram code(kSize + 1);
    for (int at = 0; at < kSize; ++at) code[at] = decode_at(at);
    measure_runs(code);
    fuse_instructions(code);
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
  static Instruction literal() { return make(Operation::kLiteral, 0, 1, 0); }

  Instruction decode_at(int at) const {
    const int opcode = byte(at);
    Instruction result = literal();
    if ((opcode & 0x1F) == 0x10) {
      result = decode_branch(at);
    } else if (const auto shape = regular_shape(opcode)) {
      result = decode_regular(*shape, at);
    } else {
      result = decode_irregular(opcode, at);
    }
    if (result.operation == Operation::kLiteral || at + result.length > kSize) result = literal();
    result.plain = result.operation;
    return result;
  }

  Instruction decode_branch(int at) const {
    constexpr Operation kBranches[8] = {
        Operation::kBplBranch, Operation::kBmiBranch, Operation::kBvcBranch, Operation::kBvsBranch,
        Operation::kBccBranch, Operation::kBcsBranch, Operation::kBneBranch, Operation::kBeqBranch};
    const int next = at + 2;
    const int target = next + static_cast<std::int8_t>(byte(at + 1));
    if (target < 0 || target >= kSize) return literal();
    Instruction branch = make(kBranches[byte(at) >> 5], target, 2, 2);
    branch.extra = (next ^ target) > 0xFF ? 2 : 1;
    return branch;
  }

  Instruction decode_irregular(int opcode, int at) const {
    const int target = word(at + 1);
    switch (opcode) {
      case 0x4C:
        if (!is_program(target)) return literal();
        return make((target & 0x7FFF) == at ? Operation::kJmpSelf : Operation::kJmp,
                    target & 0x7FFF, 3, 3);
      case 0x6C:
        return make(is_ram(target) ? Operation::kJmpIndirect : Operation::kLiteral, target, 3, 5);
      case 0x20:
        return make(is_program(target) ? Operation::kJsr : Operation::kLiteral, target & 0x7FFF, 3,
                    6);
      case 0x60:
        return make(Operation::kRts, 0, 1, 6);
      case 0x40:
        return make(Operation::kRti, 0, 1, 6);
      case 0x48:
        return make(Operation::kPhaImplied, 0, 1, 3);
      case 0x08:
        return make(Operation::kPhpImplied, 0, 1, 3);
      case 0x68:
        return make(Operation::kPlaImplied, 0, 1, 4);
      case 0x28:
        return make(Operation::kPlp, 0, 1, 4);
      case 0x58:
        return make(Operation::kCli, 0, 1, 2);
      default:
        return make(implied_operation(opcode), 0, 1, 2);
    }
  }

  Instruction decode_regular(const Shape& shape, int at) const {
    const Family& f = shape.family;
    const int value = byte(at + 1), address = word(at + 1);
    const bool modify = shape.kind == Kind::kModify, store = shape.kind == Kind::kWrite;
    const int extra = modify ? 2 : 0;
    switch (shape.mode) {
      case Mode::kImmediate:
        return make(f.imm, value, 2, 2);
      case Mode::kZero:
        return make(f.ram, value, 2, 3 + extra);
      case Mode::kZeroX:
        return make(f.zero_x, value, 2, 4 + extra);
      case Mode::kZeroY:
        return make(f.zero_y, value, 2, 4);
      case Mode::kIndirectX:
        return make(f.indirect_x, value, 2, 6);
      case Mode::kIndirectY:
        return make(f.indirect_y, value, 2, store ? 6 : 5);
      case Mode::kAbsolute:
        return decode_absolute(shape, address, 4 + extra);
      default:
        break;
    }
    const bool by_x = shape.mode == Mode::kAbsoluteX;
    const int cycles = modify ? 7 : store ? 5 : 4;
    Operation operation = by_x ? f.far_x : f.far_y;
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
    } else if (shape.kind == Kind::kWrite) {
      if (can_write_device(address)) return make(f.device, address, 3, cycles);
      if (is_switch(address)) return make(f.device_switch, address, 3, cycles);
    }
    return literal();
  }

  static bool ends_run(Operation operation) {
    switch (operation) {
      case Operation::kJmp:
      case Operation::kJmpSelf:
      case Operation::kJmpIndirect:
      case Operation::kJsr:
      case Operation::kRts:
      case Operation::kRti:
      case Operation::kStaSwitch:
      case Operation::kStxSwitch:
      case Operation::kStySwitch:
        return true;
      default:
        return operation >= Operation::kBplBranch && operation <= Operation::kBeqBranch;
    }
  }

  static void measure_runs(DecodedProgram& code) {
    for (int at = kSize - 1; at >= 0; --at) {
      Instruction& i = code[at];
      if (i.operation == Operation::kLiteral) continue;
      int run = i.cycles;
      if (!ends_run(i.operation)) run += code[at + i.length].run;
      if (run > kLongestRun) {
        i = literal();  // Also ends a run, and costs little this seldom.
        continue;
      }
      i.run = static_cast<std::uint8_t>(run);
    }
  }

  const std::uint8_t* program_;
};

}  // namespace

bool can_read_device(int address) {
  return (address >= 0x2000 && address < 0x4000) || address == 0x4016 || address == 0x4017 ||
         (address >= 0x6000 && address < 0x8000);
}

bool can_write_device(int address) {
  const bool ppu = address >= 0x2000 && address < 0x4000 && (address & 7) >= 2;
  const bool sound_unit = address >= 0x4000 && address <= 0x4013;
  return ppu || sound_unit || address == 0x4016 || (address >= 0x6000 && address < 0x8000);
}

DecodedProgram decode_program(const std::uint8_t* program) { return Decoder(program).decode(); }

}  // namespace warpzone::nes
