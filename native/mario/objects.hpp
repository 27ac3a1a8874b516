/// The moving objects of the game, by what they mean to Mario.
#pragma once

#include <array>
#include <cstdint>

#include "mario/ram.hpp"

namespace warpzone::mario {

enum class ObjectKind : std::uint8_t {
  kNone,       ///< Nothing, or something that neither helps nor harms.
  kStompable,  ///< Harms by touch, but can be jumped on.
  kHarmful,    ///< Harms however it is touched.
  kPlatform,   ///< Carries Mario.
  kItem,       ///< To be touched: power-ups and vines.
};

constexpr bool is_hostile(ObjectKind kind) {
  return kind == ObjectKind::kStompable || kind == ObjectKind::kHarmful;
}

inline constexpr std::int32_t kVelocityUnit = 16;  ///< A velocity of one pixel per frame.

struct Object {
  ObjectKind kind = ObjectKind::kNone;
  std::uint8_t type = 0;  ///< As in RAM; hammers, which have no type there, get kHammerType.
  std::int32_t x = 0;     ///< Left edge, level coordinates.
  std::int32_t y = 0;     ///< Downwards from the top of the screen.
  std::int32_t width = 16;
  std::int32_t x_speed = 0;
  std::int32_t y_speed = 0;  ///< Downwards.
  /// Velocity in 1 / kVelocityUnit of a pixel per frame. Swimming enemies have other things than
  /// speeds in the bytes behind `x_speed` and `y_speed`, which trained policies know as they are.
  std::int32_t x_velocity = 0;
  std::int32_t y_velocity = 0;  ///< Downwards.
  std::uint8_t angle = 0;       ///< Fire bars: 0 upwards, 8 right, 16 down, 24 left.
  /// Fire bars: the part of the angle below a whole step, and what each frame adds to it, in 1/256.
  std::uint8_t angle_rest = 0;
  std::int32_t spin = 0;
};

/// Angle of a fire bar some frames later; unchanged for other objects.
constexpr std::uint8_t next_angle(const Object& object, int frames) {
  const std::int32_t angle = object.angle * 256 + object.angle_rest + object.spin * frames;
  return static_cast<std::uint8_t>(angle >> 8 & 0x1F);
}

inline constexpr std::uint8_t kHammerType = 0x3F;

/// Kind of an object type (ram::kEnemyType).
ObjectKind object_kind(std::uint8_t type);

constexpr bool is_fire_bar(std::uint8_t type) { return type >= 0x1B && type <= 0x1F; }
inline constexpr std::uint8_t kLongFireBar = 0x1F;
/// Number of balls of a fire bar, the middle one included.
constexpr int fire_bar_length(std::uint8_t type) { return type == kLongFireBar ? 12 : 6; }

struct Objects {
  std::array<Object, ram::kEnemySlots + ram::kMiscSlots> items;
  int count = 0;
  const Object* begin() const { return items.data(); }
  const Object* end() const { return items.data() + count; }
};

/// Everything that matters now: not kNone, not defeated, no shell at rest.
Objects find_objects(const std::uint8_t* ram);

}  // namespace warpzone::mario
