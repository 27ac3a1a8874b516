/// Around the compiled instructions: how code is entered and left, and what it calls.
#pragma once

#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "nes/compiled_program.hpp"
#include "nes/x64_assembler.hpp"

namespace warpzone::nes::x64 {

// The 6502's registers and what belongs to them; rax, rcx and rdx are free.
inline constexpr Reg kA = Reg::kR12, kX = Reg::kR13, kY = Reg::kR14, kStack = Reg::kR8,
                     kNz = Reg::kR9, kCarry = Reg::kR10, kOverflow = Reg::kR11, kCycle = Reg::kRbp,
                     kGuard = Reg::kRsi, kRam = Reg::kRbx, kTables = Reg::kRdi,
                     kContext = Reg::kR15;
inline constexpr Reg kValue = Reg::kRax, kAddress = Reg::kRcx, kSpare = Reg::kRdx;

using Tables = CompiledProgram::Tables;

class Frame {
 public:
  explicit Frame(Assembler& assembler)
      : read_device(assembler.new_label()),
        write_device(assembler.new_label()),
        read_far(assembler.new_label()),
        write_far(assembler.new_label()),
        assembler_(assembler),
        limit_exit_(assembler.new_label()),
        special_exit_(assembler.new_label()) {}

  /// Functions of the context. They expect the address in kAddress, the cycle in kSpare and a value
  /// in kValue, where they leave their result.
  const Label read_device, write_device, read_far, write_far;

  void write() {
    write_entry();
    write_exits();
    write_calls();
  }

  /// Begins the run of the instruction whose index is in kAddress.
  void enter_run() {
    assembler_.load_byte(kSpare, {kTables, offsetof(Tables, runs), kAddress});
    assembler_.alu_64(Alu::kAdd, kCycle, kSpare);
    assembler_.alu_64(Alu::kCmp, kCycle, kGuard);
    assembler_.jump_if(Condition::kAbove, limit_exit_);
    assembler_.jump_to({kTables, offsetof(Tables, bodies), kAddress, 8});
  }

  /// Stops in front of an instruction.
  void stop_at(std::size_t at) { leave_at(at, special_exit_); }
  /// A jump to it does the same.
  Label stop_label(std::size_t at) { return exit_label(at, special_exit_); }
  /// The same, since the limit is near.
  Label limit_label(std::size_t at) { return exit_label(at, limit_exit_); }
  /// What these labels are bound to; away from the code that is executed often.
  void write_stops() {
    for (const Stop& stop : stops_) {
      assembler_.bind(stop.label);
      leave_at(stop.at, stop.exit);
    }
  }

 private:
  struct Stop {
    Label label;
    std::size_t at;
    Label exit;
  };
  struct Kept {
    Reg reg;
    std::size_t offset;
  };
  static constexpr Kept kRegisters[] = {{kA, offsetof(CompiledContext, a)},
                                        {kX, offsetof(CompiledContext, x)},
                                        {kY, offsetof(CompiledContext, y)},
                                        {kStack, offsetof(CompiledContext, sp)},
                                        {kNz, offsetof(CompiledContext, nz)},
                                        {kCarry, offsetof(CompiledContext, carry)},
                                        {kOverflow, offsetof(CompiledContext, overflow)}};
  static constexpr Reg kSaved[] = {Reg::kRbx, Reg::kRbp, Reg::kR12,
                                   Reg::kR13, Reg::kR14, Reg::kR15};
  /// Those that a function may change.
  static constexpr Reg kVolatile[] = {kStack, kNz, kCarry, kOverflow, kGuard, kTables};

  static Memory in_context(std::size_t offset) {
    return {kContext, static_cast<std::int32_t>(offset)};
  }

  void write_entry() {
    for (const Reg reg : kSaved) assembler_.push(reg);
    assembler_.alu_64(Alu::kSub, Reg::kRsp, 8);  // Calls expect a multiple of 16.
    assembler_.move_64(kContext, Reg::kRdi);
    for (const auto& [reg, offset] : kRegisters) assembler_.load(reg, in_context(offset));
    assembler_.load_64(kCycle, in_context(offsetof(CompiledContext, cycle)));
    assembler_.load_64(kGuard, in_context(offsetof(CompiledContext, guard)));
    assembler_.load_64(kRam, in_context(offsetof(CompiledContext, ram)));
    assembler_.load_64(kTables, in_context(offsetof(CompiledContext, tables)));
    assembler_.load(kAddress, in_context(offsetof(CompiledContext, at)));
    enter_run();
  }

  /// Both expect the index of the instruction in kAddress.
  void write_exits() {
    const Label leave = assembler_.new_label();
    assembler_.bind(special_exit_);
    assembler_.move(kValue, static_cast<std::uint32_t>(CompiledExit::kSpecial));
    assembler_.jump(leave);
    assembler_.bind(limit_exit_);
    assembler_.move(kValue, static_cast<std::uint32_t>(CompiledExit::kLimit));
    assembler_.bind(leave);
    assembler_.load_byte(kSpare, {kTables, offsetof(Tables, runs), kAddress});
    assembler_.alu_64(Alu::kSub, kCycle, kSpare);
    for (const auto& [reg, offset] : kRegisters) assembler_.store(in_context(offset), reg);
    assembler_.store_64(in_context(offsetof(CompiledContext, cycle)), kCycle);
    assembler_.store(in_context(offsetof(CompiledContext, at)), kAddress);
    assembler_.alu_64(Alu::kAdd, Reg::kRsp, 8);
    for (std::size_t i = std::size(kSaved); i-- > 0;) assembler_.pop(kSaved[i]);
    assembler_.ret();
  }

  void write_calls() {
    for (const auto& [label, function] :
         {std::pair{read_device, offsetof(CompiledContext, read)},
          std::pair{write_device, offsetof(CompiledContext, write)},
          std::pair{read_far, offsetof(CompiledContext, read_far)},
          std::pair{write_far, offsetof(CompiledContext, write_far)}}) {
      assembler_.bind(label);
      for (const Reg reg : kVolatile) assembler_.push(reg);
      assembler_.alu_64(Alu::kSub, Reg::kRsp, 8);
      assembler_.load_64(Reg::kRdi, in_context(offsetof(CompiledContext, machine)));
      assembler_.move(Reg::kRsi, kAddress);
      assembler_.move(Reg::kRcx, kValue);
      assembler_.call_to(in_context(function));
      assembler_.alu_64(Alu::kAdd, Reg::kRsp, 8);
      for (std::size_t i = std::size(kVolatile); i-- > 0;) assembler_.pop(kVolatile[i]);
      assembler_.ret();
    }
  }

  void leave_at(std::size_t at, Label exit) {
    assembler_.move(kAddress, static_cast<std::uint32_t>(at));
    assembler_.jump(exit);
  }

  Label exit_label(std::size_t at, Label exit) {
    stops_.push_back({assembler_.new_label(), at, exit});
    return stops_.back().label;
  }

  Assembler& assembler_;
  const Label limit_exit_, special_exit_;
  std::vector<Stop> stops_;
};

}  // namespace warpzone::nes::x64
