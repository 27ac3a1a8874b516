/// Drawing by whole lines: a line's slots (palette entries 0-31), then their colors. Lines that
/// cross the same row of tiles are prepared together.
#include <algorithm>
#include <cstring>

#include "nes/pixels.hpp"
#include "nes/ppu.hpp"

namespace warpzone::nes {
namespace {

constexpr std::uint64_t kEachByte = 0x0101010101010101ULL;
constexpr int kTilesPerLine = 33;  ///< 32, and one more when the line starts inside a tile.
constexpr int kMargin = 8;         ///< Sprites may reach beyond the right edge.
constexpr int kStride = kTilesPerLine * 8 + kMargin;

std::uint64_t load(const std::uint8_t* from) {
  std::uint64_t word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

void store(std::uint8_t* to, std::uint64_t word) { std::memcpy(to, &word, sizeof word); }

/// All bits of the bytes whose lowest two bits are not both clear.
std::uint64_t opaque(std::uint64_t pixels) { return ((pixels | pixels >> 1) & kEachByte) * 0xFF; }

}  // namespace

/// The eight lines of a row of tiles, in slots.
struct Ppu::Band {
  std::uint8_t slots[8][kStride];
};

void Ppu::fill_sprite_bins() {
  const int height = sprite_height();
  std::memset(bin_size_, 0, sizeof bin_size_);
  for (int i = 0; i < 64; ++i) {
    const int top = s_.oam[i * 4] + 1;
    for (int line = top; line < std::min(top + height, 240); ++line) {
      if (bin_size_[line] < 8) bins_[line][bin_size_[line]++] = static_cast<std::uint8_t>(i);
    }
  }
  sprite_bins_valid_ = true;
}

void Ppu::draw_background(Band& band, std::uint16_t v, bool whole) const {
  // The four palettes' first slots, in each of eight pixels.
  constexpr std::uint64_t kPaints[4] = {0, kEachByte * 4, kEachByte * 8, kEachByte * 12};
  const std::uint64_t* rows = rows_ + ((s_.control & 0x10) << 4) * 8;
  const int coarse_y = (v >> 5) & 0x1F;
  const int attribute_row = 0x3C0 + (coarse_y >> 2) * 8;
  const int attribute_shift = (coarse_y & 2) << 1;
  const int top = v >> 12;
  int column = v & 0x1F;
  int nametable = v & 0x0C00;
  int left = kTilesPerLine;
  for (std::uint8_t* out = band.slots[0]; left > 0; column = 0, nametable ^= 0x0400) {
    const std::uint8_t* page = s_.vram + vram_index(static_cast<std::uint16_t>(nametable));
    const std::uint8_t* tiles = page + coarse_y * 32;
    const std::uint8_t* attributes = page + attribute_row;
    const int end = std::min(32, column + left);
    left -= end - column;
    for (; column < end; ++column, out += 8) {
      const int palette = (attributes[column >> 2] >> (attribute_shift | (column & 2))) & 3;
      const std::uint64_t paint = kPaints[palette];
      const std::uint64_t* tile = rows + tiles[column] * 8;
      if (whole) {
        for (int line = 0; line < 8; ++line) store(out + line * kStride, tile[line] | paint);
      } else {
        store(out + top * kStride, tile[top] | paint);
      }
    }
  }
}

void Ppu::draw_sprites(std::uint8_t* slots, std::uint8_t* layer, int line) const {
  const int count = bin_size_[line];
  const int height = sprite_height();
  // The first sprite in memory lies on top, even where the background then hides it; so sprites
  // are laid over each other before they meet the background.
  for (int n = count - 1; n >= 0; --n) {
    const std::uint8_t* entry = s_.oam + bins_[line][n] * 4;
    const std::uint64_t pixels = sprite_row(entry, line - 1 - entry[0], height);
    // Bit 7 marks a sprite behind the background.
    const std::uint64_t paint =
        kEachByte * static_cast<std::uint64_t>(0x10 | (entry[2] & 3) << 2 | (entry[2] & 0x20) << 2);
    const std::uint64_t drawn = opaque(pixels);
    store(layer + entry[3], (load(layer + entry[3]) & ~drawn) | ((pixels | paint) & drawn));
  }
  if ((s_.mask & 0x04) == 0) store(layer, 0);
  for (int n = 0; n < count; ++n) {
    const int x = s_.oam[bins_[line][n] * 4 + 3];
    const std::uint64_t above = load(layer + x), below = load(slots + x);
    const std::uint64_t hidden = (above >> 7 & kEachByte) * 0xFF & opaque(below);
    const std::uint64_t shown = opaque(above) & ~hidden;
    store(slots + x, (below & ~shown) | (above & shown & kEachByte * 0x1F));
    store(layer + x, 0);  // Where sprites overlap the next one finds nothing left to do.
  }
}

void Ppu::list_colors(std::uint8_t* colors) const {
  const int bits = (s_.mask & 0x01) != 0 ? 0x30 : 0x3F;
  for (int slot = 0; slot < 32; ++slot) {
    colors[slot] = static_cast<std::uint8_t>(s_.palette[slot] & bits);
  }
  // Transparent everywhere shows the backdrop, the first entry.
  for (int slot = 4; slot < 32; slot += 4) colors[slot] = colors[0];
}

void Ppu::draw_lines(int first_line, int count, int from_x, int to_x) {
  const auto width = static_cast<std::size_t>(to_x - from_x);
  std::memset(emphasis_ + first_line, s_.mask >> 5, static_cast<std::size_t>(count));
  if (!rendering()) {
    // The unit then shows the palette entry its address points at, if any.
    const int slot = (s_.v & 0x3F00) == 0x3F00 ? s_.v & 0x1F : 0;
    for (int line = first_line; line < first_line + count; ++line) {
      std::memset(screen_ + line * 256 + from_x, color(slot), width);
    }
    return;
  }
  if (!sprite_bins_valid_) fill_sprite_bins();
  std::uint8_t colors[32];
  list_colors(colors);
  const bool background = (s_.mask & 0x08) != 0, sprites = (s_.mask & 0x10) != 0;
  Band band;
  std::uint8_t layer[256 + kMargin] = {};

  Scroll scroll = scroll_state();
  for (int line = first_line; count > 0;) {
    // The next line continues in the same tiles unless these end or the scroll position was
    // changed meanwhile; the ones after it then do so as well.
    const std::uint16_t v = scroll.line_v;
    const int top = v >> 12;
    Scroll next = scroll;
    scroll_lines(next, 1);
    const int lines = next.line_v == v + 0x1000 ? std::min(count, 8 - top) : 1;
    if (background) {
      draw_background(band, v, lines > 1);
    } else {
      std::memset(&band, 0, sizeof band);
    }
    std::uint8_t* const slots = band.slots[top] + s_.fine_x;
    for (int i = 0; i < lines; ++i) {
      if ((s_.mask & 0x02) == 0) store(slots + i * kStride, 0);
      if (sprites && bin_size_[line + i] != 0) draw_sprites(slots + i * kStride, layer, line + i);
    }
    look_up_32(screen_ + line * 256 + from_x, 256, slots + from_x, kStride, to_x - from_x, lines,
               colors);
    if (lines > 1) scroll_lines(scroll, lines);
    if (lines == 1) scroll = next;
    line += lines;
    count -= lines;
  }
}

}  // namespace warpzone::nes
