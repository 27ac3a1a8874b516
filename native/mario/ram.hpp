/// Where the game keeps things: addresses in the 2 KiB of work RAM, with the names of the values
/// they take. Super Mario Bros. and The Lost Levels share this map.
#pragma once

#include <cstdint>

namespace warpzone::mario::ram {

using Address = std::uint16_t;

inline constexpr Address kFrameCounter = 0x09;

// Mario.
inline constexpr Address kPlayerTask = 0x0E;  ///< What runs Mario this frame: see PlayerTask.
inline constexpr Address kFloatState = 0x1D;  ///< See FloatState.
inline constexpr Address kFacing = 0x33;      ///< 1 right, 2 left.
inline constexpr Address kXSpeed = 0x57;      ///< Signed, sixteenths of a pixel per frame.
inline constexpr Address kXPage = 0x6D;
inline constexpr Address kX = 0x86;
inline constexpr Address kYSpeed = 0x9F;  ///< Signed, pixels per frame.
inline constexpr Address kYPage = 0xB5;   ///< 0 above the screen, 1 on it, 2 and more below.
inline constexpr Address kY = 0xCE;
inline constexpr Address kScreenX = 0x3AD;
inline constexpr Address kScreenY = 0x3B8;
inline constexpr Address kSwimming = 0x704;
inline constexpr Address kCrouching = 0x714;
inline constexpr Address kSize = 0x754;         ///< 0 big, 1 small.
inline constexpr Address kPower = 0x756;        ///< 0 small, 1 big, 2 fire.
inline constexpr Address kFreezeTimer = 0x747;  ///< Not 0: everything but the event is frozen.
inline constexpr Address kInjuryTimer = 0x79E;
inline constexpr Address kStarTimer = 0x79F;

// Moving objects: six slots, the sixth for power-ups, vines and flags.
inline constexpr int kEnemySlots = 6;
inline constexpr Address kEnemyActive = 0x0F;
inline constexpr Address kEnemyType = 0x16;
inline constexpr Address kEnemyState = 0x1E;
inline constexpr Address kEnemyXSpeed = 0x58;  ///< Fire bars keep the low part of their angle here.
inline constexpr Address kEnemyXPage = 0x6E;
inline constexpr Address kEnemyX = 0x87;
inline constexpr Address kEnemyYSpeed = 0xA0;       ///< Fire bars keep their angle (0-31) here.
inline constexpr Address kFireBarDirection = 0x34;  ///< Not 0: counterclockwise.
inline constexpr Address kFireBarSpin = 0x388;      ///< Per frame, in 1/256 of a step of the angle.
inline constexpr Address kEnemyDirection = 0x46;    ///< 1 right, 2 left.
inline constexpr Address kEnemyYForce = 0x434;      ///< Bloopers: pixels per frame upwards.
inline constexpr Address kEnemyYPage = 0xB6;
inline constexpr Address kEnemyY = 0xCF;

// Hammers and flying coins: nine slots.
inline constexpr int kMiscSlots = 9;
inline constexpr Address kMiscState = 0x2A;  ///< Top bit set: a hammer.
inline constexpr Address kMiscXSpeed = 0x64;
inline constexpr Address kMiscYSpeed = 0xAC;
inline constexpr Address kMiscXPage = 0x7A;
inline constexpr Address kMiscX = 0x93;
inline constexpr Address kMiscYPage = 0xC2;
inline constexpr Address kMiscY = 0xDB;

// The area.
inline constexpr Address kAreaData = 0xE7;  ///< Low, high: the layout being drawn; names the area.
inline constexpr Address kMetatiles = 0x500;   ///< Two pages of 13 rows of 16 metatiles.
inline constexpr Address kParserPage = 0x725;  ///< Page and column that will be laid out next.
inline constexpr Address kParserColumn = 0x726;
inline constexpr Address kWarpZone = 0x6D6;  ///< Not 0: pipes here lead to other worlds.
inline constexpr Address kLoopCorrect = 0x6D9;
inline constexpr Address kLoopPasses = 0x6DA;
inline constexpr Address kAreaChangeTimer = 0x6DE;
inline constexpr Address kScreenLeftPage = 0x71A;
inline constexpr Address kScreenLeft = 0x71C;
inline constexpr Address kScrollLock = 0x723;
inline constexpr Address kCloudArea = 0x743;  ///< Not 0: falling out leads back to the level.
inline constexpr Address kLoopCommand = 0x745;
inline constexpr Address kAreaType = 0x74E;     ///< 0 water, 1 ground, 2 underground, 3 castle.
inline constexpr Address kAreaPointer = 0x750;  ///< Shows the target of a pipe before it is taken.

// The game.
inline constexpr Address kTimeUp = 0x759;  ///< Not 0: the clock ran out.
inline constexpr Address kLives = 0x75A;   ///< FF: game over.
inline constexpr Address kHalfwayPage = 0x75B;
inline constexpr Address kStage = 0x75C;       ///< 0-based.
inline constexpr Address kHiddenLife = 0x75D;  ///< Not 0: the next hidden block with a life exists.
inline constexpr Address kCoins = 0x75E;
inline constexpr Address kWorld = 0x75F;       ///< 0-based.
inline constexpr Address kArea = 0x760;        ///< 0-based; counts entry strips too.
inline constexpr Address kHarderHalf = 0x6CC;  ///< Not 0 from 5-3 on: shorter lifts, more enemies.
inline constexpr Address kPaused = 0x776;      ///< Bit 0: START was pressed, nothing moves.
inline constexpr Address kMode = 0x770;        ///< See Mode.
inline constexpr Address kModeTask = 0x772;    ///< In play: 0-2 loading, 3 running.
inline constexpr Address kIntervalTimer = 0x77F;
inline constexpr Address kPreLevelTimer = 0x7A0;
inline constexpr Address kRandom = 0x7A7;
inline constexpr Address kScore = 0x7DD;  ///< Six digits, in tens of points.
inline constexpr Address kCoinDigits = 0x7ED;
inline constexpr Address kClock = 0x7F8;  ///< Three digits.

inline constexpr int kSize2KiB = 0x800;

/// Values of kPlayerTask.
enum PlayerTask : std::uint8_t {
  kTaskSetUp = 0,
  kTaskVine = 1,
  kTaskSidePipe = 2,
  kTaskVerticalPipe = 3,
  kTaskFlagpole = 4,
  kTaskLevelEnd = 5,
  kTaskLifeLost = 6,
  kTaskEntering = 7,
  kTaskControl = 8,
  kTaskResizing = 9,
  kTaskHurt = 10,
  kTaskDying = 11,
  kTaskFireChange = 12,
};

/// Values of kFloatState.
enum FloatState : std::uint8_t { kOnGround = 0, kJumping = 1, kFalling = 2, kClimbing = 3 };

/// Values of kMode.
enum Mode : std::uint8_t { kTitle = 0, kPlaying = 1, kWorldEnd = 2, kGameOver = 3 };

}  // namespace warpzone::mario::ram
