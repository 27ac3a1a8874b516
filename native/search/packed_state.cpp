#include "search/packed_state.hpp"

#include <cstring>

namespace warpzone::search {
namespace {

// The cartridge's own memory comes last, and boards without any leave it alone.
constexpr std::size_t kCoreSize = offsetof(nes::MachineState, cartridge_ram);

}  // namespace

PackedState::PackedState(const nes::Console& console) {
  const nes::MachineState& state = console.state();
  const auto* from = reinterpret_cast<const std::uint8_t*>(&state);
  bytes_.assign(from, from + (state.memory_used == 0 ? kCoreSize : sizeof state));
}

void PackedState::restore(nes::Console& console, nes::MachineState& scratch) const {
  std::memcpy(&scratch, bytes_.data(), bytes_.size());
  console.restore(scratch);
}

}  // namespace warpzone::search
