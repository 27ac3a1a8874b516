#include "search/macros.hpp"

#include <algorithm>

#include "nes/console.hpp"

namespace warpzone::search {
namespace {

using namespace nes::button;

constexpr int kTapFrames = 4;
// Of a combination that is not allowed, what to let go until one is: rather the run than the jump,
// rather both than the direction.
constexpr std::uint8_t kLetGo[] = {0,
                                   kB,
                                   kA,
                                   kA | kB,
                                   kLeft | kRight,
                                   kLeft | kRight | kB,
                                   kLeft | kRight | kA,
                                   kLeft | kRight | kA | kB};

struct Leaning {
  double share, right, left;
};
constexpr Leaning kLeanings[] = {{0.62, 0.86, 0.06}, {0.25, 0.45, 0.35}, {0.13, 0.10, 0.80}};

struct Hold {
  double share;
  std::uint32_t least, span;  ///< Frames.
};
constexpr Hold kHolds[] = {{0.45, 2, 10}, {0.40, 8, 24}, {0.15, 20, 50}};

constexpr double kRun = 0.75, kJump = 0.45, kDuck = 0.06, kReachUp = 0.03, kTap = 0.6;

/// The entry that a number in [0, 1) falls into.
template <typename Entry, std::size_t Count>
const Entry& pick(const Entry (&entries)[Count], double at) {
  for (const Entry& entry : entries) {
    if (at < entry.share) return entry;
    at -= entry.share;
  }
  return entries[Count - 1];
}

}  // namespace

AllowedButtons::AllowedButtons(std::span<const std::uint8_t> combinations) {
  for (const std::uint8_t buttons : combinations) allowed_[buttons] = true;
  if (!combinations.empty()) return;
  constexpr std::uint8_t kSensible = kA | kB | kUp | kDown | kLeft | kRight;
  for (std::size_t buttons = 0; buttons < allowed_.size(); ++buttons) {
    allowed_[buttons] = (buttons & ~std::size_t{kSensible}) == 0;
  }
}

Macros::Macros(Random& random, const AllowedButtons& allowed, int skip)
    : random_(random), allowed_(allowed), skip_(skip) {
  const Leaning& leaning = pick(kLeanings, random_.uniform());
  right_ = leaning.right;
  left_ = leaning.left;
}

std::uint8_t Macros::draw_combination() {
  std::uint8_t buttons = 0;
  const double direction = random_.uniform();
  if (direction < right_) {
    buttons |= kRight;
  } else if (direction < right_ + left_) {
    buttons |= kLeft;
  }
  if (random_.uniform() < kRun) buttons |= kB;
  if (random_.uniform() < kJump) buttons |= kA;
  const double vertical = random_.uniform();
  if (vertical < kDuck) {
    buttons = static_cast<std::uint8_t>((buttons & ~(kLeft | kRight)) | kDown);
  } else if (vertical < kDuck + kReachUp) {
    buttons |= kUp;
  }
  return buttons;
}

std::uint8_t Macros::draw_buttons() {
  const std::uint8_t drawn = draw_combination();
  for (const std::uint8_t unwanted : kLetGo) {
    const auto buttons = static_cast<std::uint8_t>(drawn & ~unwanted);
    if (allowed_.contains(buttons)) return buttons;
  }
  return 0;  // What scripted moments get, and therefore always allowed.
}

int Macros::draw_steps() {
  const Hold& hold = pick(kHolds, random_.uniform());
  const auto frames = static_cast<int>(hold.least + random_.below(hold.span));
  return std::max(1, (frames + skip_ / 2) / skip_);
}

std::uint8_t Macros::next(bool swimming) {
  if (steps_left_ == 0) {
    buttons_ = draw_buttons();
    steps_left_ = draw_steps();
    steps_held_ = 0;
    taps_ = swimming && (buttons_ & kA) != 0 && random_.uniform() < kTap;
  }
  --steps_left_;
  const int period = std::max(1, kTapFrames / skip_);
  const bool lets_go = taps_ && steps_held_++ / period % 2 == 1;
  const auto without = static_cast<std::uint8_t>(buttons_ & ~kA);
  return lets_go && allowed_.contains(without) ? without : buttons_;
}

}  // namespace warpzone::search
