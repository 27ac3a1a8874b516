/// Layout of the code. Each instruction has a body, which can be jumped to once its run has been
/// paid for: the cycles of the whole run are added in front, and compared with the guard (its
/// check). Instructions are translated in the order in which they are executed, so that most bodies
/// simply follow each other.
///
/// Within such a sequence the host's own flags, and a carry that is known, save instructions. Code
/// that relies on them has no body: whoever jumps there needs another translation, without.
#include "nes/x64_translator.hpp"

#include <cstddef>

#include "nes/compiled_program.hpp"
#include "nes/instruction_parts.hpp"
#include "nes/x64_assembler.hpp"
#include "nes/x64_frame.hpp"
#include "nes/x64_instructions.hpp"

namespace warpzone::nes::x64 {
namespace {

class Translator {
 public:
  explicit Translator(const DecodedProgram& program)
      : program_(program),
        assembler_(2 * program.size()),
        frame_(assembler_),
        instructions_(assembler_, frame_, program) {}

  Translation translate() {
    frame_.write();
    for (std::size_t at = 0; at < program_.size(); ++at) {
      if (!assembler_.is_bound(body(at))) translate_from(at);
    }
    write_late_checks();
    frame_.write_stops();
    Translation result;
    for (std::size_t at = 0; at < program_.size(); ++at) {
      result.bodies.push_back(assembler_.place(body(at)));
    }
    result.code = assembler_.link();
    return result;
  }

 private:
  Label body(std::size_t at) const { return static_cast<Label>(at); }
  /// Adds nothing: whoever jumps here has added the cycles of the run.
  Label check(std::size_t at) {
    const auto label = static_cast<Label>(program_.size() + at);
    wanted_.push_back(at);
    return label;
  }
  std::int32_t run(std::size_t at) const { return program_[at].run; }

  void write_check(std::size_t at) {
    assembler_.alu_64(Alu::kCmp, kCycle, kGuard);
    assembler_.jump_if(Condition::kAbove, frame_.limit_label(at));
  }

  /// Checks of instructions in the middle of sequences.
  void write_late_checks() {
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      const std::size_t at = wanted_[i];
      const auto label = static_cast<Label>(program_.size() + at);
      if (assembler_.is_bound(label)) continue;
      assembler_.bind(label);
      write_check(at);
      assembler_.jump(body(at));
    }
  }

  void translate_from(std::size_t at) {
    bool begins_run = true;
    for (;;) {
      if (begins_run) instructions_.forget();
      const bool relies = instructions_.relies_on_known(at);
      if (!relies && assembler_.is_bound(body(at))) {
        assembler_.jump(begins_run ? check(at) : body(at));
        return;
      }
      if (begins_run) {
        assembler_.bind(check(at));
        write_check(at);
      }
      if (!relies) {
        instructions_.forget();  // Not to those who jump here.
        assembler_.bind(body(at));
      }
      const Instruction& instruction = program_[at];
      const Parts parts = parts_of(instruction.plain);
      if (parts.where == Where::kBranch) {
        write_branch(at, parts.what);
        begins_run = true;
      } else if (instruction.plain == Operation::kJmp) {
        assembler_.alu_64(Alu::kAdd, kCycle, run(instruction.operand));
        at = instruction.operand;
        begins_run = true;
        continue;
      } else if (!Instructions::is_translated(instruction)) {
        write_end(at);
        return;
      } else {
        instructions_.write(at);
        begins_run = false;
      }
      at += instruction.length;
    }
  }

  void write_end(std::size_t at) {
    const Instruction& instruction = program_[at];
    switch (instruction.plain) {
      case Operation::kJsr:
        write_jsr(at);
        return;
      case Operation::kRts:
        write_rts(at);
        return;
      case Operation::kJmpIndirect:
        write_jump_indirect(at);
        return;
      default:
        frame_.stop_at(at);
    }
  }

  void write_branch(std::size_t at, What what) {
    const Instruction& branch = program_[at];
    const std::int32_t passed = run(at + branch.length);
    const Condition taken = instructions_.condition_of(what);
    if (branch.operation == Operation::kWaitLoop) {
      assembler_.jump_if(taken, frame_.stop_label(at));
      assembler_.alu_64(Alu::kAdd, kCycle, passed);
      return;
    }
    const std::int32_t jumped = branch.extra + run(branch.operand);
    assembler_.address_64(kCycle, {kCycle, jumped});  // Leaves the host's flags alone.
    assembler_.jump_if(taken, check(branch.operand));
    if (passed != jumped) assembler_.alu_64(Alu::kAdd, kCycle, passed - jumped);
  }

  void write_jsr(std::size_t at) {
    const std::size_t target = program_[at].operand, back = at + 0x8000 + 2;
    for (const std::size_t byte : {back >> 8, back}) {
      assembler_.store_byte({kRam, kStackPage, kStack}, static_cast<std::uint8_t>(byte));
      assembler_.decrement_byte(kStack);
    }
    assembler_.alu_64(Alu::kAdd, kCycle, run(target));
    assembler_.jump(check(target));
  }

  /// Turns the address in kAddress into an index, or stops in front of the jump.
  void jump_to_address(std::size_t at, std::int32_t plus) {
    assembler_.address(kAddress, {kAddress, plus - 0x8000});
    assembler_.alu(Alu::kCmp, kAddress, 0x8000);
    assembler_.jump_if(Condition::kNotBelow, frame_.stop_label(at));
  }

  void write_rts(std::size_t at) {
    assembler_.address(kValue, {kStack, 1});
    assembler_.extend_byte(kValue, kValue);
    assembler_.load_byte(kAddress, {kRam, kStackPage, kValue});
    assembler_.increment_byte(kValue);
    assembler_.load_byte(kSpare, {kRam, kStackPage, kValue});
    assembler_.shift_left(kSpare, 8);
    assembler_.alu(Alu::kOr, kAddress, kSpare);
    jump_to_address(at, 1);
    assembler_.move(kStack, kValue);
    frame_.enter_run();
  }

  void write_jump_indirect(std::size_t at) {
    const std::int32_t low = program_[at].operand;
    const std::int32_t high = (low & 0xFF00) | ((low + 1) & 0xFF);
    assembler_.load_byte(kAddress, {kRam, low & 0x7FF});
    assembler_.load_byte(kSpare, {kRam, high & 0x7FF});
    assembler_.shift_left(kSpare, 8);
    assembler_.alu(Alu::kOr, kAddress, kSpare);
    jump_to_address(at, 0);
    frame_.enter_run();
  }

  const DecodedProgram& program_;
  Assembler assembler_;
  Frame frame_;
  Instructions instructions_;
  std::vector<std::size_t> wanted_;  ///< Instructions whose check is jumped to.
};

}  // namespace

Translation translate(const DecodedProgram& program) { return Translator(program).translate(); }

}  // namespace warpzone::nes::x64
