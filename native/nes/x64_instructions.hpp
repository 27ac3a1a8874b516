/// What instructions do, as machine code. Jumps are for the translator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "nes/flag_liveness.hpp"
#include "nes/instruction_parts.hpp"
#include "nes/packed_flags.hpp"
#include "nes/program.hpp"
#include "nes/x64_assembler.hpp"
#include "nes/x64_frame.hpp"
#include "nes/x64_operands.hpp"

namespace warpzone::nes::x64 {

inline constexpr std::int32_t kStackPage = 0x100;

/// Writes instruction after instruction and remembers what is known about flags in between.
class Instructions {
 public:
  Instructions(Assembler& assembler, Frame& frame, const DecodedProgram& program)
      : assembler_(assembler),
        frame_(frame),
        program_(program),
        live_(live_flags(program)),
        operands_(assembler, frame, program) {}

  /// Nothing is known where others jump to.
  void forget() { known_ = {}; }

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

  void write(std::size_t at) {
    const Parts parts = parts_of(program_[at].plain);
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
    const Operand operand = operands_.find(at, parts.where);
    known_.forget_host();
    write_read(at, parts.what, operand);
  }

  /// The host's condition on which a branch is taken.
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

 private:
  struct Known {
    bool nz = false;      ///< The host's zero and sign flags are N and Z.
    bool carry = false;   ///< The host's carry is the carry.
    bool borrow = false;  ///< The host's carry is the opposite of the carry.
    int constant = -1;    ///< Value of the carry.

    void forget_host() { nz = carry = borrow = false; }
  };

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

  void write_store(std::size_t at, Where where, Reg from) {
    if (where == Where::kRam) {
      assembler_.store_byte({kRam, program_[at].operand}, from);
      return;
    }
    known_.forget_host();
    if (where == Where::kDevice) {
      operands_.address_device(at);
      assembler_.move(kValue, from);
      assembler_.call(frame_.write_device);
      return;
    }
    if (where == Where::kFax || where == Where::kFay) {
      operands_.address_far(at, where == Where::kFax ? kX : kY, 4);
      assembler_.move(kValue, from);
      call_far(at, frame_.write_far);
      return;
    }
    assembler_.store_byte(operands_.find(at, where).memory, from);
  }

  /// Tables that reach a device, or wrap at the end of memory.
  void write_far_read(std::size_t at, Reg index) {
    known_.forget_host();
    operands_.address_far(at, index, 3);
    call_far(at, frame_.read_far);
    assembler_.move(kA, kValue);
    operands_.add_crossing(program_[at], index);
    set_nz(at, kA, false);
  }

  void call_far(std::size_t at, Label function) {
    assembler_.call(function);
    assembler_.alu(Alu::kCmp, kValue, 0);
    assembler_.jump_if(Condition::kSign, frame_.stop_label(at));
  }

  void write_read(std::size_t at, What what, const Operand& operand) {
    switch (what) {
      case What::kLda:
        operands_.load(kA, operand);
        return set_nz(at, kA, false);
      case What::kLdx:
        operands_.load(kX, operand);
        return set_nz(at, kX, false);
      case What::kLdy:
        operands_.load(kY, operand);
        return set_nz(at, kY, false);
      case What::kOra:
        operands_.alu(Alu::kOr, kA, operand);
        return set_nz(at, kA, true);
      case What::kAnd:
        operands_.alu(Alu::kAnd, kA, operand);
        return set_nz(at, kA, true);
      case What::kEor:
        operands_.alu(Alu::kXor, kA, operand);
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
      operands_.alu(subtract ? Alu::kSub : Alu::kAdd, kA, operand);
    } else if (subtract) {
      assembler_.alu_byte(Alu::kCmp, kCarry, std::uint8_t{1});
      operands_.alu(Alu::kSbb, kA, operand);
    } else {
      carry_to_host();
      operands_.alu(Alu::kAdc, kA, operand);
    }
    if (is_live(at, flags::kOverflow)) assembler_.set_byte(Condition::kOverflow, kOverflow);
    set_carry(at, subtract ? Condition::kNotBelow : Condition::kBelow);
    set_nz(at, kA, true);
  }

  void write_compare(std::size_t at, Reg with, const Operand& operand) {
    const bool live = is_live(at, flags::kNz);
    if (live) assembler_.move(kNz, with);
    operands_.alu(live ? Alu::kSub : Alu::kCmp, live ? kNz : with, operand);
    set_carry(at, Condition::kNotBelow);
    known_.nz = true;
  }

  void write_bit(std::size_t at, const Operand& operand) {
    operands_.load(kValue, operand);
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
    const Memory cell = operands_.find(at, parts.where).memory;
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

  Assembler& assembler_;
  Frame& frame_;
  const DecodedProgram& program_;
  const std::vector<std::uint8_t> live_;
  Operands operands_;
  Known known_;
};

}  // namespace warpzone::nes::x64
