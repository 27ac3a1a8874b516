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

/// Of the nearest objects, the first have all their features, the others only those for a map.
constexpr int kDescribed = 5;
constexpr int kNearest = 10;
/// Frames from now to the moment of the `next` features: two steps with the usual frame skip.
constexpr int kAhead = 8;
constexpr std::array<const char*, kFeatureCount> kNames = {
    "x_speed", "y_speed", "x_in_tile", "y_in_tile", "power", "on_ground", "jumping", "falling",
    "climbing", "swimming", "crouching", "in_control", "injury_timer", "star_timer", "button_a",
    "button_b", "button_select", "button_start", "button_up", "button_down", "button_left",
    "button_right", "screen_x", "y", "facing_right", "water", "ground", "underground", "castle",
    "page", "column", "clock", "loop_correct", "loop_passes", "scroll_locked", "object1_kind",
    "object1_type", "object1_x", "object1_y", "object1_speed", "object1_fall", "object1_angle",
    "object2_kind", "object2_type", "object2_x", "object2_y", "object2_speed", "object2_fall",
    "object2_angle", "object3_kind", "object3_type", "object3_x", "object3_y", "object3_speed",
    "object3_fall", "object3_angle", "object4_kind", "object4_type", "object4_x", "object4_y",
    "object4_speed", "object4_fall", "object4_angle", "object5_kind", "object5_type", "object5_x",
    "object5_y", "object5_speed", "object5_fall", "object5_angle",
    // Features of version 2 follow those of version 1, whose order trained policies rely on.
    "place", "far_place", "level", "object1_next_x", "object1_next_y", "object1_next_angle",
    "object2_next_x", "object2_next_y", "object2_next_angle", "object3_next_x", "object3_next_y",
    "object3_next_angle", "object4_next_x", "object4_next_y", "object4_next_angle",
    "object5_next_x", "object5_next_y", "object5_next_angle", "object6_next_x", "object6_next_y",
    "object6_next_angle", "object6_kind", "object6_type", "object7_next_x", "object7_next_y",
    "object7_next_angle", "object7_kind", "object7_type", "object8_next_x", "object8_next_y",
    "object8_next_angle", "object8_kind", "object8_type", "object9_next_x", "object9_next_y",
    "object9_next_angle", "object9_kind", "object9_type", "object10_next_x", "object10_next_y",
    "object10_next_angle", "object10_kind", "object10_type"};

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

/// The column of 16 pixels in which Mario is, counted from the start of the area, in two bytes: no
/// level is longer than 512 columns.
void write_place(const std::uint8_t* ram, Writer& out) {
  constexpr int kColumn = 16;
  constexpr int kFar = 256;
  const std::int32_t column = std::max(player_x(ram), 0) / kColumn;
  out.add(byte(column));
  out.add(byte(column - kFar + 1));
  out.add(byte((ram[ram::kWorld] * 4 + ram[ram::kStage]) * 8));
}

/// Objects by their distance from Mario, nearest first.
Objects nearest_objects(const std::uint8_t* ram) {
  const std::int32_t x = player_x(ram);
  const std::int32_t y = player_y(ram);
  const auto gap = [x, y](const Object& object) {
    return std::abs(object.x - x) + std::abs(object.y - y);
  };
  Objects objects = find_objects(ram);
  const auto last = objects.items.begin() + objects.count;
  auto rest = objects.items.begin();
  for (int i = 0; i < kNearest && rest != last; ++i, ++rest) {
    // Not a sort: the order of equally distant objects must stay as it is.
    std::iter_swap(rest, std::min_element(rest, last, [&gap](const Object& a, const Object& b) {
                     return gap(a) < gap(b);
                   }));
  }
  return objects;
}

void write_object(const std::uint8_t* ram, const Object* object, Writer& out) {
  if (object == nullptr) {
    for (const int value : {0, 0, 128, 128, 128, 128, 0}) out.add(byte(value));
    return;
  }
  out.add(kind_value(object->kind));
  out.add(byte(object->type * 4));
  out.add(centred((object->x - player_x(ram)) / 2));
  out.add(centred((object->y - player_y(ram)) / 2));
  out.add(centred(object->x_speed * 2));
  // Hammers have none here: policies of version 1 have never seen it.
  out.add(centred(object->type == kHammerType ? 0 : object->y_speed * 16));
  out.add(byte(object->angle * 8));
}

/// Where an object will be relative to Mario if both keep their speeds.
void write_next(const std::uint8_t* ram, const Object* object, Writer& out) {
  if (object == nullptr) {
    for (const int value : {128, 128, 0}) out.add(byte(value));
    return;
  }
  const int x_speed = static_cast<std::int8_t>(ram[ram::kXSpeed]);
  const int y_speed = static_cast<std::int8_t>(ram[ram::kYSpeed]) * kVelocityUnit;
  const int right =
      object->x - player_x(ram) + (object->x_velocity - x_speed) * kAhead / kVelocityUnit;
  const int down =
      object->y - player_y(ram) + (object->y_velocity - y_speed) * kAhead / kVelocityUnit;
  out.add(centred(right / 2));
  out.add(centred(down / 2));
  out.add(byte(next_angle(*object, kAhead) * 8));
}

}  // namespace

void write_features(const std::uint8_t* ram, std::uint8_t buttons, std::uint8_t* out) {
  Writer writer(out);
  write_mario(ram, writer);
  for (int bit = 0; bit < 8; ++bit) {
    writer.add(truth((buttons >> bit & 1) != 0));
  }
  write_level(ram, writer);
  const Objects objects = nearest_objects(ram);
  const auto object_at = [&objects](int index) {
    return index < objects.count ? objects.begin() + index : nullptr;
  };
  for (int i = 0; i < kDescribed; ++i) write_object(ram, object_at(i), writer);
  write_place(ram, writer);
  for (int i = 0; i < kNearest; ++i) {
    const Object* object = object_at(i);
    write_next(ram, object, writer);
    if (i < kDescribed) continue;
    writer.add(object == nullptr ? 0 : kind_value(object->kind));
    writer.add(object == nullptr ? 0 : byte(object->type * 4));
  }
}

const char* feature_name(int index) {
  if (index < 0 || index >= kFeatureCount) {
    throw std::out_of_range("there is no feature " + std::to_string(index));
  }
  return kNames[static_cast<std::size_t>(index)];
}

}  // namespace warpzone::mario
