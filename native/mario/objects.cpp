#include "mario/objects.hpp"

namespace warpzone::mario {
namespace {

constexpr std::uint8_t kGoomba = 0x06;
constexpr std::uint8_t kBowser = 0x2D;
// Bits of the state of an enemy.
constexpr std::uint8_t kMovingShell = 0x80;
constexpr std::uint8_t kDefeated = 0x20;  // Falls off the screen.
constexpr std::uint8_t kPhase = 0x07;     // 2 and more: stomped, lies still.
constexpr std::uint8_t kStunned = 2;
constexpr std::uint8_t kHammerState = 0x80;
constexpr std::uint8_t kCastle = 3;

std::int32_t as_signed(std::uint8_t value) { return static_cast<std::int8_t>(value); }

std::int32_t object_width(const std::uint8_t* ram, std::uint8_t type) {
  if (object_kind(type) != ObjectKind::kPlatform || type == 0x32) {
    return 16;
  }
  if (type >= 0x2B) {
    return 24;
  }
  // Lifts lose a third of their length in castles and in the harder half of the game.
  return ram[ram::kAreaType] == kCastle || ram[ram::kHarderHalf] != 0 ? 32 : 48;
}

// Lifts keep other things in their state, so only enemies are asked.
bool is_harmless(std::uint8_t type, std::uint8_t state) {
  if (!is_hostile(object_kind(type))) {
    return false;
  }
  if ((state & kDefeated) != 0) {
    return true;
  }
  const bool can_be_stunned = type <= 0x03 || type == kGoomba;
  return can_be_stunned && (state & kMovingShell) == 0 && (state & kPhase) >= kStunned;
}

constexpr std::uint8_t kBlooper = 0x07;
constexpr std::uint8_t kGrayCheepCheep = 0x0A;
constexpr std::uint8_t kRedCheepCheep = 0x0B;

void set_blooper_velocity(const std::uint8_t* ram, int slot, Object& blooper) {
  constexpr std::uint8_t kSinks = 2;  // A bit of the phase, which is kept in place of a speed.
  constexpr std::uint8_t kRight = 1;
  const std::int32_t sideways = ram[ram::kEnemyXSpeed + slot] * kVelocityUnit;
  blooper.x_velocity = ram[ram::kEnemyDirection + slot] == kRight ? sideways : -sideways;
  blooper.y_velocity = -ram[ram::kEnemyYForce + slot] * kVelocityUnit;
  if ((ram[ram::kEnemyYSpeed + slot] & kSinks) != 0) {
    blooper.y_velocity += kVelocityUnit / 2;  // Every other frame.
  }
}

void set_cheep_cheep_velocity(const std::uint8_t* ram, int slot, Object& fish) {
  constexpr std::uint8_t kSinks = 0x10;
  constexpr int kFirstThatRises = 2;  // Those in the first slots swim straight ahead.
  fish.x_velocity = fish.type == kGrayCheepCheep ? -kVelocityUnit / 4 : -kVelocityUnit / 2;
  if (slot >= kFirstThatRises) {
    const std::int32_t slope = kVelocityUnit / 8;
    fish.y_velocity = ram[ram::kEnemyXSpeed + slot] >= kSinks ? slope : -slope;
  }
}

void set_velocity(const std::uint8_t* ram, int slot, Object& object) {
  if (object.type == kBlooper) {
    set_blooper_velocity(ram, slot, object);
  } else if (object.type == kGrayCheepCheep || object.type == kRedCheepCheep) {
    set_cheep_cheep_velocity(ram, slot, object);
  } else {
    object.x_velocity = object.x_speed;
    object.y_velocity = object.y_speed * kVelocityUnit;
  }
}

Object read_slot(const std::uint8_t* ram, int slot) {
  Object object;
  object.type = ram[ram::kEnemyType + slot];
  const bool matters =
      ram[ram::kEnemyActive + slot] != 0 && !is_harmless(object.type, ram[ram::kEnemyState + slot]);
  object.kind = matters ? object_kind(object.type) : ObjectKind::kNone;
  object.x = as_signed(ram[ram::kEnemyXPage + slot]) * 256 + ram[ram::kEnemyX + slot];
  object.y = (ram[ram::kEnemyYPage + slot] - 1) * 256 + ram[ram::kEnemyY + slot];
  object.width = object_width(ram, object.type);
  if (is_fire_bar(object.type)) {
    object.angle = ram[ram::kEnemyYSpeed + slot] & 0x1F;
    object.angle_rest = ram[ram::kEnemyXSpeed + slot];
    const bool backwards = ram[ram::kFireBarDirection + slot] != 0;
    object.spin = backwards ? -ram[ram::kFireBarSpin + slot] : ram[ram::kFireBarSpin + slot];
  } else {
    object.x_speed = as_signed(ram[ram::kEnemyXSpeed + slot]);
    object.y_speed = as_signed(ram[ram::kEnemyYSpeed + slot]);
    set_velocity(ram, slot, object);
  }
  return object;
}

Object read_hammer(const std::uint8_t* ram, int slot) {
  Object object;
  object.type = kHammerType;
  object.kind =
      (ram[ram::kMiscState + slot] & kHammerState) != 0 ? ObjectKind::kHarmful : ObjectKind::kNone;
  object.x = as_signed(ram[ram::kMiscXPage + slot]) * 256 + ram[ram::kMiscX + slot];
  object.y = (ram[ram::kMiscYPage + slot] - 1) * 256 + ram[ram::kMiscY + slot];
  object.x_speed = as_signed(ram[ram::kMiscXSpeed + slot]);
  object.y_speed = as_signed(ram[ram::kMiscYSpeed + slot]);
  object.x_velocity = object.x_speed;
  object.y_velocity = object.y_speed * kVelocityUnit;
  return object;
}

}  // namespace

ObjectKind object_kind(std::uint8_t type) {
  switch (type) {
    case 0x00:  // Koopas, Buzzy Beetle, Hammer Brother, Goomba, Bullet Bill, flying Koopas, Lakitu
    case 0x01:
    case 0x02:
    case 0x03:
    case 0x05:
    case kGoomba:
    case 0x08:
    case 0x09:
    case 0x0E:
    case 0x0F:
    case 0x10:
    case 0x11:
    case 0x14:  // flying Cheep Cheep
    case 0x33:  // Bullet Bill from a cannon
      return ObjectKind::kStompable;
    case 0x04:  // piranha plant upside down (The Lost Levels)
    case 0x07:  // Blooper and Cheep Cheeps, met under water
    case 0x0A:
    case 0x0B:
    case 0x0C:  // Podoboo
    case 0x0D:  // piranha plant
    case 0x12:  // Spiny
    case 0x15:  // Bowser's flame
    case 0x1B:  // fire bars
    case 0x1C:
    case 0x1D:
    case 0x1E:
    case 0x1F:
    case kBowser:
    case kHammerType:
      return ObjectKind::kHarmful;
    case 0x24:  // lifts of every kind
    case 0x25:
    case 0x26:
    case 0x27:
    case 0x28:
    case 0x29:
    case 0x2A:
    case 0x2B:
    case 0x2C:
    case 0x32:  // spring
      return ObjectKind::kPlatform;
    case 0x2E:  // power-up
    case 0x2F:  // vine
      return ObjectKind::kItem;
    default:
      return ObjectKind::kNone;
  }
}

Objects find_objects(const std::uint8_t* ram) {
  Objects found;
  const auto add = [&found](const Object& object) {
    if (object.kind != ObjectKind::kNone) {
      found.items[static_cast<std::size_t>(found.count++)] = object;
    }
  };
  for (int slot = 0; slot < ram::kEnemySlots; ++slot) {
    add(read_slot(ram, slot));
  }
  for (int slot = 0; slot < ram::kMiscSlots; ++slot) {
    add(read_hammer(ram, slot));
  }
  return found;
}

}  // namespace warpzone::mario
