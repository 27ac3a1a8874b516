/// Regular operations taken apart: what is done, and where its operand lies (see operations.hpp).
#pragma once

#include <cstdint>

#include "nes/operations.hpp"

namespace warpzone::nes {

// clang-format off
enum class What : std::uint8_t {
  kNone,
  kLda, kLdx, kLdy, kOra, kAnd, kEor, kAdc, kSbc, kCmp, kCpx, kCpy, kBit, kSta, kStx, kSty,
  kAsl, kLsr, kRol, kRor, kInc, kDec, kAslA, kLsrA, kRolA, kRorA, kPha, kPla, kPhp,
  kTax, kTay, kTxa, kTya, kTsx, kTxs, kInx, kIny, kDex, kDey,
  kClc, kSec, kClv, kCld, kSed, kSei, kNop,
  kBpl, kBmi, kBvc, kBvs, kBcc, kBcs, kBne, kBeq
};
enum class Where : std::uint8_t {
  kNone, kImplied, kBranch, kImm, kRam, kZpx, kZpy, kInx, kIny, kRax, kRay, kWax, kWay, kWix, kWiy,
  kRox, kRoy, kFax, kFay, kDevice
};
// clang-format on

struct Parts {
  What what = What::kNone;
  Where where = Where::kNone;
};

/// Nothing for operations that are not regular, except those that reach devices.
constexpr Parts parts_of(Operation operation) {
  switch (operation) {
#define WARPZONE_PARTS(what, where) \
  case Operation::k##what##where:   \
    return {What::k##what, Where::k##where};
    WARPZONE_REGULAR(WARPZONE_PARTS)
    WARPZONE_PARTS(Lda, Fax)
    WARPZONE_PARTS(Lda, Fay)
    WARPZONE_PARTS(Sta, Fax)
    WARPZONE_PARTS(Sta, Fay)
    WARPZONE_PARTS(Lda, Device)
    WARPZONE_PARTS(Ldx, Device)
    WARPZONE_PARTS(Ldy, Device)
    WARPZONE_PARTS(Bit, Device)
    WARPZONE_PARTS(Sta, Device)
    WARPZONE_PARTS(Stx, Device)
    WARPZONE_PARTS(Sty, Device)
#undef WARPZONE_PARTS
    default:
      return {};
  }
}

}  // namespace warpzone::nes
