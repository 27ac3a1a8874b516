/// The literal path: what the PPU does at each dot.
#include <cstring>

#include "nes/ppu.hpp"

namespace warpzone::nes {

void Ppu::step_dot() {
  const int line = s_.line, dot = s_.dot;
  if (line == 241 && dot == 1) {
    if (s_.suppress_vblank == 0) s_.status |= ppu_status::kVblank;
    s_.suppress_vblank = 0;
  } else if (line == kPreRenderLine && dot == 1) {
    s_.status &= 0x1F;
  }
  if (on_render_line()) {
    if (rendering()) {
      render_dot();
    } else if (line < 240 && dot >= 1 && dot <= 256) {
      show_backdrop(dot - 1);
    }
  }

  ++s_.clock;
  s_.flags_clock = s_.clock;
  if (line == kPreRenderLine) {
    if (dot == kSkipDecisionDot) s_.skip_dot = s_.odd_frame != 0 && rendering();
    if (dot == 339 && s_.skip_dot != 0) {
      s_.line = s_.dot = 0;
      s_.overflow_dot = 0;
      return;
    }
  }
  if (++s_.dot == kDotsPerLine) {
    s_.dot = 0;
    s_.overflow_dot = 0;
    s_.line = line == kPreRenderLine ? 0 : line + 1;
    if (s_.line == 240) end_of_frame();
  }
}

void Ppu::end_of_frame() {
  s_.frame_start = s_.clock;
  s_.odd_frame ^= 1;
  // Whatever is still in the pipeline is never shown: it is refilled on the pre-render line.
  s_.pattern_low = s_.pattern_high = s_.attribute_low = s_.attribute_high = 0;
  s_.next_tile = s_.next_attribute = s_.next_low = s_.next_high = 0;
  s_.sprite_count = s_.sprite_zero_on_line = s_.lines_live = 0;
  s_.overflow_dot = 0;
  forecast_valid_ = false;
  schedule_flag_event();
}

void Ppu::render_dot() {
  const int dot = s_.dot;
  const bool visible = s_.line < 240;
  if ((dot >= 1 && dot <= 256) || (dot >= 321 && dot <= 336)) {
    if (dot == 321) {
      s_.line_v_before = s_.line_v;
      s_.line_v = s_.v;
    }
    if (visible && dot <= 256) show_dot();
    shift_pipeline();
    fetch((dot - 1) & 7);
    if (dot == kPrefetchEnd && s_.lines_live > 0 && --s_.lines_live == 0) forecast_valid_ = false;
  } else if (dot == 0 && !visible) {
    s_.line_v = s_.v;
  }
  if (visible) {
    if (dot == 65) s_.overflow_dot = static_cast<std::uint16_t>(overflow_dot_of_line(s_.line));
    if (dot >= 66 && dot == s_.overflow_dot) s_.status |= ppu_status::kOverflow;
  }
  if (dot == 256) {
    s_.v = step_rows(s_.v, 1);
  } else if (dot == 257) {
    s_.v = take_bits(s_.v, s_.t, kHorizontalBits);
    load_sprites(visible ? s_.line + 1 : 0);
  }
  if (dot >= 257 && dot <= 320) s_.oam_address = 0;
  if (s_.line == kPreRenderLine && dot >= 280 && dot <= 304) {
    s_.v = take_bits(s_.v, s_.t, kVerticalBits);
  }
}

void Ppu::fetch(int phase) {
  const std::uint16_t v = s_.v;
  const int pattern = ((s_.control & 0x10) << 8) | s_.next_tile << 4 | v >> 12;
  switch (phase) {
    case 0:
      s_.next_tile = s_.vram[vram_index(v & 0x0FFF)];
      break;
    case 2: {
      const int address = 0x3C0 | (v & 0x0C00) | ((v >> 4) & 0x38) | ((v >> 2) & 0x07);
      const std::uint8_t bits = s_.vram[vram_index(static_cast<std::uint16_t>(address))];
      s_.next_attribute = (bits >> (((v >> 4) & 4) | (v & 2))) & 3;
      break;
    }
    case 4:
      s_.next_low = pattern_byte(static_cast<std::uint16_t>(pattern));
      break;
    case 6:
      s_.next_high = pattern_byte(static_cast<std::uint16_t>(pattern + 8));
      break;
    case 7:
      s_.pattern_low = static_cast<std::uint16_t>((s_.pattern_low & 0xFF00) | s_.next_low);
      s_.pattern_high = static_cast<std::uint16_t>((s_.pattern_high & 0xFF00) | s_.next_high);
      s_.attribute_low = static_cast<std::uint16_t>((s_.attribute_low & 0xFF00) |
                                                    ((s_.next_attribute & 1) != 0 ? 0xFF : 0));
      s_.attribute_high = static_cast<std::uint16_t>((s_.attribute_high & 0xFF00) |
                                                     ((s_.next_attribute & 2) != 0 ? 0xFF : 0));
      s_.v = step_coarse_x(v, 1);
      break;
    default:
      break;
  }
}

void Ppu::show_dot() {
  const int x = s_.dot - 1;
  int background = 0, background_slot = 0;
  if ((s_.mask & 0x08) != 0 && (x >= 8 || (s_.mask & 0x02) != 0)) {
    const int bit = 15 - s_.fine_x;
    background = ((s_.pattern_low >> bit) & 1) | ((s_.pattern_high >> bit) & 1) << 1;
    background_slot =
        background | ((s_.attribute_low >> bit) & 1) << 2 | ((s_.attribute_high >> bit) & 1) << 3;
  }
  int slot = background != 0 ? background_slot : 0;
  if ((s_.mask & 0x10) != 0 && (x >= 8 || (s_.mask & 0x04) != 0)) {
    for (int i = 0; i < s_.sprite_count; ++i) {
      const LineSprite& sprite = s_.sprites[i];
      const int column = x - sprite.x;
      if (column < 0 || column > 7) continue;
      const int pixel = ((sprite.low >> (7 - column)) & 1) | ((sprite.high >> (7 - column)) & 1)
                                                                 << 1;
      if (pixel == 0) continue;
      if (i == 0 && s_.sprite_zero_on_line != 0 && background != 0 && x != 255) {
        s_.status |= ppu_status::kSpriteZero;
      }
      if (background == 0 || (sprite.attributes & 0x20) == 0) {
        slot = 0x10 | (sprite.attributes & 3) << 2 | pixel;
      }
      break;
    }
  }
  if (drawing_) {
    screen_[s_.line * 256 + x] = color(slot);
    emphasis_[s_.line] = s_.mask >> 5;
  }
}

void Ppu::show_backdrop(int x) {
  if (drawing_) {
    // With drawing disabled the unit shows the palette entry its address points at, if any.
    const int slot = (s_.v & 0x3F00) == 0x3F00 ? s_.v & 0x1F : 0;
    screen_[s_.line * 256 + x] = color(slot);
    emphasis_[s_.line] = s_.mask >> 5;
  }
}

void Ppu::load_sprites(int line) {
  s_.sprite_count = s_.sprite_zero_on_line = 0;
  if (line == 0) return;
  const int height = sprite_height();
  for (int i = 0; i < 64 && s_.sprite_count < 8; ++i) {
    const std::uint8_t* entry = s_.oam + i * 4;
    int row = line - 1 - entry[0];
    if (row < 0 || row >= height) continue;
    if ((entry[2] & 0x80) != 0) row = height - 1 - row;
    const int table = height == 16 ? (entry[1] & 1) << 12 : (s_.control & 0x08) << 9;
    const int tile = height == 16 ? (entry[1] & 0xFE) + (row >> 3) : entry[1];
    const int address = table | tile << 4 | (row & 7);
    LineSprite& sprite = s_.sprites[s_.sprite_count++];
    sprite.x = entry[3];
    sprite.attributes = entry[2];
    sprite.low = pattern_byte(static_cast<std::uint16_t>(address));
    sprite.high = pattern_byte(static_cast<std::uint16_t>(address + 8));
    if ((entry[2] & 0x40) != 0) {
      const auto mirror = [](std::uint8_t bits) {
        bits = static_cast<std::uint8_t>((bits & 0xF0) >> 4 | (bits & 0x0F) << 4);
        bits = static_cast<std::uint8_t>((bits & 0xCC) >> 2 | (bits & 0x33) << 2);
        return static_cast<std::uint8_t>((bits & 0xAA) >> 1 | (bits & 0x55) << 1);
      };
      sprite.low = mirror(sprite.low);
      sprite.high = mirror(sprite.high);
    }
    if (i == 0) s_.sprite_zero_on_line = 1;
  }
}

int Ppu::overflow_dot_of_line(int line) const {
  // The search takes two dots for a sprite that misses the line and eight for one that is copied.
  // With eight found it steps through the bytes of an entry as well (a fault of the real unit).
  const int height = sprite_height();
  int dot = 65, found = 0, byte = 0;
  for (int i = 0; i < 64; ++i) {
    const int row = line - s_.oam[i * 4 + byte];
    const bool hit = row >= 0 && row < height;
    if (found < 8) {
      dot += hit ? 8 : 2;
      found += hit ? 1 : 0;
    } else {
      if (hit) return dot + 1;
      dot += 2;
      byte = (byte + 1) & 3;
    }
  }
  return 0;
}

}  // namespace warpzone::nes
