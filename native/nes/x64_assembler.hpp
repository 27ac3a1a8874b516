/// Machine code for 64-bit x86: just the instructions that the translator needs, as bytes.
///
/// Jumps go to labels that may be bound later; `link` fills in the distances.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace warpzone::nes::x64 {

/// Registers by their number in the encoding.
enum class Reg : std::uint8_t {
  kRax,
  kRcx,
  kRdx,
  kRbx,
  kRsp,
  kRbp,
  kRsi,
  kRdi,
  kR8,
  kR9,
  kR10,
  kR11,
  kR12,
  kR13,
  kR14,
  kR15
};

/// base + index * scale + offset. The index is left out if it is kRsp, which cannot be one.
struct Memory {
  Reg base;
  std::int32_t offset = 0;
  Reg index = Reg::kRsp;
  std::uint8_t scale = 1;
};

/// Operations of two operands; the number is that of the encoding.
enum class Alu : std::uint8_t { kAdd, kOr, kAdc, kSbb, kAnd, kSub, kXor, kCmp };
/// Shifts by one bit.
enum class Shift : std::uint8_t { kRotateRightCarry = 3, kLeft = 4, kRight = 5 };
enum class Condition : std::uint8_t {
  kOverflow = 0x0,
  kBelow = 0x2,
  kNotBelow = 0x3,
  kEqual = 0x4,
  kNotEqual = 0x5,
  kAbove = 0x7,
  kSign = 0x8,
  kNotSign = 0x9
};

/// Number of a label.
using Label = std::uint32_t;

class Assembler {
 public:
  explicit Assembler(std::size_t labels) : places_(labels, kUnbound) {}

  Label new_label();
  void bind(Label label) { places_[label] = code_.size(); }
  bool is_bound(Label label) const { return places_[label] != kUnbound; }
  /// Distance of a bound label from the beginning of the code.
  std::size_t place(Label label) const { return places_[label]; }
  /// Fills in the jumps and returns the code. All labels that are jumped to must be bound.
  std::vector<std::uint8_t> link();

  // 32-bit operations clear the upper half of the register.
  void move(Reg to, Reg from) { plain(0x8B, to, from); }
  void move(Reg to, std::uint32_t value);
  void move_64(Reg to, Reg from) { plain(0x8B, to, from, true); }
  void load_byte(Reg to, const Memory& from) { in_memory({0x0F, 0xB6}, to, from); }
  void load_word(Reg to, const Memory& from) { in_memory({0x0F, 0xB7}, to, from); }
  void load(Reg to, const Memory& from) { in_memory({0x8B}, to, from); }
  void load_64(Reg to, const Memory& from) { in_memory({0x8B}, to, from, true); }
  void store_byte(const Memory& to, Reg from) { in_memory({0x88}, from, to, false, true); }
  void store_byte(const Memory& to, std::uint8_t value);
  void store(const Memory& to, Reg from) { in_memory({0x89}, from, to); }
  void store_64(const Memory& to, Reg from) { in_memory({0x89}, from, to, true); }
  void address(Reg to, const Memory& of) { in_memory({0x8D}, to, of); }
  void address_64(Reg to, const Memory& of) { in_memory({0x8D}, to, of, true); }
  void extend_byte(Reg to, Reg from);
  void extend_word(Reg to, Reg from);

  void alu(Alu operation, Reg to, Reg from) { plain(alu_code(operation) | 3, to, from); }
  void alu(Alu operation, Reg to, std::int32_t value) { alu_value(operation, to, value, false); }
  void alu_64(Alu operation, Reg to, Reg from) { plain(alu_code(operation) | 3, to, from, true); }
  void alu_64(Alu operation, Reg to, std::int32_t value) { alu_value(operation, to, value, true); }
  void alu_byte(Alu operation, Reg to, Reg from);
  void alu_byte(Alu operation, Reg to, std::uint8_t value);
  void alu_byte(Alu operation, Reg to, const Memory& from);
  void shift_byte(Shift shift, Reg value);
  void shift_left(Reg value, std::uint8_t bits) { shift_by(4, value, bits); }
  void shift_right(Reg value, std::uint8_t bits) { shift_by(5, value, bits); }
  void increment_byte(Reg value) { byte_group({0xFE}, 0, value); }
  void decrement_byte(Reg value) { byte_group({0xFE}, 1, value); }
  void test_byte(Reg value);
  void test(Reg value, std::uint32_t bits);
  /// Copies a bit into the host's carry.
  void test_bit(Reg value, std::uint8_t bit);
  void set_byte(Condition condition, Reg to);

  void push(Reg value);
  void pop(Reg value);
  void jump(Label label);
  void jump_if(Condition condition, Label label);
  void jump_to(const Memory& pointer) { in_memory({0xFF}, Reg::kRsp, pointer); }  // FF /4
  void call(Label label);
  void call_to(const Memory& pointer) { in_memory({0xFF}, Reg::kRdx, pointer); }  // FF /2
  void ret() { byte(0xC3); }

 private:
  static constexpr std::size_t kUnbound = ~std::size_t{0};
  struct Jump {
    std::size_t place;  ///< Of the distance, four bytes before the end of the instruction.
    Label label;
  };

  static std::uint8_t alu_code(Alu operation) {
    return static_cast<std::uint8_t>(static_cast<unsigned>(operation) << 3);
  }
  void byte(unsigned value) { code_.push_back(static_cast<std::uint8_t>(value)); }
  void word_32(std::uint32_t value);
  void prefix(Reg reg, Reg index, Reg base, bool wide, bool bytes);
  void plain(std::uint8_t opcode, Reg reg, Reg other, bool wide = false, bool bytes = false);
  void in_memory(std::initializer_list<std::uint8_t> opcode, Reg reg, const Memory& memory,
                 bool wide = false, bool bytes = false);
  void byte_group(std::initializer_list<std::uint8_t> opcode, unsigned number, Reg value);
  void alu_value(Alu operation, Reg to, std::int32_t value, bool wide);
  void shift_by(unsigned number, Reg value, std::uint8_t bits);
  void distance_to(Label label);

  std::vector<std::uint8_t> code_;
  std::vector<std::size_t> places_;
  std::vector<Jump> jumps_;
};

}  // namespace warpzone::nes::x64
