/// The PPU: registers, timing, flags and pixels.
///
/// Two paths share one state. `step_dot` does literally what happens at one dot
/// (ppu_dots.cpp). `advance` reaches any later dot at once (ppu_advance.cpp): scroll in closed
/// form, flags from a forecast, pixels by whole spans (ppu_draw.cpp). A write that meets a line
/// half drawn, in a case that the closed form does not cover, sends the rest of that line to
/// `step_dot`.
#pragma once

#include <cstdint>

#include "nes/cartridge.hpp"
#include "nes/patterns.hpp"
#include "nes/scroll.hpp"
#include "nes/state.hpp"

namespace warpzone::nes {

namespace ppu_status {
inline constexpr std::uint8_t kOverflow = 0x20, kSpriteZero = 0x40, kVblank = 0x80;
}

class Ppu {
 public:
  /// `screen` has 240 x 256 color numbers, `emphasis` one byte per row.
  Ppu(PpuState& state, const Cartridge& cartridge, std::uint8_t* pattern_ram, bool exact,
      std::uint8_t* screen, std::uint8_t* emphasis);

  void power_on();
  void reset(std::uint64_t clock);
  /// Brings the state into a form from which the literal and the fast path can both continue, in
  /// the middle of a frame as well.
  void settle(std::uint64_t clock);
  /// Must follow every change of the state from outside (a restored snapshot).
  void state_replaced();

  /// Pixels are written only while drawing is on; everything else is the same either way.
  void set_drawing(bool drawing) { drawing_ = drawing; }

  /// Processes every dot before `clock`.
  void run_to(std::uint64_t clock);

  /// Register accesses ($2000 + index) at the given clock.
  std::uint8_t read(int index, std::uint64_t clock);
  void write(int index, std::uint8_t value, std::uint64_t clock);
  /// One byte of sprite DMA.
  void write_oam(std::uint8_t value, std::uint64_t clock);
  /// All 256 bytes of it; only while the unit does not look at its sprites (vertical blank).
  void copy_oam(const std::uint8_t* page, std::uint64_t clock);

  /// Level of the interrupt line once every dot before `clock` is done.
  bool nmi_level(std::uint64_t clock) {
    if (clock > next_flag_event_) refresh_flags(clock);
    return (s_.status & s_.control & 0x80) != 0;
  }

  /// Whether the interrupt could be enabled at `clock` and the line would still stay down for a
  /// cycle or two.
  bool nmi_stays_low(std::uint64_t clock);

  /// Clock at which the running frame ends (scanline 240, dot 0), if nothing is written until then.
  std::uint64_t frame_end() const;
  /// Clock right after the next vertical blank after `now` begins: only then, or by a write, does
  /// the interrupt line rise.
  std::uint64_t next_vblank(std::uint64_t now) const;
  /// No status flag changes at a dot before the returned clock, unless a register is written.
  std::uint64_t flags_stable_until(std::uint64_t clock);
  /// Whether the next dot to process, now and at `clock`, lies in the vertical blank.
  bool in_vblank_until(std::uint64_t clock) const {
    return s_.line >= 240 && s_.line < kPreRenderLine &&
           clock < s_.frame_start + (kPreRenderLine - 240) * kDotsPerLine;
  }

 private:
  friend class PpuInspector;

  bool rendering() const { return (s_.mask & 0x18) != 0; }
  bool on_render_line() const { return s_.line < 240 || s_.line == kPreRenderLine; }
  int sprite_height() const { return (s_.control & 0x20) != 0 ? 16 : 8; }
  /// Eight pixels of a sprite, mirrored as its entry asks; `row` counts from its top.
  std::uint64_t sprite_row(const std::uint8_t* entry, int row, int height) const {
    if ((entry[2] & 0x80) != 0) row = height - 1 - row;
    const int table = height == 16 ? (entry[1] & 1) << 8 : (s_.control & 0x08) << 5;
    const int tile = height == 16 ? (entry[1] & 0xFE) + (row >> 3) : entry[1];
    const std::uint64_t pixels = rows_[(table + tile) * 8 + (row & 7)];
    return (entry[2] & 0x40) != 0 ? mirror_row(pixels) : pixels;
  }
  Scroll scroll_state() const { return {s_.v, s_.t, s_.line_v, s_.line_v_before}; }
  void take(const Scroll& scroll) {
    s_.v = scroll.v;
    s_.line_v = scroll.line_v;
    s_.line_v_before = scroll.line_v_before;
  }
  void shift_pipeline() {
    s_.pattern_low <<= 1;
    s_.pattern_high <<= 1;
    s_.attribute_low <<= 1;
    s_.attribute_high <<= 1;
  }
  void sprites_changed() { forecast_valid_ = overflow_found_ = sprite_bins_valid_ = false; }
  /// Before a register access: in vertical blank there is nothing to catch up with.
  void catch_up(std::uint64_t clock) {
    if (exact_ || !in_vblank_until(clock)) run_to(clock);
  }
  std::uint16_t vram_index(std::uint16_t address) const;
  std::uint8_t pattern_byte(std::uint16_t address) const;
  std::uint8_t palette_index(std::uint16_t address) const;
  std::uint8_t read_vram(std::uint16_t address) const;
  void write_vram(std::uint16_t address, std::uint8_t value);
  std::uint8_t color(int slot) const;
  void move_address();
  std::uint8_t read_data();
  /// Whether a write changes nothing that the pixels of a frame depend on.
  bool shows_nothing_new(int index, std::uint8_t value) const;
  void write_control(std::uint8_t value);
  void write_scroll(std::uint8_t value);
  std::uint16_t scrolled(std::uint8_t value) const;
  void write_mask(std::uint8_t value);

  // ppu_dots.cpp
  void step_dot();
  void render_dot();
  void show_dot();
  void show_backdrop(int x);
  void fetch(int phase);
  void load_sprites(int line);
  int overflow_dot_of_line(int line) const;
  void end_of_frame();

  // ppu_advance.cpp
  void advance(std::uint64_t clock);
  void advance_span(int to);
  void refresh_flags(std::uint64_t clock);
  void schedule_flag_event();
  void forecast();
  std::uint64_t forecast_sprite_zero() const;
  std::uint64_t forecast_overflow();
  struct LinePosition {
    int line, dot;
  };
  /// Where overflow is found first from `line` on; dot 0 if nowhere.
  LinePosition find_overflow(int line) const;
  std::uint64_t clock_of(int line, int dot) const;
  bool skips_dot() const;
  /// Called before a write that the closed form does not cover: fills the shift registers with
  /// what the literal path would hold, and goes dot by dot until `lines` more have been fetched.
  void go_live(int lines);
  void draw_by_dots(int lines);
  void rebuild_pipeline();

  // ppu_draw.cpp
  struct Band;
  /// Draws pixels [from_x, to_x) of `count` lines, the first being the one in hand.
  void draw_lines(int first_line, int count, int from_x, int to_x);
  /// The background of the row of tiles at `v`: all eight lines, or only the one at `v`.
  void draw_background(Band& band, std::uint16_t v, bool whole) const;
  /// What each of the 32 slots looks like now.
  void list_colors(std::uint8_t* colors) const;
  void draw_sprites(std::uint8_t* slots, std::uint8_t* layer, int line) const;
  void fill_sprite_bins();

  PpuState& s_;
  const Cartridge& cartridge_;
  std::uint8_t* pattern_ram_;
  const std::uint64_t* rows_;  ///< Expanded patterns: the cartridge's, or own_rows_.
  std::vector<std::uint64_t> own_rows_;
  const bool exact_;
  const bool vertical_;
  bool drawing_ = true;
  std::uint8_t* screen_;
  std::uint8_t* emphasis_;

  // Derived, never saved.
  bool forecast_valid_ = false;
  std::uint64_t sprite_zero_at_ = 0, overflow_at_ = 0;
  std::uint64_t next_flag_event_ = 0;
  /// Sprite overflow depends on sprite memory alone: where a whole frame would set it first.
  bool overflow_found_ = false;
  LinePosition first_overflow_{};
  bool sprite_bins_valid_ = false;
  std::uint8_t bin_size_[240];
  std::uint8_t bins_[240][8];  ///< Sprites on each line.
};

}  // namespace warpzone::nes
