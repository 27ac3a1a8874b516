/// How the PPU's scroll register moves while it draws, in closed form.
///
/// `v` holds (fine y:3, nametable:2, coarse y:5, coarse x:5). While a line is drawn the unit steps
/// coarse x every eight dots, steps y at dot 256, takes x back from `t` at dot 257, fetches two
/// tiles ahead in dots 321-336, and on the pre-render line takes y from `t` in dots 280-304. The
/// pre-render line itself is fetched from where `v` stood, with nothing fetched ahead.
#pragma once

#include <cstdint>

namespace warpzone::nes {

inline constexpr int kDotsPerLine = 341;
inline constexpr int kPreRenderLine = 261;
inline constexpr int kPrefetchEnd = 336;
/// On the pre-render line of odd frames: whether drawing is enabled here decides that the last dot
/// is left out.
inline constexpr int kSkipDecisionDot = 338;
inline constexpr std::uint16_t kHorizontalBits = 0x041F, kVerticalBits = 0x7BE0;

struct Scroll {
  std::uint16_t v, t, line_v, line_v_before;
};

inline std::uint16_t step_coarse_x(std::uint16_t v, int tiles) {
  const int x = (v & 0x1F) + tiles;
  const int nametable_flip = (x >> 5) & 1;
  return static_cast<std::uint16_t>(((v & ~0x1F) | (x & 0x1F)) ^ (nametable_flip << 10));
}

/// Moves down `rows` pixel rows; coarse y wraps at 30 into the other nametable, and at 32 (rows
/// that hold attributes) into the same one.
inline std::uint16_t step_rows(std::uint16_t v, int rows) {
  int row = ((v >> 5) & 0x1F) * 8 + (v >> 12);
  int flips = 0;
  if (row >= 240) {
    if (row + rows >= 256) {
      rows -= 256 - row;
      row = 0;
    } else {
      row += rows;
      rows = 0;
    }
  }
  if (rows > 0) {
    row += rows;
    flips = row / 240;
    row %= 240;
  }
  const int y_bits = ((row & 7) << 12) | ((row >> 3) << 5);
  return static_cast<std::uint16_t>(((v & 0x041F) | (v & 0x0800) | y_bits) ^ ((flips & 1) << 11));
}

inline std::uint16_t take_bits(std::uint16_t v, std::uint16_t t, std::uint16_t bits) {
  return static_cast<std::uint16_t>((v & ~bits) | (t & bits));
}

/// Dots [from, to) of one line with drawing enabled.
inline void scroll_dots(Scroll& s, int from, int to, bool pre_render) {
  const auto crosses = [&](int dot) { return from <= dot && dot < to; };
  if (pre_render && crosses(0)) s.line_v = s.v;
  if (from <= 256) {
    const int before = from > 0 ? (from - 1) / 8 : 0;
    const int until = to > 257 ? 32 : (to > 0 ? (to - 1) / 8 : 0);
    s.v = step_coarse_x(s.v, until - before);
    if (crosses(256)) s.v = step_rows(s.v, 1);
  }
  if (crosses(257)) s.v = take_bits(s.v, s.t, kHorizontalBits);
  if (pre_render && from <= 304 && to > 280) s.v = take_bits(s.v, s.t, kVerticalBits);
  if (crosses(321)) {
    s.line_v_before = s.line_v;
    s.line_v = s.v;
  }
  if (crosses(328)) s.v = step_coarse_x(s.v, 1);
  if (crosses(336)) s.v = step_coarse_x(s.v, 1);
}

/// `lines` whole visible lines with drawing enabled, starting at dot 0.
inline void scroll_lines(Scroll& s, int lines) {
  s.line_v_before =
      lines > 1 ? take_bits(step_rows(s.v, lines - 1), s.t, kHorizontalBits) : s.line_v;
  s.line_v = take_bits(step_rows(s.v, lines), s.t, kHorizontalBits);
  s.v = step_coarse_x(s.line_v, 2);
}

}  // namespace warpzone::nes
