/// The short path: any number of dots at once, as long as no register is written in between.
#include <algorithm>
#include <cstring>

#include "nes/ppu.hpp"

namespace warpzone::nes {
namespace {

constexpr std::uint64_t kNever = ~std::uint64_t{0};
constexpr int kVblankSetDot = kDotsPerLine + 1;        ///< After frame_start: line 241, dot 1.
constexpr int kFlagsClearDot = 21 * kDotsPerLine + 1;  ///< Line 261, dot 1.
constexpr int kImageStart = 22 * kDotsPerLine;         ///< Line 0, dot 0, no dot skipped.

}  // namespace

bool Ppu::skips_dot() const {
  const bool decided = s_.line == kPreRenderLine && s_.dot > kSkipDecisionDot;
  return decided ? s_.skip_dot != 0 && s_.dot < 340 : s_.odd_frame != 0 && rendering();
}

std::uint64_t Ppu::clock_of(int line, int dot) const {
  if (line >= 240) return s_.frame_start + (line - 240) * kDotsPerLine + dot;
  if (s_.line < 240) {
    return s_.clock + static_cast<std::int64_t>((line - s_.line) * kDotsPerLine + dot - s_.dot);
  }
  return s_.frame_start + kImageStart - (skips_dot() ? 1 : 0) + line * kDotsPerLine + dot;
}

std::uint64_t Ppu::frame_end() const { return clock_of(239, 340) + 1; }

void Ppu::schedule_flag_event() {
  if (exact_) {
    next_flag_event_ = 0;
  } else if (s_.flags_clock <= s_.frame_start + kVblankSetDot) {
    next_flag_event_ = s_.frame_start + kVblankSetDot;
  } else if (s_.flags_clock <= s_.frame_start + kFlagsClearDot) {
    next_flag_event_ = s_.frame_start + kFlagsClearDot;
  } else {
    next_flag_event_ = frame_end();
  }
}

void Ppu::refresh_flags(std::uint64_t clock) {
  if (clock <= s_.flags_clock) return;
  const bool live = s_.lines_live != 0 && rendering() && on_render_line();
  if (exact_ || live || clock > frame_end()) {
    run_to(clock);
    schedule_flag_event();
    return;
  }
  const auto crossed = [&](std::uint64_t dot) { return s_.flags_clock <= dot && dot < clock; };
  if (crossed(s_.frame_start + kVblankSetDot)) {
    if (s_.suppress_vblank == 0) s_.status |= ppu_status::kVblank;
    s_.suppress_vblank = 0;
  }
  if (crossed(s_.frame_start + kFlagsClearDot)) s_.status &= 0x1F;
  if (clock >= s_.frame_start + kImageStart) {
    forecast();
    if (crossed(sprite_zero_at_)) s_.status |= ppu_status::kSpriteZero;
    if (crossed(overflow_at_)) s_.status |= ppu_status::kOverflow;
  }
  s_.flags_clock = clock;
  schedule_flag_event();
}

std::uint64_t Ppu::flags_stable_until(std::uint64_t clock) {
  refresh_flags(clock);
  if (exact_ || s_.lines_live != 0) return clock;
  if (clock <= s_.frame_start + kVblankSetDot) return s_.frame_start + kVblankSetDot;
  if (clock <= s_.frame_start + kFlagsClearDot) return s_.frame_start + kFlagsClearDot;
  forecast();
  std::uint64_t until = frame_end();
  if (sprite_zero_at_ >= clock) until = std::min(until, sprite_zero_at_);
  if (overflow_at_ >= clock) until = std::min(until, overflow_at_);
  return until;
}

void Ppu::forecast() {
  if (forecast_valid_) return;
  sprite_zero_at_ = forecast_sprite_zero();
  overflow_at_ = forecast_overflow();
  forecast_valid_ = true;
}

std::uint64_t Ppu::forecast_sprite_zero() const {
  if ((s_.mask & 0x18) != 0x18) return kNever;
  const int height = sprite_height();
  const std::uint8_t* entry = s_.oam;
  const bool visible = s_.line < 240;
  const int first_line = std::max(entry[0] + 1, visible ? static_cast<int>(s_.line) : 0);
  const int last_line = std::min(entry[0] + height, 239);
  const int first_x = (s_.mask & 0x06) == 0x06 ? 0 : 8;

  Scroll scroll = scroll_state();
  int line = visible ? s_.line : 0;
  if (!visible) {
    const int from = s_.line == kPreRenderLine ? s_.dot : 0;
    scroll_dots(scroll, from, kDotsPerLine, true);
  }
  for (int target = first_line; target <= last_line; ++target) {
    if (target > line) {
      if (visible && line == s_.line) {
        scroll_dots(scroll, s_.dot, kDotsPerLine, false);
        ++line;
      }
      if (target > line) scroll_lines(scroll, target - line);
      line = target;
    }
    const std::uint64_t sprite = sprite_row(entry, target - 1 - entry[0], height);
    if (sprite == 0) continue;
    const int passed_x = visible && target == s_.line ? s_.dot - 1 : 0;
    for (int column = 0; column < 8; ++column) {
      const int x = entry[3] + column;
      if (((sprite >> (8 * column)) & 3) == 0 || x < first_x || x < passed_x || x >= 255) continue;
      const int stream = x + s_.fine_x;
      const std::uint16_t v = step_coarse_x(scroll.line_v, stream >> 3);
      const int background = s_.vram[vram_index(v & 0x0FFF)];
      const std::uint64_t pixels = rows_[((s_.control & 0x10) << 4 | background) * 8 + (v >> 12)];
      if (((pixels >> (8 * (stream & 7))) & 3) != 0) return clock_of(target, x + 1);
    }
  }
  return kNever;
}

Ppu::LinePosition Ppu::find_overflow(int first_line) const {
  constexpr std::uint64_t kEachByte = 0x0101010101010101ULL;
  // Only a line with eight sprites in range is worth a look: they are counted for all lines at
  // once, eight lines a word. A count stays below 128, so none spills into its neighbour.
  std::uint8_t in_range[256 + 16] = {};
  const int height = sprite_height();
  for (int i = 0; i < 64; ++i) {
    const int y = s_.oam[i * 4];
    if (y >= 240) continue;
    for (int part = 0; part < height; part += 8) {
      std::uint64_t counts;
      std::memcpy(&counts, in_range + y + part, sizeof counts);
      counts += kEachByte;
      std::memcpy(in_range + y + part, &counts, sizeof counts);
    }
  }
  for (int block = first_line & ~7; block < 240; block += 8) {
    std::uint64_t counts;
    std::memcpy(&counts, in_range + block, sizeof counts);
    if (((counts + kEachByte * (128 - 8)) & kEachByte * 128) == 0) continue;
    for (int line = std::max(block, first_line); line < block + 8; ++line) {
      if (in_range[line] < 8) continue;
      if (const int dot = overflow_dot_of_line(line); dot != 0) return {line, dot};
    }
  }
  return {0, 0};
}

std::uint64_t Ppu::forecast_overflow() {
  if (!rendering()) return kNever;
  if (!overflow_found_) first_overflow_ = find_overflow(0);
  overflow_found_ = true;
  const auto passed = [&](const LinePosition& at) {
    return s_.line < 240 && (at.line < s_.line || (at.line == s_.line && at.dot < s_.dot));
  };
  LinePosition found = first_overflow_;
  if (found.dot != 0 && passed(found)) {
    if ((s_.status & ppu_status::kOverflow) != 0) return kNever;  // It can only be found again.
    found = find_overflow(s_.line);
    if (found.dot != 0 && passed(found)) found = find_overflow(s_.line + 1);
  }
  return found.dot != 0 ? clock_of(found.line, found.dot) : kNever;
}

void Ppu::advance(std::uint64_t clock) {
  clock = std::min(clock, frame_end());
  refresh_flags(clock);
  while (s_.clock < clock) {
    const std::uint64_t left = clock - s_.clock;
    if (s_.line < 240 && s_.dot == 0 && left >= kDotsPerLine) {
      const int lines = static_cast<int>(
          std::min<std::uint64_t>(left / kDotsPerLine, static_cast<std::uint64_t>(240 - s_.line)));
      if (drawing_) draw_lines(s_.line, lines, 0, 256);
      if (rendering()) {
        Scroll scroll = scroll_state();
        scroll_lines(scroll, lines);
        take(scroll);
        s_.oam_address = 0;
      }
      s_.clock += static_cast<std::uint64_t>(lines) * kDotsPerLine;
      s_.line = static_cast<std::int16_t>(s_.line + lines);
      if (s_.line == 240) end_of_frame();
    } else if (s_.line >= 240 && s_.line < kPreRenderLine) {
      const auto to_pre_render =
          static_cast<std::uint64_t>((kPreRenderLine - s_.line) * kDotsPerLine - s_.dot);
      const std::uint64_t dots = std::min(left, to_pre_render);
      s_.clock += dots;
      const auto position = static_cast<int>(s_.clock - s_.frame_start);
      s_.line = static_cast<std::int16_t>(240 + position / kDotsPerLine);
      s_.dot = static_cast<std::int16_t>(position % kDotsPerLine);
    } else {
      const int line_end = s_.line == kPreRenderLine && skips_dot() ? 340 : kDotsPerLine;
      advance_span(static_cast<int>(
          std::min<std::uint64_t>(s_.dot + left, static_cast<std::uint64_t>(line_end))));
    }
  }
}

void Ppu::advance_span(int to) {
  const int from = s_.dot;
  const bool pre_render = s_.line == kPreRenderLine;
  const int line_end = pre_render && skips_dot() ? 340 : kDotsPerLine;
  if (drawing_ && !pre_render && from <= 256 && to > 1) {
    draw_lines(s_.line, 1, std::max(from, 1) - 1, std::min(to, 257) - 1);
  }
  if (rendering()) {
    Scroll scroll = scroll_state();
    scroll_dots(scroll, from, to, pre_render);
    take(scroll);
    if (from <= 320 && to > 257) s_.oam_address = 0;
  }
  if (pre_render && from <= kSkipDecisionDot && to > kSkipDecisionDot) s_.skip_dot = skips_dot();
  s_.clock += static_cast<std::uint64_t>(to - from);
  s_.dot = static_cast<std::int16_t>(to);
  if (to == line_end) {
    s_.dot = 0;
    s_.overflow_dot = 0;
    s_.line = pre_render ? 0 : static_cast<std::int16_t>(s_.line + 1);
    if (s_.line == 240) end_of_frame();
  }
}

void Ppu::go_live(int lines) {
  if (!exact_) draw_by_dots(lines);
}

void Ppu::draw_by_dots(int lines) {
  if (!on_render_line()) return;
  if (!exact_ && rendering() && s_.lines_live == 0) rebuild_pipeline();
  // The count goes down at the end of each prefetch; one under way does not count.
  const bool prefetching = s_.dot > 321 && s_.dot <= kPrefetchEnd;
  s_.lines_live =
      std::max(s_.lines_live, static_cast<std::uint8_t>(prefetching ? lines + 1 : lines));
}

void Ppu::settle(std::uint64_t clock) {
  run_to(clock);
  draw_by_dots(2);
}

void Ppu::rebuild_pipeline() {
  const int dot = s_.dot;
  const bool visible = s_.line < 240;
  s_.pattern_low = s_.pattern_high = s_.attribute_low = s_.attribute_high = 0;
  s_.next_tile = s_.next_attribute = s_.next_low = s_.next_high = 0;
  // Fetches `dots` dots from `start` on, of which only the last three tiles leave a trace.
  const auto fetch_again = [&](std::uint16_t start, int dots) {
    const std::uint16_t keep = s_.v;
    const int skipped = std::max(dots / 8 - 2, 0);
    s_.v = step_coarse_x(start, skipped);
    for (int i = skipped * 8; i < dots; ++i) {
      shift_pipeline();
      fetch(i & 7);
    }
    s_.v = keep;
  };
  const int ahead = visible ? 16 : 0;  // Dots spent on the line in hand before it began.
  const int shown = std::clamp(dot - 1, 0, 256);
  if (dot > 321 && dot <= kPrefetchEnd) {
    fetch_again(s_.line_v_before, ahead + 256);
    fetch_again(s_.line_v, dot - 321);
  } else {
    fetch_again(s_.line_v, dot > kPrefetchEnd ? 16 : ahead + shown);
  }
  load_sprites(dot <= 257 ? (visible ? s_.line : 0) : (visible ? s_.line + 1 : 0));
  s_.overflow_dot =
      static_cast<std::uint16_t>(visible && dot > 65 ? overflow_dot_of_line(s_.line) : 0);
}

}  // namespace warpzone::nes
