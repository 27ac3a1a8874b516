/// Drawing by spans: a line's slots (palette entries 0-31), then their colours.
#include <algorithm>
#include <cstring>

#include "nes/pixels.hpp"
#include "nes/ppu.hpp"

namespace warpzone::nes {
namespace {

constexpr std::uint64_t kEachByte = 0x0101010101010101ULL;
constexpr int kTilesPerLine = 33;  ///< 32, and one more when the line starts inside a tile.
constexpr int kMargin = 8;

}  // namespace

void Ppu::fill_sprite_bins() {
  const int height = (s_.control & 0x20) != 0 ? 16 : 8;
  std::memset(bin_size_, 0, sizeof bin_size_);
  for (int i = 0; i < 64; ++i) {
    const int top = s_.oam[i * 4] + 1;
    for (int line = top; line < std::min(top + height, 240); ++line) {
      if (bin_size_[line] < 8) bins_[line][bin_size_[line]++] = static_cast<std::uint8_t>(i);
    }
  }
  sprite_bins_valid_ = true;
}

void Ppu::draw_background(std::uint8_t* slots) const {
  const std::uint16_t v = s_.line_v;
  const std::uint64_t* rows = rows_ + ((s_.control & 0x10) << 4) * 8 + (v >> 12);
  const int coarse_y = (v >> 5) & 0x1F;
  const int attribute_row = 0x3C0 + (coarse_y >> 2) * 8;
  const int attribute_shift = (coarse_y & 2) << 1;
  int column = v & 0x1F;
  int nametable = v & 0x0C00;
  int drawn = 0;
  while (drawn < kTilesPerLine) {
    const std::uint8_t* page = s_.vram + vram_index(static_cast<std::uint16_t>(nametable));
    const std::uint8_t* tiles = page + coarse_y * 32;
    const int end = std::min(32, column + kTilesPerLine - drawn);
    while (column < end) {
      // Two neighbouring tiles (an even column and the next) share their palette.
      const int palette =
          (page[attribute_row + (column >> 2)] >> (attribute_shift | (column & 2))) & 3;
      const std::uint64_t paint = kEachByte * static_cast<std::uint64_t>(palette << 2);
      const int pair_end = std::min(end, (column | 1) + 1);
      for (; column < pair_end; ++column, ++drawn) {
        const std::uint64_t pixels = rows[tiles[column] * 8] + paint;
        std::memcpy(slots + drawn * 8, &pixels, 8);
      }
    }
    column = 0;
    nametable ^= 0x0400;
  }
}

void Ppu::draw_sprites(std::uint8_t* slots) const {
  const int line = s_.line;
  const int count = bin_size_[line];
  const int height = (s_.control & 0x20) != 0 ? 16 : 8;
  std::uint8_t layer[256 + kMargin];
  int left = 256, right = 0;
  std::memset(layer, 0, sizeof layer);
  for (int n = count - 1; n >= 0; --n) {
    const std::uint8_t* entry = s_.oam + bins_[line][n] * 4;
    int row = line - 1 - entry[0];
    if ((entry[2] & 0x80) != 0) row = height - 1 - row;
    const int table = height == 16 ? (entry[1] & 1) << 8 : (s_.control & 0x08) << 5;
    const int tile = height == 16 ? (entry[1] & 0xFE) + (row >> 3) : entry[1];
    std::uint64_t pixels = rows_[(table + tile) * 8 + (row & 7)];
    if (pixels == 0) continue;
    if ((entry[2] & 0x40) != 0) pixels = __builtin_bswap64(pixels);
    // Bit 7 marks a sprite behind the background; transparent pixels leave what lies below.
    const std::uint64_t paint =
        kEachByte * static_cast<std::uint64_t>(0x10 | (entry[2] & 3) << 2 | (entry[2] & 0x20) << 2);
    const std::uint64_t opaque = ((pixels | pixels >> 1) & kEachByte) * 0xFF;
    std::uint64_t below;
    std::memcpy(&below, layer + entry[3], 8);
    below = (below & ~opaque) | ((pixels | paint) & opaque);
    std::memcpy(layer + entry[3], &below, 8);
    left = std::min<int>(left, entry[3]);
    right = std::max<int>(right, entry[3] + 8);
  }
  if ((s_.mask & 0x04) == 0) left = std::max(left, 8);
  right = std::min(right, 256);
  for (int x = left; x < right; ++x) {
    const bool shown = (layer[x] & 3) != 0 && ((layer[x] & 0x80) == 0 || (slots[x] & 3) == 0);
    slots[x] = shown ? layer[x] & 0x1F : slots[x];
  }
}

void Ppu::draw_span(int line, int from_x, int to_x) {
  if (!rendering()) {
    fill_backdrop(line, from_x, to_x);
    return;
  }
  if (!sprite_bins_valid_) fill_sprite_bins();
  std::uint8_t buffer[kTilesPerLine * 8 + kMargin];
  std::uint8_t* slots = buffer + s_.fine_x;
  if ((s_.mask & 0x08) != 0) {
    draw_background(buffer);
    if ((s_.mask & 0x02) == 0) std::memset(slots, 0, 8);
  } else {
    std::memset(buffer, 0, sizeof buffer);
  }
  if ((s_.mask & 0x10) != 0 && bin_size_[line] != 0) draw_sprites(slots);
  std::uint8_t colours[32];
  for (int slot = 0; slot < 32; ++slot) colours[slot] = colour((slot & 3) == 0 ? 0 : slot);
  look_up_32(screen_ + line * 256 + from_x, slots + from_x, to_x - from_x, colours);
  emphasis_[line] = s_.mask >> 5;
}

void Ppu::fill_backdrop(int line, int from_x, int to_x) {
  const int slot = (s_.v & 0x3F00) == 0x3F00 ? s_.v & 0x1F : 0;
  std::memset(screen_ + line * 256 + from_x, colour(slot), static_cast<std::size_t>(to_x - from_x));
  emphasis_[line] = s_.mask >> 5;
}

}  // namespace warpzone::nes
