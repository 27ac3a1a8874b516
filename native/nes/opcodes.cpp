#include "nes/opcodes.hpp"

namespace warpzone::nes {
#define WARPZONE_READER(op)                                                                      \
  Family {                                                                                       \
    .imm = Operation::k##op##Imm, .ram = Operation::k##op##Ram, .zero_x = Operation::k##op##Zpx, \
    .ram_x = Operation::k##op##Rax, .ram_y = Operation::k##op##Ray,                              \
    .program_x = Operation::k##op##Rox, .program_y = Operation::k##op##Roy,                      \
    .indirect_x = Operation::k##op##Inx, .indirect_y = Operation::k##op##Iny                     \
  }
#define WARPZONE_MODIFIER(op)                                                                     \
  Family {                                                                                        \
    .ram = Operation::k##op##Ram, .zero_x = Operation::k##op##Zpx, .ram_x = Operation::k##op##Wax \
  }

std::optional<Shape> regular_shape(int opcode) {
  const int family = opcode >> 5, mode_bits = (opcode >> 2) & 7;
  if ((opcode & 3) == 1) {
    constexpr Mode kModes[8] = {Mode::kIndirectX, Mode::kZero,  Mode::kImmediate, Mode::kAbsolute,
                                Mode::kIndirectY, Mode::kZeroX, Mode::kAbsoluteY, Mode::kAbsoluteX};
    const Mode mode = kModes[mode_bits];
    switch (family) {
      case 0:
        return Shape{WARPZONE_READER(Ora), Kind::kRead, mode};
      case 1:
        return Shape{WARPZONE_READER(And), Kind::kRead, mode};
      case 2:
        return Shape{WARPZONE_READER(Eor), Kind::kRead, mode};
      case 3:
        return Shape{WARPZONE_READER(Adc), Kind::kRead, mode};
      case 4:
        if (mode == Mode::kImmediate) return std::nullopt;
        return Shape{Family{.ram = Operation::kStaRam,
                            .zero_x = Operation::kStaZpx,
                            .ram_x = Operation::kStaWax,
                            .ram_y = Operation::kStaWay,
                            .indirect_x = Operation::kStaWix,
                            .indirect_y = Operation::kStaWiy,
                            .far_x = Operation::kStaFax,
                            .far_y = Operation::kStaFay,
                            .device = Operation::kStaDevice,
                            .device_switch = Operation::kStaSwitch},
                     Kind::kWrite, mode};
      case 5: {
        Family lda = WARPZONE_READER(Lda);
        lda.far_x = Operation::kLdaFax;
        lda.far_y = Operation::kLdaFay;
        lda.device = Operation::kLdaDevice;
        return Shape{lda, Kind::kRead, mode};
      }
      case 6:
        return Shape{WARPZONE_READER(Cmp), Kind::kRead, mode};
      default:
        return Shape{WARPZONE_READER(Sbc), Kind::kRead, mode};
    }
  }
  if ((opcode & 3) == 2) {
    if (opcode == 0xA2)
      return Shape{Family{.imm = Operation::kLdxImm}, Kind::kRead, Mode::kImmediate};
    if ((mode_bits & 1) == 0 || mode_bits > 7) return std::nullopt;
    constexpr Mode kModes[8] = {Mode::kZero, Mode::kZero,  Mode::kZero, Mode::kAbsolute,
                                Mode::kZero, Mode::kZeroX, Mode::kZero, Mode::kAbsoluteX};
    const Mode mode = kModes[mode_bits];
    const Mode mode_y = mode == Mode::kZeroX       ? Mode::kZeroY
                        : mode == Mode::kAbsoluteX ? Mode::kAbsoluteY
                                                   : mode;
    switch (family) {
      case 0:
        return Shape{WARPZONE_MODIFIER(Asl), Kind::kModify, mode};
      case 1:
        return Shape{WARPZONE_MODIFIER(Rol), Kind::kModify, mode};
      case 2:
        return Shape{WARPZONE_MODIFIER(Lsr), Kind::kModify, mode};
      case 3:
        return Shape{WARPZONE_MODIFIER(Ror), Kind::kModify, mode};
      case 4:
        if (mode == Mode::kAbsoluteX) return std::nullopt;
        return Shape{Family{.ram = Operation::kStxRam,
                            .zero_y = Operation::kStxZpy,
                            .device = Operation::kStxDevice,
                            .device_switch = Operation::kStxSwitch},
                     Kind::kWrite, mode_y};
      case 5:
        return Shape{Family{.imm = Operation::kLdxImm,
                            .ram = Operation::kLdxRam,
                            .zero_y = Operation::kLdxZpy,
                            .ram_y = Operation::kLdxRay,
                            .program_y = Operation::kLdxRoy,
                            .device = Operation::kLdxDevice},
                     Kind::kRead, mode_y};
      case 6:
        return Shape{WARPZONE_MODIFIER(Dec), Kind::kModify, mode};
      default:
        return Shape{WARPZONE_MODIFIER(Inc), Kind::kModify, mode};
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
                   .device = Operation::kStyDevice,
                   .device_switch = Operation::kStySwitch};
  const Family cpx{.imm = Operation::kCpxImm, .ram = Operation::kCpxRam};
  const Family cpy{.imm = Operation::kCpyImm, .ram = Operation::kCpyRam};
  const Family bit{
      .imm = Operation::kBitImm, .ram = Operation::kBitRam, .device = Operation::kBitDevice};
  // clang-format off
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
  // clang-format on
}

Operation implied_operation(int opcode) {
  // clang-format off
  switch (opcode) {
    case 0x0A: return Operation::kAslAImplied;
    case 0x2A: return Operation::kRolAImplied;
    case 0x4A: return Operation::kLsrAImplied;
    case 0x6A: return Operation::kRorAImplied;
    case 0x18: return Operation::kClcImplied;
    case 0x38: return Operation::kSecImplied;
    case 0x78: return Operation::kSeiImplied;
    case 0xB8: return Operation::kClvImplied;
    case 0xD8: return Operation::kCldImplied;
    case 0xF8: return Operation::kSedImplied;
    case 0x88: return Operation::kDeyImplied;
    case 0xC8: return Operation::kInyImplied;
    case 0xCA: return Operation::kDexImplied;
    case 0xE8: return Operation::kInxImplied;
    case 0x8A: return Operation::kTxaImplied;
    case 0x98: return Operation::kTyaImplied;
    case 0xA8: return Operation::kTayImplied;
    case 0xAA: return Operation::kTaxImplied;
    case 0x9A: return Operation::kTxsImplied;
    case 0xBA: return Operation::kTsxImplied;
    case 0xEA: return Operation::kNopImplied;
    default: return Operation::kLiteral;
  }
  // clang-format on
}

}  // namespace warpzone::nes
