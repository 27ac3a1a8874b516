/// The literal processor: every bus access of every cycle, in order, dummy accesses included.
#include "nes/alu.hpp"
#include "nes/machine.hpp"

namespace warpzone::nes {

class Cpu {
 public:
  explicit Cpu(Machine& machine) : m_(machine), r_(machine.state.cpu) {}

  void execute();
  void enter_interrupt(bool software);
  bool interrupt_polled() const {
    const InterruptState& i = m_.state.interrupts;
    return (i.nmi_latched_before | i.irq_seen_before) != 0;
  }
  bool service() const { return service_; }

 private:
  using Byte = std::uint8_t;
  using Word = std::uint16_t;
  enum class Access { kRead, kWrite };

  static Byte low(int value) { return static_cast<Byte>(value); }
  static Word word(int value) { return static_cast<Word>(value); }

  // Bus.
  Byte read(int address) { return m_.read(word(address)); }
  void write(int address, Byte value) { m_.write(word(address), value); }
  Byte fetch() { return read(r_.pc++); }
  void push(Byte value) { write(0x100 | r_.sp--, value); }
  Byte pop() { return read(0x100 | ++r_.sp); }

  // Flags.
  bool has(Byte bit) const { return (r_.p & bit) != 0; }
  unsigned carry() const { return r_.p & flag::kCarry; }
  void put(Byte bit, bool on) { r_.p = low(on ? r_.p | bit : r_.p & ~bit); }
  Byte set_nz(Byte value) {
    put(flag::kZero, value == 0);
    put(flag::kNegative, (value & 0x80) != 0);
    return value;
  }

  // Addressing modes: the effective address, after all cycles that come before the access itself.
  int zero_page() { return fetch(); }
  int zero_page_indexed(Byte index) {
    const Byte base = fetch();
    read(base);
    return low(base + index);
  }
  int absolute() {
    const int first = fetch();
    return first | fetch() << 8;
  }
  int indexed(int base, Byte index, Access access) {
    const int address = word(base + index);
    // The first try lacks the carry into the high byte; a write never trusts it.
    if (access == Access::kWrite || (base ^ address) > 0xFF) {
      read((base & 0xFF00) | (address & 0xFF));
    }
    return address;
  }
  int absolute_indexed(Byte index, Access access) { return indexed(absolute(), index, access); }
  int pointer(Byte at) {
    const int first = read(at);
    return first | read(low(at + 1)) << 8;
  }
  int indexed_indirect() {
    const Byte base = fetch();
    read(base);
    return pointer(low(base + r_.x));
  }
  int indirect_indexed(Access access) { return indexed(pointer(fetch()), r_.y, access); }

  // Operations.
  void ora(Byte v) { r_.a = set_nz(r_.a | v); }
  void and_(Byte v) { r_.a = set_nz(r_.a & v); }
  void eor(Byte v) { r_.a = set_nz(r_.a ^ v); }
  void take(const alu::Sum& sum) {
    put(flag::kCarry, sum.carry != 0);
    put(flag::kOverflow, sum.overflow != 0);
    r_.a = set_nz(sum.value);
  }
  void adc(Byte v) { take(alu::add(r_.a, v, carry())); }
  void sbc(Byte v) { take(alu::subtract(r_.a, v, carry())); }
  void compare(Byte reg, Byte v) {
    const alu::Sum difference = alu::subtract(reg, v, 1);
    put(flag::kCarry, difference.carry != 0);
    set_nz(difference.value);
  }
  void bit(Byte v) {
    put(flag::kZero, (r_.a & v) == 0);
    put(flag::kNegative, (v & 0x80) != 0);
    put(flag::kOverflow, (v & 0x40) != 0);
  }
  Byte take(const alu::Shifted& shifted) {
    put(flag::kCarry, shifted.carry != 0);
    return set_nz(shifted.value);
  }
  Byte asl(Byte v) { return take(alu::shift_left(v, 0)); }
  Byte lsr(Byte v) { return take(alu::shift_right(v, 0)); }
  Byte rol(Byte v) { return take(alu::shift_left(v, carry())); }
  Byte ror(Byte v) { return take(alu::shift_right(v, carry())); }
  Byte inc(Byte v) { return set_nz(low(v + 1)); }
  Byte dec(Byte v) { return set_nz(low(v - 1)); }

  /// Read, write back unchanged, write the result: three cycles on the bus.
  template <typename Operation>
  void modify(int address, Operation operation) {
    const Byte value = read(address);
    write(address, value);
    write(address, operation(value));
  }

  void branch(bool taken);
  void decode_regular(Byte opcode);
  bool decode_special(Byte opcode);
  int operand_address(Byte opcode, Access access);
  void unofficial_immediate(Byte opcode);
  void store_high_and(int base, Byte index, Byte value);

  Machine& m_;
  CpuRegisters& r_;
  bool service_decided_ = false;
  bool service_ = false;

  friend class Machine;
};

void Cpu::branch(bool taken) {
  const auto offset = static_cast<std::int8_t>(fetch());
  service_decided_ = true;
  service_ = interrupt_polled();
  if (!taken) return;
  read(r_.pc);  // This cycle does not poll for interrupts.
  const Word target = word(r_.pc + offset);
  if (((target ^ r_.pc) & 0xFF00) != 0) {
    read((r_.pc & 0xFF00) | (target & 0xFF));
    service_ = service_ || interrupt_polled();
  }
  r_.pc = target;
}

void Cpu::enter_interrupt(bool software) {
  InterruptState& i = m_.state.interrupts;
  if (!software) {
    read(r_.pc);
    read(r_.pc);
  }
  push(low(r_.pc >> 8));
  push(low(r_.pc));
  // Which vector is taken is decided only now: a late NMI takes over an entry under way.
  const bool nmi = i.nmi_latched != 0;
  if (nmi) i.nmi_latched = 0;
  push(low(r_.p | flag::kUnused | (software ? flag::kBreak : 0)));
  put(flag::kInterrupt, true);
  const int vector = nmi ? 0xFFFA : 0xFFFE;
  const int first = read(vector);
  r_.pc = word(first | read(vector + 1) << 8);
}

/// Opcodes of the form aaabbbcc: bbb is the addressing mode for cc = 1, 2, 3 and most of cc = 0.
int Cpu::operand_address(Byte opcode, Access access) {
  const bool by_y = (opcode & 0xC0) == 0x80 && (opcode & 2) != 0;  // STX, LDX and kin.
  switch ((opcode >> 2) & 7) {
    case 0:
      return indexed_indirect();
    case 1:
      return zero_page();
    case 3:
      return absolute();
    case 4:
      return indirect_indexed(access);
    case 5:
      return zero_page_indexed(by_y ? r_.y : r_.x);
    case 6:
      return absolute_indexed(r_.y, access);
    default:
      return absolute_indexed(by_y ? r_.y : r_.x, access);
  }
}

void Cpu::store_high_and(int base, Byte index, Byte value) {
  // SHX, SHY, SHA, TAS: the value is ANDed with the high byte plus one, and on a page crossing it
  // also becomes the high byte of the address.
  const int address = word(base + index);
  read((base & 0xFF00) | (address & 0xFF));
  const Byte stored = low(value & ((base >> 8) + 1));
  const bool crossed = ((base ^ address) & 0xFF00) != 0;
  write(crossed ? (address & 0xFF) | stored << 8 : address, stored);
}

void Cpu::unofficial_immediate(Byte opcode) {
  const Byte v = fetch();
  switch (opcode) {
    case 0x0B:
    case 0x2B:  // ANC
      and_(v);
      put(flag::kCarry, (r_.a & 0x80) != 0);
      break;
    case 0x4B:  // ALR
      and_(v);
      r_.a = lsr(r_.a);
      break;
    case 0x6B:  // ARR
      and_(v);
      r_.a = set_nz(low(r_.a >> 1 | carry() << 7));
      put(flag::kCarry, (r_.a & 0x40) != 0);
      put(flag::kOverflow, (((r_.a >> 6) ^ (r_.a >> 5)) & 1) != 0);
      break;
    case 0x8B:  // XAA, unstable
      r_.a = set_nz(low((r_.a | 0xEE) & r_.x & v));
      break;
    case 0xAB:  // LXA, unstable
      r_.a = r_.x = set_nz(v);
      break;
    case 0xCB: {  // SBX
      const Byte both = r_.a & r_.x;
      put(flag::kCarry, both >= v);
      r_.x = set_nz(low(both - v));
      break;
    }
    default:  // 0xEB, SBC
      sbc(v);
      break;
  }
}

bool Cpu::decode_special(Byte opcode) {
  switch (opcode) {
    case 0x00:
      fetch();
      enter_interrupt(true);
      // The entry polls nothing: the handler's first instruction always runs.
      service_decided_ = true;
      return true;
    case 0x20: {
      const Byte first = fetch();
      read(0x100 | r_.sp);
      push(low(r_.pc >> 8));
      push(low(r_.pc));
      r_.pc = word(first | read(r_.pc) << 8);
      return true;
    }
    case 0x40: {
      read(r_.pc);
      read(0x100 | r_.sp);
      r_.p = low((pop() & ~flag::kBreak) | flag::kUnused);
      const int first = pop();
      r_.pc = word(first | pop() << 8);
      return true;
    }
    case 0x60: {
      read(r_.pc);
      read(0x100 | r_.sp);
      const int first = pop();
      r_.pc = word(first | pop() << 8);
      read(r_.pc++);
      return true;
    }
    case 0x4C:
      r_.pc = word(absolute());
      return true;
    case 0x6C: {
      const int at = absolute();
      const int first = read(at);
      r_.pc = word(first | read((at & 0xFF00) | low(at + 1)) << 8);  // Never leaves the page.
      return true;
    }
    case 0x08:
      read(r_.pc);
      push(low(r_.p | flag::kBreak | flag::kUnused));
      return true;
    case 0x28:
      read(r_.pc);
      read(0x100 | r_.sp);
      r_.p = low((pop() & ~flag::kBreak) | flag::kUnused);
      return true;
    case 0x48:
      read(r_.pc);
      push(r_.a);
      return true;
    case 0x68:
      read(r_.pc);
      read(0x100 | r_.sp);
      r_.a = set_nz(pop());
      return true;
    case 0x10:
    case 0x30:
    case 0x50:
    case 0x70:
    case 0x90:
    case 0xB0:
    case 0xD0:
    case 0xF0: {
      constexpr Byte kTested[4] = {flag::kNegative, flag::kOverflow, flag::kCarry, flag::kZero};
      branch(has(kTested[opcode >> 6]) == ((opcode & 0x20) != 0));
      return true;
    }
      // clang-format off
    case 0x02: case 0x12: case 0x22: case 0x32: case 0x42: case 0x52:
    case 0x62: case 0x72: case 0x92: case 0xB2: case 0xD2: case 0xF2:
      // clang-format on
      read(r_.pc);
      r_.jammed = 1;
      return true;
    case 0x93:
      store_high_and(pointer(fetch()), r_.y, r_.a & r_.x);
      return true;
    case 0x9B:
      r_.sp = r_.a & r_.x;
      store_high_and(absolute(), r_.y, r_.sp);
      return true;
    case 0x9C:
      store_high_and(absolute(), r_.x, r_.y);
      return true;
    case 0x9E:
      store_high_and(absolute(), r_.y, r_.x);
      return true;
    case 0x9F:
      store_high_and(absolute(), r_.y, r_.a & r_.x);
      return true;
    case 0xBB:  // LAS
      r_.a = r_.x = r_.sp = set_nz(read(absolute_indexed(r_.y, Access::kRead)) & r_.sp);
      return true;
    default:
      break;
  }
  // One-byte instructions: two cycles, the second reads and drops the next byte.
  const bool implied = (opcode & 0x0F) == 0x08 || (opcode & 0x0F) == 0x0A;
  if (!implied) return false;
  read(r_.pc);
  switch (opcode) {
      // clang-format off
    case 0x0A: r_.a = asl(r_.a); break;
    case 0x2A: r_.a = rol(r_.a); break;
    case 0x4A: r_.a = lsr(r_.a); break;
    case 0x6A: r_.a = ror(r_.a); break;
    case 0x18: put(flag::kCarry, false); break;
    case 0x38: put(flag::kCarry, true); break;
    case 0x58: put(flag::kInterrupt, false); break;
    case 0x78: put(flag::kInterrupt, true); break;
    case 0xB8: put(flag::kOverflow, false); break;
    case 0xD8: put(flag::kDecimal, false); break;
    case 0xF8: put(flag::kDecimal, true); break;
    case 0x88: r_.y = dec(r_.y); break;
    case 0xC8: r_.y = inc(r_.y); break;
    case 0xCA: r_.x = dec(r_.x); break;
    case 0xE8: r_.x = inc(r_.x); break;
    case 0x8A: r_.a = set_nz(r_.x); break;
    case 0x98: r_.a = set_nz(r_.y); break;
    case 0xA8: r_.y = set_nz(r_.a); break;
    case 0xAA: r_.x = set_nz(r_.a); break;
    case 0x9A: r_.sp = r_.x; break;
    case 0xBA: r_.x = set_nz(r_.sp); break;
    default: break;  // NOP, official and not
      // clang-format on
  }
  return true;
}

void Cpu::decode_regular(Byte opcode) {
  const int family = opcode >> 5;  // aaa
  switch (opcode & 3) {
    case 1: {
      if (opcode == 0x89) {  // "STA #": a two-byte NOP
        fetch();
        return;
      }
      if (family == 4) {
        write(operand_address(opcode, Access::kWrite), r_.a);
        return;
      }
      const Byte v =
          (opcode & 0x1F) == 0x09 ? fetch() : read(operand_address(opcode, Access::kRead));
      switch (family) {
          // clang-format off
        case 0: ora(v); return;
        case 1: and_(v); return;
        case 2: eor(v); return;
        case 3: adc(v); return;
        case 5: r_.a = set_nz(v); return;
        case 6: compare(r_.a, v); return;
        default: sbc(v); return;
          // clang-format on
      }
    }
    case 2: {
      if (opcode == 0xA2) {
        r_.x = set_nz(fetch());
      } else if ((opcode & 0x1F) == 0x02) {  // 82, C2, E2: two-byte NOPs
        fetch();
      } else if (family == 4) {
        write(operand_address(opcode, Access::kWrite), r_.x);
      } else if (family == 5) {
        r_.x = set_nz(read(operand_address(opcode, Access::kRead)));
      } else {
        modify(operand_address(opcode, Access::kWrite), [&](Byte v) {
          switch (family) {
              // clang-format off
            case 0: return asl(v);
            case 1: return rol(v);
            case 2: return lsr(v);
            case 3: return ror(v);
            case 6: return dec(v);
            default: return inc(v);
              // clang-format on
          }
        });
      }
      return;
    }
    case 3: {
      if ((opcode & 0x1F) == 0x0B) {
        unofficial_immediate(opcode);
      } else if (family == 4) {  // SAX
        write(operand_address(opcode, Access::kWrite), r_.a & r_.x);
      } else if (family == 5) {  // LAX
        r_.a = r_.x = set_nz(read(operand_address(opcode, Access::kRead)));
      } else {
        modify(operand_address(opcode, Access::kWrite), [&](Byte v) {
          switch (family) {
              // clang-format off
            case 0: v = asl(v); ora(v); return v;
            case 1: v = rol(v); and_(v); return v;
            case 2: v = lsr(v); eor(v); return v;
            case 3: v = ror(v); adc(v); return v;
            case 6: v = dec(v); compare(r_.a, v); return v;
            default: v = inc(v); sbc(v); return v;
              // clang-format on
          }
        });
      }
      return;
    }
    default:
      break;
  }
  // cc = 0: BIT, STY, LDY, CPY, CPX and many NOPs.
  const bool immediate = (opcode & 0x1F) == 0x00;
  if (family == 4 && !immediate) {
    write(operand_address(opcode, Access::kWrite), r_.y);
    return;
  }
  const Byte v = immediate ? fetch() : read(operand_address(opcode, Access::kRead));
  const bool direct = (opcode & 0x10) == 0;  // #, zp and abs exist; indexed ones only for LDY.
  if (family == 1 && direct) {
    bit(v);
  } else if (family == 5) {
    r_.y = set_nz(v);
  } else if (family == 6 && direct) {
    compare(r_.y, v);
  } else if (family == 7 && direct) {
    compare(r_.x, v);
  }
}

void Cpu::execute() {
  const Byte opcode = fetch();
  if (!decode_special(opcode)) decode_regular(opcode);
  // The status just pulled or changed decides from the next instruction on: the lines were sampled
  // before the last cycle.
  if (!service_decided_) service_ = interrupt_polled();
}

void Machine::step() {
  Cpu processor(*this);
  InterruptState& i = state.interrupts;
  if (state.cpu.jammed != 0) {
    end_cycle();
  } else if (i.service != 0) {
    i.service = 0;
    processor.enter_interrupt(false);
  } else {
    processor.execute();
    i.service = processor.service();
    if (dma_page_ >= 0) {
      sprite_dma(static_cast<std::uint8_t>(dma_page_));
      dma_page_ = -1;
    }
  }
}

}  // namespace warpzone::nes
