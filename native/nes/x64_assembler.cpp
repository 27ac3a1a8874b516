#include "nes/x64_assembler.hpp"

namespace warpzone::nes::x64 {
namespace {

unsigned low(Reg reg) { return static_cast<unsigned>(reg) & 7; }
unsigned high(Reg reg) { return static_cast<unsigned>(reg) >> 3; }
bool is_small(std::int32_t value) { return value >= -128 && value < 128; }

}  // namespace

Label Assembler::new_label() {
  places_.push_back(kUnbound);
  return static_cast<Label>(places_.size() - 1);
}

std::vector<std::uint8_t> Assembler::link() {
  for (const Jump& jump : jumps_) {
    const auto distance = static_cast<std::uint32_t>(places_[jump.label] - (jump.place + 4));
    for (unsigned i = 0; i < 4; ++i) {
      code_[jump.place + i] = static_cast<std::uint8_t>(distance >> (8 * i));
    }
  }
  jumps_.clear();
  return std::move(code_);
}

void Assembler::word_32(std::uint32_t value) {
  for (unsigned i = 0; i < 4; ++i) byte(value >> (8 * i) & 0xFF);
}

/// REX. Bytes of the registers 4 to 7 need it even if it is empty.
void Assembler::prefix(Reg reg, Reg index, Reg base, bool wide, bool bytes) {
  const unsigned bits = (wide ? 8u : 0u) | high(reg) << 2 | high(index) << 1 | high(base);
  if (bits != 0 || bytes) byte(0x40 | bits);
}

void Assembler::plain(std::uint8_t opcode, Reg reg, Reg other, bool wide, bool bytes) {
  prefix(reg, Reg::kRax, other, wide, bytes);
  byte(opcode);
  byte(0xC0 | low(reg) << 3 | low(other));
}

void Assembler::in_memory(std::initializer_list<std::uint8_t> opcode, Reg reg, const Memory& memory,
                          bool wide, bool bytes) {
  prefix(reg, memory.index, memory.base, wide, bytes);
  for (const std::uint8_t part : opcode) byte(part);
  const bool small = is_small(memory.offset);
  const bool indexed = memory.index != Reg::kRsp || low(memory.base) == low(Reg::kRsp);
  byte((small ? 0x40u : 0x80u) | low(reg) << 3 | (indexed ? 4u : low(memory.base)));
  if (indexed) {
    const unsigned scale = memory.scale == 8   ? 3
                           : memory.scale == 4 ? 2
                           : memory.scale == 2 ? 1
                                               : 0;
    byte(scale << 6 | low(memory.index) << 3 | low(memory.base));
  }
  if (small) {
    byte(static_cast<unsigned>(memory.offset) & 0xFF);
  } else {
    word_32(static_cast<std::uint32_t>(memory.offset));
  }
}

void Assembler::byte_group(std::initializer_list<std::uint8_t> opcode, unsigned number, Reg value) {
  prefix(Reg::kRax, Reg::kRax, value, false, true);
  for (const std::uint8_t part : opcode) byte(part);
  byte(0xC0 | number << 3 | low(value));
}

void Assembler::move(Reg to, std::uint32_t value) {
  if (high(to) != 0) byte(0x41);
  byte(0xB8 | low(to));
  word_32(value);
}

void Assembler::store_byte(const Memory& to, std::uint8_t value) {
  in_memory({0xC6}, Reg::kRax, to);
  byte(value);
}

void Assembler::extend_byte(Reg to, Reg from) {
  prefix(to, Reg::kRax, from, false, true);
  byte(0x0F);
  byte(0xB6);
  byte(0xC0 | low(to) << 3 | low(from));
}

void Assembler::extend_word(Reg to, Reg from) {
  prefix(to, Reg::kRax, from, false, false);
  byte(0x0F);
  byte(0xB7);
  byte(0xC0 | low(to) << 3 | low(from));
}

void Assembler::alu_byte(Alu operation, Reg to, Reg from) {
  plain(alu_code(operation) | 2, to, from, false, true);
}

void Assembler::alu_byte(Alu operation, Reg to, std::uint8_t value) {
  byte_group({0x80}, static_cast<unsigned>(operation), to);
  byte(value);
}

void Assembler::alu_byte(Alu operation, Reg to, const Memory& from) {
  in_memory({static_cast<std::uint8_t>(alu_code(operation) | 2)}, to, from, false, true);
}

void Assembler::alu_value(Alu operation, Reg to, std::int32_t value, bool wide) {
  prefix(Reg::kRax, Reg::kRax, to, wide, false);
  byte(is_small(value) ? 0x83 : 0x81);
  byte(0xC0 | static_cast<unsigned>(operation) << 3 | low(to));
  if (is_small(value)) {
    byte(static_cast<unsigned>(value) & 0xFF);
  } else {
    word_32(static_cast<std::uint32_t>(value));
  }
}

void Assembler::shift_byte(Shift shift, Reg value) {
  byte_group({0xD0}, static_cast<unsigned>(shift), value);
}

void Assembler::shift_by(unsigned number, Reg value, std::uint8_t bits) {
  prefix(Reg::kRax, Reg::kRax, value, false, false);
  byte(0xC1);
  byte(0xC0 | number << 3 | low(value));
  byte(bits);
}

void Assembler::test_byte(Reg value) { plain(0x84, value, value, false, true); }

void Assembler::test(Reg value, std::uint32_t bits) {
  prefix(Reg::kRax, Reg::kRax, value, false, false);
  byte(0xF7);
  byte(0xC0 | low(value));
  word_32(bits);
}

void Assembler::test_bit(Reg value, std::uint8_t bit) {
  prefix(Reg::kRax, Reg::kRax, value, false, false);
  byte(0x0F);
  byte(0xBA);
  byte(0xC0 | 4u << 3 | low(value));
  byte(bit);
}

void Assembler::set_byte(Condition condition, Reg to) {
  byte_group({0x0F, static_cast<std::uint8_t>(0x90 | static_cast<unsigned>(condition))}, 0, to);
}

void Assembler::push(Reg value) {
  if (high(value) != 0) byte(0x41);
  byte(0x50 | low(value));
}

void Assembler::pop(Reg value) {
  if (high(value) != 0) byte(0x41);
  byte(0x58 | low(value));
}

void Assembler::distance_to(Label label) {
  jumps_.push_back({code_.size(), label});
  word_32(0);
}

void Assembler::jump(Label label) {
  byte(0xE9);
  distance_to(label);
}

void Assembler::jump_if(Condition condition, Label label) {
  byte(0x0F);
  byte(0x80 | static_cast<unsigned>(condition));
  distance_to(label);
}

void Assembler::call(Label label) {
  byte(0xE8);
  distance_to(label);
}

}  // namespace warpzone::nes::x64
