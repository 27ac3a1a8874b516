/// Where the operands of instructions lie, as machine code.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nes/instruction_parts.hpp"
#include "nes/program.hpp"
#include "nes/x64_assembler.hpp"
#include "nes/x64_frame.hpp"

namespace warpzone::nes::x64 {

struct Operand {
  enum class Kind { kValue, kMemory, kRegister } kind;  ///< The register is kValue.
  std::uint8_t value = 0;
  Memory memory{kRam};
};

/// May change kValue, kAddress, kSpare and the host's flags.
class Operands {
 public:
  Operands(Assembler& assembler, Frame& frame, const DecodedProgram& program)
      : assembler_(assembler), frame_(frame), program_(program) {}

  /// Adds the cycles that reading takes more, and stops in front of the instruction if the operand
  /// is out of reach.
  Operand find(std::size_t at, Where where) {
    const Instruction& instruction = program_[at];
    switch (where) {
      case Where::kImm:
        return {Operand::Kind::kValue, static_cast<std::uint8_t>(instruction.operand)};
      case Where::kRam:
        return memory({kRam, instruction.operand});
      case Where::kZpx:
        return zero_page(instruction, kX);
      case Where::kZpy:
        return zero_page(instruction, kY);
      case Where::kRax:
      case Where::kRay: {
        const Reg index = where == Where::kRax ? kX : kY;
        add_crossing(instruction, index);
        return ram_table(instruction, index);
      }
      case Where::kWax:
        return ram_table(instruction, kX);
      case Where::kWay:
        return ram_table(instruction, kY);
      case Where::kRox:
      case Where::kRoy: {
        const Reg index = where == Where::kRox ? kX : kY;
        add_crossing(instruction, index);
        return memory({kTables, kProgramOffset + (instruction.operand & 0x7FFF), index});
      }
      case Where::kInx:
        return through_pointer(at, true);
      case Where::kIny:
        return through_pointer(at, false);
      case Where::kWix:
        return ram_through_pointer(at, true);
      case Where::kWiy:
        return ram_through_pointer(at, false);
      case Where::kDevice:
        address_device(at);
        assembler_.call(frame_.read_device);
        return {Operand::Kind::kRegister};
      default:
        return {Operand::Kind::kRegister};
    }
  }

  void load(Reg to, const Operand& operand) {
    switch (operand.kind) {
      case Operand::Kind::kValue:
        assembler_.move(to, operand.value);
        break;
      case Operand::Kind::kMemory:
        assembler_.load_byte(to, operand.memory);
        break;
      default:
        if (to != kValue) assembler_.move(to, kValue);
    }
  }

  void alu(Alu operation, Reg to, const Operand& operand) {
    switch (operand.kind) {
      case Operand::Kind::kValue:
        assembler_.alu_byte(operation, to, operand.value);
        break;
      case Operand::Kind::kMemory:
        assembler_.alu_byte(operation, to, operand.memory);
        break;
      default:
        assembler_.alu_byte(operation, to, kValue);
    }
  }

  /// Devices are reached in the fourth cycle.
  void address_device(std::size_t at) {
    assembler_.address_64(kSpare, {kCycle, 3 - run(at)});
    assembler_.move(kAddress, program_[at].operand);
  }

  void address_far(std::size_t at, Reg index, int cycle) {
    assembler_.address_64(kSpare, {kCycle, cycle - run(at)});
    assembler_.move(kAddress, index);
    assembler_.shift_left(kAddress, 16);
    assembler_.alu(Alu::kOr, kAddress, program_[at].operand);
  }

  /// Reads take a cycle more when index and base are in different pages.
  void add_crossing(const Instruction& instruction, Reg index) {
    const std::int32_t low = instruction.operand & 0xFF;
    if (low == 0) return;
    assembler_.address(kValue, {index, low});
    assembler_.shift_right(kValue, 8);
    assembler_.alu_64(Alu::kAdd, kCycle, kValue);
  }

 private:
  static constexpr std::int32_t kProgramOffset = offsetof(Tables, program);

  static Operand memory(const Memory& where) { return {Operand::Kind::kMemory, 0, where}; }
  std::int32_t run(std::size_t at) const { return program_[at].run; }

  Operand zero_page(const Instruction& instruction, Reg index) {
    assembler_.address(kAddress, {index, instruction.operand});
    assembler_.extend_byte(kAddress, kAddress);
    return memory({kRam, 0, kAddress});
  }

  Operand ram_table(const Instruction& instruction, Reg index) {
    const std::int32_t base = instruction.operand & 0x7FF;
    if (base + 0xFF <= 0x7FF) return memory({kRam, base, index});
    assembler_.address(kAddress, {index, base});
    assembler_.alu(Alu::kAnd, kAddress, 0x7FF);
    return memory({kRam, 0, kAddress});
  }

  /// Loads a pointer from the zero page into kAddress.
  void load_pointer(const Instruction& instruction, bool indexed) {
    if (!indexed && instruction.operand != 0xFF) {
      assembler_.load_word(kAddress, {kRam, instruction.operand});
      return;
    }
    if (indexed) {
      assembler_.address(kValue, {kX, instruction.operand});
      assembler_.extend_byte(kValue, kValue);
    } else {
      assembler_.move(kValue, instruction.operand);
    }
    assembler_.load_byte(kAddress, {kRam, 0, kValue});
    assembler_.increment_byte(kValue);
    assembler_.load_byte(kSpare, {kRam, 0, kValue});
    assembler_.shift_left(kSpare, 8);
    assembler_.alu(Alu::kOr, kAddress, kSpare);
  }

  /// The byte at any address that is RAM or program; its value is in kValue.
  Operand through_pointer(std::size_t at, bool indexed) {
    const Label in_program = assembler_.new_label(), done = assembler_.new_label();
    load_pointer(program_[at], indexed);
    assembler_.move(kSpare, kAddress);
    if (!indexed) {
      assembler_.alu(Alu::kAdd, kSpare, kY);
      assembler_.extend_word(kSpare, kSpare);
    }
    assembler_.test(kSpare, 0x8000);
    assembler_.jump_if(Condition::kNotEqual, in_program);
    assembler_.alu(Alu::kCmp, kSpare, 0x2000);
    assembler_.jump_if(Condition::kNotBelow, frame_.stop_label(at));
    assembler_.alu(Alu::kAnd, kSpare, 0x7FF);
    assembler_.load_byte(kValue, {kRam, 0, kSpare});
    assembler_.jump(done);
    assembler_.bind(in_program);
    assembler_.load_byte(kValue, {kTables, -0x8000 + kProgramOffset, kSpare});
    assembler_.bind(done);
    if (!indexed) {
      assembler_.extend_byte(kAddress, kAddress);
      assembler_.alu(Alu::kAdd, kAddress, kY);
      assembler_.shift_right(kAddress, 8);
      assembler_.alu_64(Alu::kAdd, kCycle, kAddress);
    }
    return {Operand::Kind::kRegister};
  }

  /// The same for writes, which go to RAM only.
  Operand ram_through_pointer(std::size_t at, bool indexed) {
    load_pointer(program_[at], indexed);
    if (!indexed) {
      assembler_.alu(Alu::kAdd, kAddress, kY);
      assembler_.extend_word(kAddress, kAddress);
    }
    assembler_.alu(Alu::kCmp, kAddress, 0x2000);
    assembler_.jump_if(Condition::kNotBelow, frame_.stop_label(at));
    assembler_.alu(Alu::kAnd, kAddress, 0x7FF);
    return memory({kRam, 0, kAddress});
  }

  Assembler& assembler_;
  Frame& frame_;
  const DecodedProgram& program_;
};

}  // namespace warpzone::nes::x64
