#include "mario/tiles.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "mario/objects.hpp"
#include "mario/ram.hpp"
#include "mario/signals.hpp"

namespace warpzone::mario {
namespace {

constexpr int kTile = 16;
constexpr int kTopOfGrid = 32;
constexpr int kColumnsInMemory = 32;
constexpr int kPageBytes = kTileRows * kTileColumns;

std::int32_t floor_tile(std::int32_t pixels) {
  return pixels >= 0 ? pixels / kTile : -((-pixels + kTile - 1) / kTile);
}

constexpr std::array<TileKind, 256> make_tile_kinds() {
  std::array<TileKind, 256> kinds{};
  // Scenery never gets into this memory: what is not 0 matters. The two top bits choose a palette,
  // and each palette begins its climbable tiles at another number.
  constexpr std::array<int, 4> kFirstClimbable = {0x24, 0x6D, 0x8A, 0xC6};
  for (int tile = 1; tile < 256; ++tile) {
    const auto index = static_cast<std::size_t>(tile);
    kinds[index] = tile >= kFirstClimbable[index >> 6] ? TileKind::kItem : TileKind::kSolid;
  }
  kinds[0x5F] = kinds[0x60] = TileKind::kEmpty;  // hidden blocks
  kinds[0xC0] = kinds[0xC1] = TileKind::kQuestion;
  kinds[0xC2] = kinds[0xC3] = TileKind::kItem;  // coins
  kinds[0xC5] = TileKind::kItem;                // axe
  return kinds;
}

constexpr std::array<TileKind, 256> kTileKinds = make_tile_kinds();

/// The grid being written, addressed by level coordinates.
class Grid {
 public:
  Grid(std::uint8_t* cells, std::int32_t first_column)
      : cells_(cells), first_column_(first_column) {}

  void set(Plane plane, std::int32_t column, std::int32_t row, std::uint8_t value) {
    column -= first_column_;
    if (column < 0 || column >= kTileColumns || row < 0 || row >= kTileRows) {
      return;
    }
    std::uint8_t& cell = cells_[static_cast<int>(plane) * kTileCells + row * kTileColumns + column];
    cell = std::max(cell, value);
  }

  /// The cell under a point, in pixels.
  void set_at(Plane plane, std::int32_t x, std::int32_t y, std::uint8_t value) {
    set(plane, floor_tile(x), floor_tile(y - kTopOfGrid), value);
  }

  std::int32_t first_column() const { return first_column_; }

 private:
  std::uint8_t* cells_;
  std::int32_t first_column_;
};

void draw_background(const std::uint8_t* ram, Grid& grid) {
  // Memory holds the last 32 columns laid out; the one laid out next may be half overwritten.
  const std::int32_t next = ram[ram::kParserPage] * kTileColumns + ram[ram::kParserColumn];
  for (int i = 0; i < kTileColumns; ++i) {
    const std::int32_t column = grid.first_column() + i;
    if (column < 0 || column >= next || column <= next - kColumnsInMemory) {
      continue;
    }
    const std::uint8_t* tiles =
        ram + ram::kMetatiles + (column / kTileColumns % 2) * kPageBytes + column % kTileColumns;
    for (int row = 0; row < kTileRows; ++row) {
      const TileKind kind = kTileKinds[tiles[row * kTileColumns]];
      if (kind == TileKind::kSolid || kind == TileKind::kQuestion) {
        grid.set(Plane::kSolid, column, row, kCellFull);
      }
      if (kind == TileKind::kItem || kind == TileKind::kQuestion) {
        grid.set(Plane::kItem, column, row, kind == TileKind::kItem ? kCellFull : kCellWeak);
      }
    }
  }
}

void draw_fire_bar(const Object& bar, Grid& grid) {
  // A quarter of a sine in 1/256; one turn has 32 steps.
  constexpr std::array<int, 9> kSine = {0, 50, 98, 142, 181, 213, 237, 251, 256};
  const auto sine = [&kSine](int angle) {
    const int half = angle & 15;
    const int value = kSine[static_cast<std::size_t>(half <= 8 ? half : 16 - half)];
    return (angle & 16) != 0 ? -value : value;
  };
  constexpr int kBall = 8;
  for (int i = 0; i < fire_bar_length(bar.type); ++i) {
    const std::int32_t x = bar.x + kBall / 2 + i * kBall * sine(bar.angle) / 256;
    const std::int32_t y = bar.y + kBall / 2 - i * kBall * sine(bar.angle + 8) / 256;
    grid.set_at(Plane::kHostile, x, y, kCellFull);
  }
}

/// How far below an object's y its middle lies. Walkers are drawn 24 pixels high and fill the lower
/// 16, lifts are touched at their top.
std::int32_t middle_below(const Object& object) {
  constexpr std::uint8_t kFlame = 0x15;
  if (object.kind == ObjectKind::kPlatform) {
    return 0;
  }
  return object.type == kHammerType || object.type == kFlame ? kTile / 2 : kTile;
}

Plane plane_of(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kPlatform:
      return Plane::kPlatform;
    case ObjectKind::kItem:
      return Plane::kItem;
    default:
      return Plane::kHostile;
  }
}

void draw_object(const Object& object, Grid& grid) {
  if (is_fire_bar(object.type)) {
    draw_fire_bar(object, grid);
    return;
  }
  const Plane plane = plane_of(object.kind);
  const std::int32_t y = object.y + middle_below(object);
  const std::uint8_t value = object.kind == ObjectKind::kStompable ? kCellWeak : kCellFull;
  if (object.width <= kTile) {
    grid.set_at(plane, object.x + kTile / 2, y, value);
    return;
  }
  for (std::int32_t x = object.x + kTile / 4; x < object.x + object.width; x += kTile / 2) {
    grid.set_at(plane, x, y, value);
  }
}

void draw_mario(const std::uint8_t* ram, Grid& grid) {
  // The sprite is 32 pixels high; small Mario fills the lower half.
  const std::int32_t x = player_x(ram) + kTile / 2;
  const std::int32_t y = player_y(ram) + kTile * 3 / 2;
  grid.set_at(Plane::kMario, x, y, kCellFull);
  const bool tall = ram[ram::kSize] == 0 && ram[ram::kCrouching] == 0;
  if (tall) {
    grid.set_at(Plane::kMario, x, y - kTile, kCellFull);
  }
}

}  // namespace

TileKind tile_kind(std::uint8_t metatile) { return kTileKinds[metatile]; }

void write_tiles(const std::uint8_t* ram, std::uint8_t* out) {
  std::memset(out, 0, kTileBytes);
  Grid grid(out, floor_tile(player_x(ram) + kTile / 2) - kMarioColumn);
  draw_background(ram, grid);
  for (const Object& object : find_objects(ram)) {
    draw_object(object, grid);
  }
  draw_mario(ram, grid);
}

}  // namespace warpzone::mario
