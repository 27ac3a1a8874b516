/// Layout of the code. Each instruction has a body, which can be jumped to once its run has been
/// paid for: the cycles of the whole run are added in front, and compared with the guard (its
/// check). Instructions are translated in the order in which they are executed, so that most bodies
/// simply follow each other.
///
/// Within such a sequence the host's own flags, and a carry that is known, save instructions. Code
/// that relies on them has no body: whoever jumps there needs another translation, without.
#include "nes/x64_translator.hpp"

#include <cstddef>
#include <iterator>
#include <utility>

#include "nes/compiled_program.hpp"
#include "nes/flag_liveness.hpp"
#include "nes/instruction_parts.hpp"
#include "nes/packed_flags.hpp"
#include "nes/x64_assembler.hpp"

namespace warpzone::nes::x64 {
namespace {

// The 6502's registers and what belongs to them; rax, rcx and rdx are free.
constexpr Reg kA = Reg::kR12, kX = Reg::kR13, kY = Reg::kR14, kStack = Reg::kR8, kNz = Reg::kR9,
              kCarry = Reg::kR10, kOverflow = Reg::kR11, kCycle = Reg::kRbp, kGuard = Reg::kRsi,
              kRam = Reg::kRbx, kTables = Reg::kRdi, kContext = Reg::kR15;
constexpr Reg kSaved[] = {Reg::kRbx, Reg::kRbp, Reg::kR12, Reg::kR13, Reg::kR14, Reg::kR15};
/// Those that a function may change.
constexpr Reg kVolatile[] = {kStack, kNz, kCarry, kOverflow, kGuard, kTables};
constexpr Reg kValue = Reg::kRax, kAddress = Reg::kRcx, kSpare = Reg::kRdx;

constexpr std::int32_t kStackPage = 0x100;
using Tables = CompiledProgram::Tables;

Memory in_context(std::size_t offset) { return {kContext, static_cast<std::int32_t>(offset)}; }

/// What is known about flags while code follows code.
struct Known {
  bool nz = false;      ///< The host's zero and sign flags are N and Z.
  bool carry = false;   ///< The host's carry is the carry.
  bool borrow = false;  ///< The host's carry is the opposite of the carry.
  int constant = -1;    ///< Value of the carry.

  void forget_host() { nz = carry = borrow = false; }
};

class Translator {
 public:
  explicit Translator(const DecodedProgram& program)
      : program_(program),
        live_(live_flags(program)),
        assembler_(2 * program.size()),
        limit_exit_(assembler_.new_label()),
        special_exit_(assembler_.new_label()),
        read_device_(assembler_.new_label()),
        write_device_(assembler_.new_label()),
        read_far_(assembler_.new_label()),
        write_far_(assembler_.new_label()) {}

  Translation translate() {
    write_entry();
    write_exits();
    write_device_calls();
    for (std::size_t at = 0; at < program_.size(); ++at) {
      if (!assembler_.is_bound(body(at))) translate_from(at);
    }
    write_late_checks();
    Translation result;
    for (std::size_t at = 0; at < program_.size(); ++at) {
      result.bodies.push_back(assembler_.place(body(at)));
    }
    result.code = assembler_.link();
    return result;
  }

 private:
  struct Operand {
    enum class Kind { kValue, kMemory, kRegister } kind;
    std::uint8_t value = 0;
    Memory memory{kRam};
  };

  Label body(std::size_t at) const { return static_cast<Label>(at); }
  /// Adds nothing: whoever jumps here has added the cycles of the run.
  Label check(std::size_t at) {
    const auto label = static_cast<Label>(program_.size() + at);
    wanted_.push_back(at);
    return label;
  }
  std::int32_t run(std::size_t at) const { return program_[at].run; }

  // Entry and exits -------------------------------------------------------------------------

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

  /// Begins the run of the instruction whose index is in kAddress.
  void enter_run() {
    assembler_.load_byte(kSpare, {kTables, offsetof(Tables, runs), kAddress});
    assembler_.alu_64(Alu::kAdd, kCycle, kSpare);
    assembler_.alu_64(Alu::kCmp, kCycle, kGuard);
    assembler_.jump_if(Condition::kAbove, limit_exit_);
    assembler_.jump_to({kTables, offsetof(Tables, bodies), kAddress, 8});
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

  /// Expect address and cycle in rsi's and rdx's stead: kAddress and kSpare; a value in kValue.
  void write_device_calls() {
    for (const auto& [label, function] :
         {std::pair{read_device_, offsetof(CompiledContext, read)},
          std::pair{write_device_, offsetof(CompiledContext, write)},
          std::pair{read_far_, offsetof(CompiledContext, read_far)},
          std::pair{write_far_, offsetof(CompiledContext, write_far)}}) {
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

  void stop_at(std::size_t at, Label exit) {
    assembler_.move(kAddress, static_cast<std::uint32_t>(at));
    assembler_.jump(exit);
  }

  /// A jump to it stops in front of an instruction.
  Label stop_label(std::size_t at) {
    stops_.push_back({assembler_.new_label(), at, special_exit_});
    return stops_.back().label;
  }

  void write_check(std::size_t at) {
    assembler_.alu_64(Alu::kCmp, kCycle, kGuard);
    stops_.push_back({assembler_.new_label(), at, limit_exit_});
    assembler_.jump_if(Condition::kAbove, stops_.back().label);
  }

  /// Checks of instructions in the middle of sequences, and what is jumped to seldom.
  void write_late_checks() {
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      const std::size_t at = wanted_[i];
      const auto label = static_cast<Label>(program_.size() + at);
      if (assembler_.is_bound(label)) continue;
      assembler_.bind(label);
      write_check(at);
      assembler_.jump(body(at));
    }
    for (const Stop& stop : stops_) {
      assembler_.bind(stop.label);
      stop_at(stop.at, stop.exit);
    }
  }

  // Sequences -------------------------------------------------------------------------------

  void translate_from(std::size_t at) {
    bool begins_run = true;
    for (;;) {
      if (begins_run) known_ = {};
      const bool relies = relies_on_known(at);
      if (!relies && assembler_.is_bound(body(at))) {
        assembler_.jump(begins_run ? check(at) : body(at));
        return;
      }
      if (begins_run) {
        assembler_.bind(check(at));
        write_check(at);
      }
      if (!relies) {
        known_ = {};  // Not to those who jump here.
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
      } else if (!is_translated(instruction)) {
        write_end(at);
        return;
      } else {
        write_instruction(at, parts);
        begins_run = false;
      }
      at += instruction.length;
    }
  }

  /// Whether the instruction gets shorter by what is known, so that nobody else may jump there.
  bool relies_on_known(std::size_t at) const {
    switch (parts_of(program_[at].plain).what) {
      case What::kBne:
      case What::kBeq:
      case What::kBpl:
      case What::kBmi:
        return known_.nz;
      case What::kBcc:
      case What::kBcs:
        return known_.carry || known_.borrow;
      case What::kAdc:
        return known_.constant == 0;
      case What::kSbc:
        return known_.constant == 1;
      default:
        return false;
    }
  }

  static bool is_translated(const Instruction& instruction) {
    switch (instruction.operation) {
      case Operation::kCountX:
      case Operation::kCountY:
      case Operation::kFillX:
      case Operation::kFillY:
        return false;
      default:
        break;
    }
    switch (parts_of(instruction.plain).what) {
      case What::kNone:
      case What::kPhp:
      case What::kCld:
      case What::kSed:
      case What::kSei:
        return false;
      default:
        return true;
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
        stop_at(at, special_exit_);
    }
  }

  // Jumps -----------------------------------------------------------------------------------

  Condition condition_of(What what) {
    switch (what) {
      case What::kBne:
      case What::kBeq:
        if (!known_.nz) assembler_.test_byte(kNz);
        return what == What::kBeq ? Condition::kEqual : Condition::kNotEqual;
      case What::kBpl:
      case What::kBmi:
        if (known_.nz) return what == What::kBmi ? Condition::kSign : Condition::kNotSign;
        assembler_.test(kNz, kNegativeBits);
        return what == What::kBmi ? Condition::kNotEqual : Condition::kEqual;
      case What::kBcc:
      case What::kBcs: {
        const bool set = what == What::kBcs;
        if (known_.carry) return set ? Condition::kBelow : Condition::kNotBelow;
        if (known_.borrow) return set ? Condition::kNotBelow : Condition::kBelow;
        assembler_.test_byte(kCarry);
        return set ? Condition::kNotEqual : Condition::kEqual;
      }
      default:
        assembler_.test_byte(kOverflow);
        return what == What::kBvs ? Condition::kNotEqual : Condition::kEqual;
    }
  }

  void write_branch(std::size_t at, What what) {
    const Instruction& branch = program_[at];
    const std::int32_t passed = run(at + branch.length);
    const Condition taken = condition_of(what);
    if (branch.operation == Operation::kWaitLoop) {
      assembler_.jump_if(taken, stop_label(at));
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
    assembler_.jump_if(Condition::kNotBelow, stop_label(at));
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
    enter_run();
  }

  void write_jump_indirect(std::size_t at) {
    const std::int32_t low = program_[at].operand;
    const std::int32_t high = (low & 0xFF00) | ((low + 1) & 0xFF);
    assembler_.load_byte(kAddress, {kRam, low & 0x7FF});
    assembler_.load_byte(kSpare, {kRam, high & 0x7FF});
    assembler_.shift_left(kSpare, 8);
    assembler_.alu(Alu::kOr, kAddress, kSpare);
    jump_to_address(at, 0);
    enter_run();
  }

  // Operands --------------------------------------------------------------------------------

  static Operand memory(const Memory& where) { return {Operand::Kind::kMemory, 0, where}; }

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

  /// Reads take a cycle more when index and base are in different pages.
  void add_crossing(const Instruction& instruction, Reg index) {
    const std::int32_t low = instruction.operand & 0xFF;
    if (low == 0) return;
    assembler_.address(kValue, {index, low});
    assembler_.shift_right(kValue, 8);
    assembler_.alu_64(Alu::kAdd, kCycle, kValue);
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
    assembler_.jump_if(Condition::kNotBelow, stop_label(at));
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
    assembler_.jump_if(Condition::kNotBelow, stop_label(at));
    assembler_.alu(Alu::kAnd, kAddress, 0x7FF);
    return memory({kRam, 0, kAddress});
  }

  Operand operand_of(std::size_t at, Where where) {
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
        assembler_.call(read_device_);
        return {Operand::Kind::kRegister};
      default:
        return {Operand::Kind::kRegister};
    }
  }

  /// Devices are reached in the fourth cycle.
  void address_device(std::size_t at) {
    assembler_.address_64(kSpare, {kCycle, 3 - run(at)});
    assembler_.move(kAddress, program_[at].operand);
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

  // Instructions ----------------------------------------------------------------------------

  bool is_live(std::size_t at, std::uint8_t flag) const {
    return (live_[at + program_[at].length] & flag) != 0;
  }

  /// N and Z come from this register. `by_host` says whether the host's flags are theirs.
  void set_nz(std::size_t at, Reg from, bool by_host) {
    if (is_live(at, flags::kNz) && from != kNz) assembler_.move(kNz, from);
    known_.nz = by_host;
  }

  void set_carry(std::size_t at, Condition condition) {
    if (is_live(at, flags::kCarry)) assembler_.set_byte(condition, kCarry);
    known_.carry = condition == Condition::kBelow;
    known_.borrow = !known_.carry;
    known_.constant = -1;
  }

  void carry_to_host() { assembler_.test_bit(kCarry, 0); }

  void write_instruction(std::size_t at, Parts parts) {
    switch (parts.what) {
      case What::kSta:
        return write_store(at, parts.where, kA);
      case What::kStx:
        return write_store(at, parts.where, kX);
      case What::kSty:
        return write_store(at, parts.where, kY);
      case What::kAsl:
      case What::kLsr:
      case What::kRol:
      case What::kRor:
      case What::kInc:
      case What::kDec:
        return write_modify(at, parts);
      default:
        break;
    }
    if (parts.where == Where::kImplied) return write_implied(at, parts.what);
    if (parts.where == Where::kFax) return write_far_read(at, kX);
    if (parts.where == Where::kFay) return write_far_read(at, kY);
    const Operand operand = operand_of(at, parts.where);
    known_.forget_host();
    write_read(at, parts.what, operand);
  }

  void write_store(std::size_t at, Where where, Reg from) {
    if (where == Where::kRam) {
      assembler_.store_byte({kRam, program_[at].operand}, from);
      return;
    }
    known_.forget_host();
    if (where == Where::kDevice) {
      address_device(at);
      assembler_.move(kValue, from);
      assembler_.call(write_device_);
      return;
    }
    if (where == Where::kFax || where == Where::kFay) {
      address_far(at, where == Where::kFax ? kX : kY, 4);
      assembler_.move(kValue, from);
      call_far(at, write_far_);
      return;
    }
    assembler_.store_byte(operand_of(at, where).memory, from);
  }

  /// Tables that reach a device, or wrap at the end of memory.
  void write_far_read(std::size_t at, Reg index) {
    known_.forget_host();
    address_far(at, index, 3);
    call_far(at, read_far_);
    assembler_.move(kA, kValue);
    add_crossing(program_[at], index);
    set_nz(at, kA, false);
  }

  void address_far(std::size_t at, Reg index, int cycle) {
    assembler_.address_64(kSpare, {kCycle, cycle - run(at)});
    assembler_.move(kAddress, index);
    assembler_.shift_left(kAddress, 16);
    assembler_.alu(Alu::kOr, kAddress, program_[at].operand);
  }

  void call_far(std::size_t at, Label function) {
    assembler_.call(function);
    assembler_.alu(Alu::kCmp, kValue, 0);
    assembler_.jump_if(Condition::kSign, stop_label(at));
  }

  void write_read(std::size_t at, What what, const Operand& operand) {
    switch (what) {
      case What::kLda:
        load(kA, operand);
        return set_nz(at, kA, false);
      case What::kLdx:
        load(kX, operand);
        return set_nz(at, kX, false);
      case What::kLdy:
        load(kY, operand);
        return set_nz(at, kY, false);
      case What::kOra:
        alu(Alu::kOr, kA, operand);
        return set_nz(at, kA, true);
      case What::kAnd:
        alu(Alu::kAnd, kA, operand);
        return set_nz(at, kA, true);
      case What::kEor:
        alu(Alu::kXor, kA, operand);
        return set_nz(at, kA, true);
      case What::kAdc:
      case What::kSbc:
        return write_sum(at, what == What::kSbc, operand);
      case What::kCmp:
        return write_compare(at, kA, operand);
      case What::kCpx:
        return write_compare(at, kX, operand);
      case What::kCpy:
        return write_compare(at, kY, operand);
      default:
        return write_bit(at, operand);
    }
  }

  /// The 6502's carry is the opposite of the host's borrow.
  void write_sum(std::size_t at, bool subtract, const Operand& operand) {
    if (known_.constant == (subtract ? 1 : 0)) {
      alu(subtract ? Alu::kSub : Alu::kAdd, kA, operand);
    } else if (subtract) {
      assembler_.alu_byte(Alu::kCmp, kCarry, std::uint8_t{1});
      alu(Alu::kSbb, kA, operand);
    } else {
      carry_to_host();
      alu(Alu::kAdc, kA, operand);
    }
    if (is_live(at, flags::kOverflow)) assembler_.set_byte(Condition::kOverflow, kOverflow);
    set_carry(at, subtract ? Condition::kNotBelow : Condition::kBelow);
    set_nz(at, kA, true);
  }

  void write_compare(std::size_t at, Reg with, const Operand& operand) {
    const bool live = is_live(at, flags::kNz);
    if (live) assembler_.move(kNz, with);
    alu(live ? Alu::kSub : Alu::kCmp, live ? kNz : with, operand);
    set_carry(at, Condition::kNotBelow);
    known_.nz = true;
  }

  void write_bit(std::size_t at, const Operand& operand) {
    load(kValue, operand);
    if (is_live(at, flags::kNz)) {
      assembler_.move(kNz, kValue);
      assembler_.alu(Alu::kAnd, kNz, 0x80);
      assembler_.shift_left(kNz, 8);
      assembler_.move(kSpare, kValue);
      assembler_.alu(Alu::kAnd, kSpare, kA);
      assembler_.alu(Alu::kOr, kNz, kSpare);
    }
    if (is_live(at, flags::kOverflow)) {
      assembler_.move(kOverflow, kValue);
      assembler_.alu(Alu::kAnd, kOverflow, 0x40);
    }
  }

  void write_modify(std::size_t at, Parts parts) {
    const Memory cell = operand_of(at, parts.where).memory;
    known_.forget_host();
    assembler_.load_byte(kValue, cell);
    switch (parts.what) {
      case What::kInc:
        assembler_.increment_byte(kValue);
        break;
      case What::kDec:
        assembler_.decrement_byte(kValue);
        break;
      default:
        write_shift(at, parts.what, kValue);
    }
    assembler_.store_byte(cell, kValue);
    set_nz(at, kValue, parts.what != What::kRor);
  }

  void write_shift(std::size_t at, What what, Reg value) {
    switch (what) {
      case What::kAsl:
        assembler_.shift_byte(Shift::kLeft, value);
        break;
      case What::kLsr:
        assembler_.shift_byte(Shift::kRight, value);
        break;
      case What::kRol:
        carry_to_host();
        assembler_.alu_byte(Alu::kAdc, value, value);
        break;
      default:
        carry_to_host();
        assembler_.shift_byte(Shift::kRotateRightCarry, value);
    }
    set_carry(at, Condition::kBelow);
  }

  void shift_a(std::size_t at, What what) {
    known_.forget_host();
    write_shift(at, what, kA);
    set_nz(at, kA, what != What::kRor);
  }

  void step(std::size_t at, Reg reg, bool up) {
    known_.forget_host();
    up ? assembler_.increment_byte(reg) : assembler_.decrement_byte(reg);
    set_nz(at, reg, true);
  }

  void transfer(std::size_t at, Reg to, Reg from) {
    assembler_.move(to, from);
    set_nz(at, to, false);
  }

  /// The carry need not be stored if nobody but the next instruction looks, which knows it.
  void set_constant_carry(std::size_t at, int value) {
    const std::size_t next = at + program_[at].length;
    const What taker = parts_of(program_[next].plain).what;
    const bool known = taker == (value == 0 ? What::kAdc : What::kSbc) && !may_stop(program_[next]);
    if (is_live(at, flags::kCarry) && !known) {
      assembler_.move(kCarry, static_cast<std::uint32_t>(value));
    }
    known_.carry = known_.borrow = false;
    known_.constant = value;
  }

  void write_implied(std::size_t at, What what) {
    switch (what) {
      case What::kAslA:
        return shift_a(at, What::kAsl);
      case What::kLsrA:
        return shift_a(at, What::kLsr);
      case What::kRolA:
        return shift_a(at, What::kRol);
      case What::kRorA:
        return shift_a(at, What::kRor);
      case What::kPha:
        known_.forget_host();
        assembler_.store_byte({kRam, kStackPage, kStack}, kA);
        return assembler_.decrement_byte(kStack);
      case What::kPla:
        known_.forget_host();
        assembler_.increment_byte(kStack);
        assembler_.load_byte(kA, {kRam, kStackPage, kStack});
        return set_nz(at, kA, false);
      case What::kTax:
        return transfer(at, kX, kA);
      case What::kTay:
        return transfer(at, kY, kA);
      case What::kTxa:
        return transfer(at, kA, kX);
      case What::kTya:
        return transfer(at, kA, kY);
      case What::kTsx:
        return transfer(at, kX, kStack);
      case What::kTxs:
        return assembler_.move(kStack, kX);
      case What::kInx:
        return step(at, kX, true);
      case What::kIny:
        return step(at, kY, true);
      case What::kDex:
        return step(at, kX, false);
      case What::kDey:
        return step(at, kY, false);
      case What::kClc:
        return set_constant_carry(at, 0);
      case What::kSec:
        return set_constant_carry(at, 1);
      case What::kClv:
        return assembler_.move(kOverflow, 0u);
      default:
        return;  // NOP.
    }
  }

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
  static constexpr std::int32_t kProgramOffset = offsetof(Tables, program);

  const DecodedProgram& program_;
  const std::vector<std::uint8_t> live_;
  Assembler assembler_;
  const Label limit_exit_, special_exit_, read_device_, write_device_, read_far_, write_far_;
  Known known_;
  std::vector<std::size_t> wanted_;  ///< Instructions whose check is jumped to.
  std::vector<Stop> stops_;
};

}  // namespace

Translation translate(const DecodedProgram& program) { return Translator(program).translate(); }

}  // namespace warpzone::nes::x64
