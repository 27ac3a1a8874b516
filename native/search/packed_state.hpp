/// Save states as an archive keeps them by the thousand: only the part of the machine that the
/// cartridge in use can change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "nes/console.hpp"

namespace warpzone::search {

/// A bare snapshot, good for consoles of this process with the same cartridge.
class PackedState {
 public:
  PackedState() = default;
  explicit PackedState(const nes::Console& console);

  /// `scratch` only saves the time to make room for a whole machine.
  void restore(nes::Console& console, nes::MachineState& scratch) const;
  std::size_t size() const { return bytes_.size(); }

 private:
  std::vector<std::uint8_t> bytes_;
};

}  // namespace warpzone::search
