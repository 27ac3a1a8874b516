// The closed forms of scroll.hpp against the unit's own steps, one dot at a time.
#include "check.hpp"
#include "nes/scroll.hpp"

namespace warpzone::nes {
namespace {

constexpr int kAllScrolls = 0x8000;

// Written from the description of the hardware, sharing nothing with the code under test.
int literal_right(int v) {
  if ((v & 0x1F) == 31) return (v & ~0x1F) ^ 0x0400;
  return v + 1;
}

int literal_down(int v) {
  if ((v & 0x7000) != 0x7000) return v + 0x1000;
  v &= ~0x7000;
  int row = (v & 0x03E0) >> 5;
  if (row == 29) {
    row = 0;
    v ^= 0x0800;
  } else if (row == 31) {
    row = 0;
  } else {
    ++row;
  }
  return (v & ~0x03E0) | row << 5;
}

void literal_dot(Scroll& s, int dot, bool pre_render) {
  if (pre_render && dot == 0) s.line_v = s.v;
  if (dot == 321) {
    s.line_v_before = s.line_v;
    s.line_v = s.v;
  }
  int v = s.v;
  const bool fetching = (dot >= 1 && dot <= 256) || (dot >= 321 && dot <= 336);
  if (fetching && dot % 8 == 0) v = literal_right(v);
  if (dot == 256) v = literal_down(v);
  if (dot == 257) v = (v & ~0x041F) | (s.t & 0x041F);
  if (pre_render && dot >= 280 && dot <= 304) v = (v & ~0x7BE0) | (s.t & 0x7BE0);
  s.v = static_cast<std::uint16_t>(v);
}

bool same(const Scroll& a, const Scroll& b) {
  return a.v == b.v && a.t == b.t && a.line_v == b.line_v && a.line_v_before == b.line_v_before;
}

Scroll scroll_at(int v, int t) {
  return {static_cast<std::uint16_t>(v), static_cast<std::uint16_t>(t), 0x1234, 0x2345};
}

int other_scroll(int v) { return (v * 0x2F35 + 0x1D3B) & 0x7FFF; }

}  // namespace

TEST(stepping_right_agrees_with_single_steps_for_every_scroll) {
  int wrong = 0;
  for (int v = 0; v < kAllScrolls; ++v) {
    int literal = v;
    for (int tiles = 0; tiles <= 33; ++tiles) {
      wrong += step_coarse_x(static_cast<std::uint16_t>(v), tiles) != literal;
      literal = literal_right(literal);
    }
  }
  CHECK_EQ(wrong, 0);
}

TEST(stepping_down_agrees_with_single_steps_for_every_scroll) {
  int wrong = 0;
  for (int v = 0; v < kAllScrolls; v += 0x20) {  // The coarse x takes no part.
    int literal = v;
    for (int rows = 0; rows <= 261; ++rows) {
      wrong += step_rows(static_cast<std::uint16_t>(v), rows) != literal;
      literal = literal_down(literal);
    }
  }
  CHECK_EQ(wrong, 0);
}

TEST(any_part_of_a_line_from_its_beginning_agrees_for_every_scroll) {
  int wrong = 0;
  for (int v = 0; v < kAllScrolls; ++v) {
    const bool pre_render = v % 2 != 0;
    const Scroll start = scroll_at(v, other_scroll(v));
    Scroll literal = start;
    for (int to = 0; to <= kDotsPerLine; ++to) {
      Scroll closed = start;
      scroll_dots(closed, 0, to, pre_render);
      wrong += !same(closed, literal);
      if (to < kDotsPerLine) literal_dot(literal, to, pre_render);
    }
  }
  CHECK_EQ(wrong, 0);
}

TEST(any_part_of_a_line_between_any_two_dots_agrees) {
  int wrong = 0;
  for (int from = 0; from < kDotsPerLine; ++from) {
    for (const bool pre_render : {false, true}) {
      const int v = other_scroll(from * 97 + pre_render);
      const Scroll start = scroll_at(v, other_scroll(v));
      Scroll literal = start;
      for (int to = from + 1; to <= kDotsPerLine; ++to) {
        literal_dot(literal, to - 1, pre_render);
        Scroll closed = start;
        scroll_dots(closed, from, to, pre_render);
        wrong += !same(closed, literal);
      }
    }
  }
  CHECK_EQ(wrong, 0);
}

TEST(whole_lines_agree_with_single_dots) {
  int wrong = 0;
  for (int v = 0; v < kAllScrolls; v += 37) {
    // Lines follow one another: what the first one is drawn from was fetched before.
    Scroll start = scroll_at(v, other_scroll(v));
    for (int dot = 0; dot < kDotsPerLine; ++dot) literal_dot(start, dot, false);
    Scroll literal = start;
    for (int lines = 1; lines <= 40; ++lines) {
      for (int dot = 0; dot < kDotsPerLine; ++dot) literal_dot(literal, dot, false);
      Scroll closed = start;
      scroll_lines(closed, lines);
      wrong += !same(closed, literal);
    }
  }
  CHECK_EQ(wrong, 0);
}

TEST(a_whole_frame_of_lines_agrees_with_single_lines) {
  int wrong = 0;
  for (int v = 0; v < kAllScrolls; v += 11) {
    const Scroll start = scroll_at(v, other_scroll(v));
    Scroll single = start;
    for (int lines = 1; lines <= 240; ++lines) {
      scroll_lines(single, 1);
      Scroll closed = start;
      scroll_lines(closed, lines);
      wrong += !same(closed, single);
    }
  }
  CHECK_EQ(wrong, 0);
}

}  // namespace warpzone::nes
