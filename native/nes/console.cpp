#include "nes/console.hpp"

#include <cstring>
#include <string>
#include <type_traits>

#include "nes/hash.hpp"

namespace warpzone::nes {
namespace {

constexpr std::uint32_t kMagic = 0x534E5A57;  // "WZNS"
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kProgramSize = 0x8000;  // Smaller programs are repeated.
constexpr int kLowestSoundRate = 8'000, kHighestSoundRate = 192'000;

struct StateHeader {
  std::uint32_t magic, version;
  std::uint64_t size;
  std::uint64_t cartridge;
  std::uint64_t checksum;  ///< Of the machine state that follows.
};
static_assert(std::has_unique_object_representations_v<StateHeader>);

/// A checksum proves little about a forged state: indices that would leave an array are checked.
bool within_bounds(const MachineState& s) {
  const PpuState& p = s.ppu;
  // The place in the frame follows from the clocks, except for the dot that odd frames skip.
  const auto rows = static_cast<std::uint64_t>(p.line >= 240 ? p.line - 240 : p.line + 22);
  const std::uint64_t dots = rows * kDotsPerLine + static_cast<std::uint64_t>(p.dot);
  const std::uint64_t passed = p.clock - p.frame_start;
  const bool consistent = passed == dots || (p.line < 240 && passed + 1 == dots);
  const bool position = consistent && p.line >= 0 && p.line <= kPreRenderLine && p.dot >= 0 &&
                        p.dot < kDotsPerLine && p.frame_start <= p.clock &&
                        p.clock <= p.flags_clock && p.clock - p.frame_start < 100'000 &&
                        p.flags_clock - p.clock < 100'000 && s.cycle < (std::uint64_t{1} << 60);
  bool palette = true;
  for (const std::uint8_t entry : p.palette) palette = palette && entry < 64;
  const std::uint64_t clock = s.cycle * kDotsPerCycle;
  return position && palette && p.v <= 0x7FFF && p.t <= 0x7FFF && p.line_v <= 0x7FFF &&
         p.line_v_before <= 0x7FFF && p.fine_x < 8 && p.sprite_count <= 8 &&
         p.clock <= clock + 16 && clock < p.clock + 200'000 && s.apu.step < 6 &&
         s.apu.five_step <= 1 && s.apu.sequence_start <= s.apu.next_step &&
         s.apu.next_step < s.cycle + 100'000 && s.cycle < s.apu.next_step + 10'000'000'000 &&
         s.apu.dmc.shift_bits >= 1 && s.apu.dmc.shift_bits <= 8 &&
         s.apu.dmc.next_clock < s.cycle + 100'000;
}

}  // namespace

Console::Console(std::shared_ptr<const Cartridge> cartridge, bool exact)
    : machine_(std::move(cartridge), exact) {}

void Console::power_on() { machine_.power_on(); }
void Console::reset() { machine_.reset(); }

void Console::run_frame(std::uint8_t buttons, bool render, std::uint8_t buttons2) {
  machine_.state.controllers.buttons[0] = buttons;
  machine_.state.controllers.buttons[1] = buttons2;
  machine_.run_frame(render);
}

void Console::set_sound(int sample_rate) {
  if (sample_rate == 0) {
    machine_.set_sound(nullptr);
    return;
  }
  if (sample_rate < kLowestSoundRate || sample_rate > kHighestSoundRate) {
    throw std::invalid_argument("the sample rate is " + std::to_string(sample_rate) +
                                "; it must be from " + std::to_string(kLowestSoundRate) + " to " +
                                std::to_string(kHighestSoundRate) + ", or 0 for no sound");
  }
  const std::span<const std::uint8_t> program(machine_.cartridge->program(), kProgramSize);
  machine_.set_sound(std::make_unique<Sound>(program, sample_rate));
}

void Console::step_instruction() { machine_.step(); }

std::uint8_t Console::peek(std::uint16_t address) const {
  const MachineState& s = machine_.state;
  if (address < 0x2000) return s.ram[address & 0x7FF];
  if (address >= 0x8000) return machine_.cartridge->program()[address & 0x7FFF];
  if (address >= 0x6000) return s.cartridge_ram[address & 0x1FFF];
  return 0;
}

void Console::poke(std::uint16_t address, std::uint8_t value) {
  MachineState& s = machine_.state;
  if (address < 0x2000) {
    s.ram[address & 0x7FF] = value;
  } else if (address >= 0x6000 && address < 0x8000) {
    s.cartridge_ram[address & 0x1FFF] = value;
    s.memory_used |= 1;
  } else {
    throw std::out_of_range("only RAM ($0000-$1FFF) and cartridge RAM ($6000-$7FFF) can be poked");
  }
}

std::size_t Console::state_size() const { return sizeof(StateHeader) + sizeof(MachineState); }

void Console::save(std::span<std::uint8_t> out) {
  machine_.settle();
  if (out.size() != state_size()) throw StateError("the buffer for a save state has a wrong size");
  std::uint8_t* body = out.data() + sizeof(StateHeader);
  std::memcpy(body, &machine_.state, sizeof(MachineState));
  const StateHeader header{kMagic, kVersion, out.size(), machine_.cartridge->fingerprint(),
                           hash_bytes({body, sizeof(MachineState)})};
  std::memcpy(out.data(), &header, sizeof header);
}

std::vector<std::uint8_t> Console::save() {
  std::vector<std::uint8_t> out(state_size());
  save(out);
  return out;
}

void Console::load(std::span<const std::uint8_t> blob) {
  StateHeader header{};
  if (blob.size() < sizeof header) {
    throw StateError("this is not a save state: it has only " + std::to_string(blob.size()) +
                     " bytes");
  }
  std::memcpy(&header, blob.data(), sizeof header);
  if (header.magic != kMagic)
    throw StateError("this is not a save state: its first bytes are wrong");
  if (header.version != kVersion) {
    throw StateError("the save state has format version " + std::to_string(header.version) +
                     ", this build reads version " + std::to_string(kVersion));
  }
  if (blob.size() != state_size() || header.size != blob.size()) {
    throw StateError("the save state is cut or padded: it has " + std::to_string(blob.size()) +
                     " bytes instead of " + std::to_string(state_size()));
  }
  if (header.cartridge != machine_.cartridge->fingerprint()) {
    throw StateError("the save state was made with another ROM");
  }
  const std::uint8_t* body = blob.data() + sizeof header;
  if (hash_bytes({body, sizeof(MachineState)}) != header.checksum) {
    throw StateError("the save state was altered: its checksum does not match");
  }
  auto loaded = std::make_unique<MachineState>();
  std::memcpy(loaded.get(), body, sizeof(MachineState));
  if (!within_bounds(*loaded)) throw StateError("the save state holds impossible values");
  std::memcpy(&machine_.state, loaded.get(), sizeof(MachineState));
  machine_.copy_state_from(*loaded);
}

}  // namespace warpzone::nes
