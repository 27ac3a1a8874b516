/// What a cartridge board decides: nametable mirroring and what a write to $8000-$FFFF does.
///
/// Only boards whose program memory never moves exist here (mapper 0). A board that switches banks
/// would add its bank registers to MachineState, return a new window from `program_window`, and
/// report `fixed_program() == false`, which keeps the fast interpreter away from it.
#pragma once

#include <cstdint>
#include <memory>

namespace warpzone::nes {

enum class Mirroring : std::uint8_t { kHorizontal, kVertical };

class Mapper {
 public:
  virtual ~Mapper() = default;
  virtual Mirroring mirroring() const = 0;
  /// Offset into program memory for an address in $8000-$FFFF.
  virtual std::uint32_t program_offset(std::uint16_t address) const = 0;
  /// A processor write to $8000-$FFFF.
  virtual void write(std::uint16_t address, std::uint8_t value) const = 0;
  virtual bool fixed_program() const = 0;
};

/// Mapper 0 (NROM): 16 or 32 KiB of program, nothing to switch.
std::unique_ptr<const Mapper> make_mapper0(std::uint32_t program_size, Mirroring mirroring);

}  // namespace warpzone::nes
