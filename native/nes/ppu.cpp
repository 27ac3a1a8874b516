#include "nes/ppu.hpp"

#include <algorithm>
#include <cstring>

#include "nes/patterns.hpp"

namespace warpzone::nes {
namespace {

/// What palette memory was found to hold after switching on.
constexpr std::uint8_t kPowerOnPalette[32] = {
    0x09, 0x01, 0x00, 0x01, 0x00, 0x02, 0x02, 0x0D, 0x08, 0x10, 0x08, 0x24, 0x00, 0x00, 0x04, 0x2C,
    0x09, 0x01, 0x34, 0x03, 0x00, 0x04, 0x00, 0x14, 0x08, 0x3A, 0x00, 0x02, 0x00, 0x20, 0x2C, 0x08};

constexpr std::uint8_t kSpriteTable = 0x08, kBackgroundTable = 0x10, kTallSprites = 0x20;

std::uint16_t with_nametable(std::uint16_t t, std::uint8_t control) {
  return static_cast<std::uint16_t>((t & 0x73FF) | (control & 0x03) << 10);
}

}  // namespace

Ppu::Ppu(PpuState& state, const Cartridge& cartridge, std::uint8_t* pattern_ram, bool exact,
         std::uint8_t* screen, std::uint8_t* emphasis)
    : s_(state),
      cartridge_(cartridge),
      pattern_ram_(pattern_ram),
      rows_(cartridge.pattern_rows().data()),
      exact_(exact),
      vertical_(cartridge.mapper().mirroring() == Mirroring::kVertical),
      screen_(screen),
      emphasis_(emphasis) {
  if (cartridge.has_pattern_ram()) {
    own_rows_.resize(8192 / 2);
    rows_ = own_rows_.data();
  }
}

void Ppu::power_on() {
  s_ = PpuState{};
  s_.line = 240;
  std::memcpy(s_.palette, kPowerOnPalette, sizeof kPowerOnPalette);
  state_replaced();
}

void Ppu::reset(std::uint64_t clock) {
  run_to(clock);
  go_live(2);
  s_.control = s_.mask = s_.second_write = s_.fine_x = s_.read_buffer = 0;
  s_.t = 0;
  sprites_changed();
  schedule_flag_event();
}

void Ppu::state_replaced() {
  sprites_changed();
  if (!own_rows_.empty()) own_rows_ = expand_patterns({pattern_ram_, 8192});
  rows_ = own_rows_.empty() ? cartridge_.pattern_rows().data() : own_rows_.data();
  schedule_flag_event();
}

void Ppu::run_to(std::uint64_t clock) {
  if (exact_) {
    while (s_.clock < clock) step_dot();
    return;
  }
  while (s_.clock < clock) {
    if (s_.lines_live != 0 && rendering() && on_render_line()) {
      step_dot();
    } else {
      advance(clock);
    }
  }
}

std::uint16_t Ppu::vram_index(std::uint16_t address) const {
  return vertical_ ? address & 0x7FF : ((address >> 1) & 0x400) | (address & 0x3FF);
}

std::uint8_t Ppu::pattern_byte(std::uint16_t address) const {
  return cartridge_.has_pattern_ram() ? pattern_ram_[address & 0x1FFF]
                                      : cartridge_.patterns()[address & 0x1FFF];
}

std::uint8_t Ppu::palette_index(std::uint16_t address) const {
  // The first entry of each sprite palette is the background's.
  return (address & 0x13) == 0x10 ? address & 0x0F : address & 0x1F;
}

std::uint8_t Ppu::read_vram(std::uint16_t address) const {
  return address < 0x2000 ? pattern_byte(address) : s_.vram[vram_index(address)];
}

void Ppu::write_vram(std::uint16_t address, std::uint8_t value) {
  if (address >= 0x3F00) {
    s_.palette[palette_index(address)] = value & 0x3F;
  } else if (address >= 0x2000) {
    s_.vram[vram_index(address)] = value;
  } else if (cartridge_.has_pattern_ram()) {
    pattern_ram_[address] = value;
    const int row = (address >> 4) * 8 + (address & 7);
    const int low = (address & 0x1FF7);
    own_rows_[row] = expand_row(pattern_ram_[low], pattern_ram_[low + 8]);
  }
}

std::uint8_t Ppu::color(int slot) const {
  const std::uint8_t value = s_.palette[palette_index(static_cast<std::uint16_t>(slot))];
  return (s_.mask & 0x01) != 0 ? value & 0x30 : value;
}

void Ppu::move_address() {
  if (rendering() && on_render_line()) {
    s_.v = step_rows(step_coarse_x(s_.v, 1), 1);
  } else {
    s_.v = (s_.v + ((s_.control & 0x04) != 0 ? 32 : 1)) & 0x7FFF;
  }
}

std::uint8_t Ppu::read_data() {
  const std::uint16_t address = s_.v & 0x3FFF;
  std::uint8_t value = s_.read_buffer;
  s_.read_buffer = read_vram(address);
  if (address >= 0x3F00) {
    value = static_cast<std::uint8_t>(color(address & 0x1F) | (s_.bus_latch & 0xC0));
  }
  move_address();
  return value;
}

std::uint8_t Ppu::read(int index, std::uint64_t clock) {
  if (index == 2) {
    refresh_flags(clock);
    // Reading in the dot in which the flag would be set hides this vertical blank altogether.
    if (clock == s_.frame_start + kDotsPerLine + 1) s_.suppress_vblank = 1;
    s_.bus_latch = static_cast<std::uint8_t>((s_.status & 0xE0) | (s_.bus_latch & 0x1F));
    s_.status &= ~ppu_status::kVblank;
    s_.second_write = 0;
    return s_.bus_latch;
  }
  if (index == 4) {
    run_to(clock);
    std::uint8_t value = s_.oam[s_.oam_address];
    if ((s_.oam_address & 3) == 2) value &= 0xE3;
    if (rendering() && s_.line < 240 && s_.dot >= 1 && s_.dot <= 64) value = 0xFF;
    s_.bus_latch = value;
  } else if (index == 7) {
    catch_up(clock);
    const bool disturbs = rendering() && on_render_line();
    if (disturbs) go_live(1);
    s_.bus_latch = read_data();
    forecast_valid_ = forecast_valid_ && !disturbs;
  }
  return s_.bus_latch;
}

void Ppu::write_control(std::uint8_t value) {
  const std::uint8_t changed = s_.control ^ value;
  if ((changed & (kSpriteTable | kTallSprites)) != 0) {
    go_live(2);
  } else if ((changed & kBackgroundTable) != 0) {
    go_live(1);
  }
  if ((changed & kTallSprites) != 0) sprites_changed();
  s_.control = value;
  s_.t = with_nametable(s_.t, value);
}

/// What `t` becomes by a write to the scroll register.
std::uint16_t Ppu::scrolled(std::uint8_t value) const {
  return static_cast<std::uint16_t>(s_.second_write == 0
                                        ? (s_.t & 0x7FE0) | value >> 3
                                        : (s_.t & 0x0C1F) | (value & 7) << 12 | (value >> 3) << 5);
}

void Ppu::write_scroll(std::uint8_t value) {
  s_.t = scrolled(value);
  if (s_.second_write == 0) s_.fine_x = value & 7;
  s_.second_write ^= 1;
}

bool Ppu::shows_nothing_new(int index, std::uint8_t value) const {
  if (index == 0) {
    constexpr int kShown = kSpriteTable | kBackgroundTable | kTallSprites;
    return ((s_.control ^ value) & kShown) == 0 && with_nametable(s_.t, value) == s_.t;
  }
  const bool same_x = s_.second_write != 0 || s_.fine_x == (value & 7);
  return index == 5 && scrolled(value) == s_.t && same_x;
}

void Ppu::write_mask(std::uint8_t value) {
  if (((s_.mask ^ value) & 0x1E) != 0) go_live(2);
  s_.mask = value;
}

void Ppu::write(int index, std::uint8_t value, std::uint64_t clock) {
  const bool visible = exact_ || !shows_nothing_new(index, value);
  if (visible) catch_up(clock);
  s_.bus_latch = value;
  switch (index) {
    case 0:
      write_control(value);
      break;
    case 1:
      write_mask(value);
      schedule_flag_event();
      break;
    case 3:
      s_.oam_address = value;
      return;
    case 4:
      write_oam(value, clock);
      return;
    case 5:
      write_scroll(value);
      break;
    case 6:
      if (s_.second_write == 0) {
        s_.t = static_cast<std::uint16_t>((s_.t & 0x00FF) | (value & 0x3F) << 8);
      } else {
        go_live(1);
        s_.t = static_cast<std::uint16_t>((s_.t & 0x7F00) | value);
        s_.v = s_.t;
      }
      s_.second_write ^= 1;
      break;
    case 7:
      // Patterns of the next line's sprites may be latched already.
      go_live((s_.v & 0x3FFF) < 0x2000 ? 2 : 1);
      write_vram(s_.v & 0x3FFF, value);
      move_address();
      break;
    default:
      return;
  }
  if (visible) forecast_valid_ = false;
}

void Ppu::write_oam(std::uint8_t value, std::uint64_t clock) {
  catch_up(clock);
  if (rendering() && on_render_line()) {
    // The unit is using its sprite memory: the byte is lost and the address jumps a sprite.
    s_.oam_address = static_cast<std::uint8_t>((s_.oam_address & 0xFC) + 4);
    return;
  }
  s_.oam[s_.oam_address++] = value;
  sprites_changed();
}

void Ppu::copy_oam(const std::uint8_t* page, std::uint64_t clock) {
  catch_up(clock);
  const std::size_t first = 256u - s_.oam_address;
  std::memcpy(s_.oam + s_.oam_address, page, first);
  std::memcpy(s_.oam, page + first, 256 - first);
  sprites_changed();
}

std::uint64_t Ppu::next_vblank(std::uint64_t now) const {
  const std::uint64_t vblank = s_.frame_start + kDotsPerLine + 2;
  return now < vblank ? vblank : frame_end() + kDotsPerLine + 2;
}

bool Ppu::nmi_stays_low(std::uint64_t clock) {
  constexpr int kMargin = 9;
  refresh_flags(clock);
  const std::uint64_t vblank = s_.frame_start + kDotsPerLine + 1;
  const bool near = clock <= vblank && clock + kMargin > vblank;
  return (s_.status & ppu_status::kVblank) == 0 && !near;
}

}  // namespace warpzone::nes
