#include <algorithm>
#include <array>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "mario/objects.hpp"
#include "mario/ram.hpp"
#include "mario/signals.hpp"
#include "mario/tiles.hpp"

namespace warpzone::mario {
namespace {

constexpr int kNearest = 5;
constexpr std::array<const char*, kFeatureCount> kNames = {
    "x_speed",       "y_speed",       "x_in_tile",     "y_in_tile",
    "power",         "on_ground",     "jumping",       "falling",
    "climbing",      "swimming",      "crouching",     "in_control",
    "injury_timer",  "star_timer",    "button_a",      "button_b",
    "button_select", "button_start",  "button_up",     "button_down",
    "button_left",   "button_right",  "screen_x",      "y",
    "facing_right",  "water",         "ground",        "underground",
    "castle",        "page",          "column",        "clock",
    "loop_correct",  "loop_passes",   "scroll_locked", "object1_kind",
    "object1_type",  "object1_x",     "object1_y",     "object1_speed",
    "object1_fall",  "object1_angle", "object2_kind",  "object2_type",
    "object2_x",     "object2_y",     "object2_speed", "object2_fall",
    "object2_angle", "object3_kind",  "object3_type",  "object3_x",
    "object3_y",     "object3_speed", "object3_fall",  "object3_angle",
    "object4_kind",  "object4_type",  "object4_x",     "object4_y",
    "object4_speed", "object4_fall",  "object4_angle", "object5_kind",
    "object5_type",  "object5_x",     "object5_y",     "object5_speed",
    "object5_fall",  "object5_angle"};

std::uint8_t byte(std::int32_t value) {
  return static_cast<std::uint8_t>(std::clamp(value, 0, 255));
}
std::uint8_t truth(bool value) { return value ? 255 : 0; }
std::uint8_t centred(std::int32_t value) { return byte(128 + value); }

/// Appends bytes; the order of the calls is the order of kNames.
class Writer {
 public:
  explicit Writer(std::uint8_t* out) : out_(out) {}
  void add(std::uint8_t value) { *out_++ = value; }

 private:
  std::uint8_t* out_;
};

void write_mario(const std::uint8_t* ram, Writer& out) {
  const std::uint8_t floating = ram[ram::kFloatState];
  out.add(centred(static_cast<std::int8_t>(ram[ram::kXSpeed]) * 2));
  out.add(centred(static_cast<std::int8_t>(ram[ram::kYSpeed]) * 16));
  out.add(byte((ram[ram::kX] & 15) * 16));
  out.add(byte((ram[ram::kY] & 15) * 16));
  out.add(byte(ram[ram::kPower] * 127));
  out.add(truth(floating == ram::kOnGround));
  out.add(truth(floating == ram::kJumping));
  out.add(truth(floating == ram::kFalling));
  out.add(truth(floating == ram::kClimbing));
  out.add(truth(ram[ram::kSwimming] != 0));
  out.add(truth(ram[ram::kCrouching] != 0));
  out.add(truth(in_control(ram)));
  out.add(byte(ram[ram::kInjuryTimer] * 16));
  out.add(byte(ram[ram::kStarTimer] * 8));
}

void write_level(const std::uint8_t* ram, Writer& out) {
  out.add(ram[ram::kScreenX]);
  out.add(byte(player_y(ram)));
  out.add(truth(ram[ram::kFacing] == 1));
  for (int type = 0; type < 4; ++type) {
    out.add(truth(ram[ram::kAreaType] == type));
  }
  out.add(byte(ram[ram::kXPage] * 8));
  out.add(byte((ram[ram::kX] >> 4) * 16));
  out.add(byte(decode_clock(ram) * 255 / 400));
  out.add(byte(ram[ram::kLoopCorrect] * 64));
  out.add(byte(ram[ram::kLoopPasses] * 64));
  out.add(truth(ram[ram::kScrollLock] != 0));
}

std::uint8_t kind_value(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kHarmful:
      return 255;
    case ObjectKind::kStompable:
      return 192;
    case ObjectKind::kPlatform:
      return 128;
    case ObjectKind::kItem:
      return 64;
    case ObjectKind::kNone:
      break;
  }
  return 0;
}

void write_objects(const std::uint8_t* ram, Writer& out) {
  const std::int32_t x = player_x(ram);
  const std::int32_t y = player_y(ram);
  Objects objects = find_objects(ram);
  const auto gap = [x, y](const Object& object) {
    return std::abs(object.x - x) + std::abs(object.y - y);
  };
  const auto nearer = [&gap](const Object& left, const Object& right) {
    return gap(left) < gap(right);
  };
  auto rest = objects.items.begin();
  const auto last = rest + objects.count;
  for (int i = 0; i < kNearest; ++i) {
    const bool present = rest != last;
    Object object;
    if (present) {
      std::iter_swap(rest, std::min_element(rest, last, nearer));
      object = *rest++;
    }
    out.add(kind_value(object.kind));
    out.add(byte(object.type * 4));
    out.add(present ? centred((object.x - x) / 2) : 128);
    out.add(present ? centred((object.y - y) / 2) : 128);
    out.add(centred(object.x_speed * 2));
    out.add(centred(object.y_speed * 16));
    out.add(byte(object.angle * 8));
  }
}

}  // namespace

void write_features(const std::uint8_t* ram, std::uint8_t buttons, std::uint8_t* out) {
  Writer writer(out);
  write_mario(ram, writer);
  for (int bit = 0; bit < 8; ++bit) {
    writer.add(truth((buttons >> bit & 1) != 0));
  }
  write_level(ram, writer);
  write_objects(ram, writer);
}

const char* feature_name(int index) {
  if (index < 0 || index >= kFeatureCount) {
    throw std::out_of_range("there is no feature " + std::to_string(index));
  }
  return kNames[static_cast<std::size_t>(index)];
}

}  // namespace warpzone::mario
