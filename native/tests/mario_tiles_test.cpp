#include <array>
#include <set>
#include <string>

#include "check.hpp"
#include "mario/objects.hpp"
#include "mario/tiles.hpp"
#include "mario_support.hpp"

using namespace warpzone::mario;

namespace {

using Tiles = std::array<std::uint8_t, kTileBytes>;
using Features = std::array<std::uint8_t, kFeatureCount>;

Tiles tiles_of(const Memory& memory) {
  Tiles tiles;
  tiles.fill(7);
  write_tiles(memory.data(), tiles.data());
  return tiles;
}

int cell(const Tiles& tiles, Plane plane, int row, int column) {
  return tiles[static_cast<std::size_t>(static_cast<int>(plane) * kTileCells + row * kTileColumns +
                                        column)];
}

int count(const Tiles& tiles, Plane plane) {
  int set = 0;
  for (int i = 0; i < kTileCells; ++i) {
    set += tiles[static_cast<std::size_t>(static_cast<int>(plane) * kTileCells + i)] != 0;
  }
  return set;
}

void put_tile(Memory& memory, int column, int row, std::uint8_t tile) {
  memory[static_cast<std::size_t>(ram::kMetatiles + column / 16 % 2 * 208 + row * 16 +
                                  column % 16)] = tile;
}

void put_enemy(Memory& memory, int slot, std::uint8_t type, int x, int y) {
  const auto s = static_cast<std::size_t>(slot);
  memory[ram::kEnemyActive + s] = 1;
  memory[ram::kEnemyType + s] = type;
  memory[ram::kEnemyXPage + s] = static_cast<std::uint8_t>(x >> 8);
  memory[ram::kEnemyX + s] = static_cast<std::uint8_t>(x);
  memory[ram::kEnemyYPage + s] = 1;
  memory[ram::kEnemyY + s] = static_cast<std::uint8_t>(y);
}

/// Mario at column 20 on the ground, 40 columns laid out.
Memory scene() {
  Memory memory = playing(320, 176);
  memory[ram::kParserPage] = 2;
  memory[ram::kParserColumn] = 8;
  return memory;
}

Features features_of(const Memory& memory, std::uint8_t buttons = 0) {
  Features features;
  write_features(memory.data(), buttons, features.data());
  return features;
}

int feature(const Features& features, const std::string& name) {
  for (int i = 0; i < kFeatureCount; ++i) {
    if (name == feature_name(i)) {
      return features[static_cast<std::size_t>(i)];
    }
  }
  CHECK(false);
  return -1;
}

}  // namespace

TEST(small_mario_fills_one_cell_and_big_mario_two) {
  Memory memory = scene();
  Tiles tiles = tiles_of(memory);
  CHECK_EQ(count(tiles, Plane::kMario), 1);
  CHECK_EQ(cell(tiles, Plane::kMario, 10, kMarioColumn), kCellFull);
  memory[ram::kSize] = 0;
  tiles = tiles_of(memory);
  CHECK_EQ(count(tiles, Plane::kMario), 2);
  CHECK_EQ(cell(tiles, Plane::kMario, 9, kMarioColumn), kCellFull);
  memory[ram::kCrouching] = 4;
  CHECK_EQ(count(tiles_of(memory), Plane::kMario), 1);
}

TEST(background_is_seen_relative_to_mario) {
  Memory memory = scene();
  put_tile(memory, 20, 11, 0x54);  // below his feet, page 1
  put_tile(memory, 33, 3, 0xC0);   // thirteen columns ahead: not seen
  put_tile(memory, 30, 3, 0xC0);   // ten columns ahead: the last one seen
  put_tile(memory, 16, 4, 0xC2);
  put_tile(memory, 17, 5, 0x5F);
  const Tiles tiles = tiles_of(memory);
  CHECK_EQ(cell(tiles, Plane::kSolid, 11, kMarioColumn), kCellFull);
  CHECK_EQ(cell(tiles, Plane::kSolid, 3, 15), kCellFull);
  CHECK_EQ(cell(tiles, Plane::kItem, 3, 15), kCellWeak);
  CHECK_EQ(cell(tiles, Plane::kItem, 4, 1), kCellFull);
  CHECK_EQ(count(tiles, Plane::kSolid), 2);
  CHECK_EQ(count(tiles, Plane::kItem), 2);
}

TEST(columns_not_laid_out_yet_are_empty) {
  Memory memory = scene();
  memory[ram::kParserPage] = 1;
  memory[ram::kParserColumn] = 10;  // column 26
  put_tile(memory, 25, 2, 0x54);
  put_tile(memory, 26, 2, 0x54);
  put_tile(memory, 15, 2, 0x54);
  CHECK_EQ(count(tiles_of(memory), Plane::kSolid), 2);
}

TEST(tiles_have_kinds) {
  CHECK_EQ(tile_kind(0x00), TileKind::kEmpty);
  for (const int solid :
       {0x10, 0x14, 0x1F, 0x23, 0x51, 0x52, 0x54, 0x58, 0x61, 0x62, 0x67, 0x88, 0x89, 0xC4}) {
    CHECK_EQ(tile_kind(static_cast<std::uint8_t>(solid)), TileKind::kSolid);
  }
  for (const int item : {0x24, 0x25, 0x26, 0xC2, 0xC3, 0xC5}) {
    CHECK_EQ(tile_kind(static_cast<std::uint8_t>(item)), TileKind::kItem);
  }
  CHECK_EQ(tile_kind(0xC1), TileKind::kQuestion);
  CHECK_EQ(tile_kind(0x60), TileKind::kEmpty);
}

TEST(enemies_and_lifts_have_their_planes) {
  Memory memory = scene();
  put_enemy(memory, 0, 0x06, 352, 184);  // Goomba on the ground two columns ahead
  put_enemy(memory, 1, 0x0D, 384, 168);  // piranha plant
  put_enemy(memory, 2, 0x28, 400, 96);   // lift, 48 pixels
  put_enemy(memory, 5, 0x2E, 336, 184);  // mushroom
  Tiles tiles = tiles_of(memory);
  CHECK_EQ(cell(tiles, Plane::kHostile, 10, kMarioColumn + 2), kCellWeak);
  CHECK_EQ(cell(tiles, Plane::kHostile, 9, kMarioColumn + 4), kCellFull);
  CHECK_EQ(cell(tiles, Plane::kItem, 10, kMarioColumn + 1), kCellFull);
  CHECK_EQ(count(tiles, Plane::kPlatform), 3);
  CHECK_EQ(cell(tiles, Plane::kPlatform, 4, kMarioColumn + 5), kCellFull);
  memory[ram::kAreaType] = 3;
  CHECK_EQ(count(tiles_of(memory), Plane::kPlatform), 2);
  memory[ram::kEnemyState + 2] = 0xFF;  // a lift of a pair that has no partner yet
  CHECK_EQ(count(tiles_of(memory), Plane::kPlatform), 2);
}

TEST(defeated_enemies_and_shells_at_rest_are_harmless) {
  Memory memory = scene();
  put_enemy(memory, 0, 0x00, 352, 184);
  const auto hostile_in = [&memory](int state) {
    memory[ram::kEnemyState] = static_cast<std::uint8_t>(state);
    return count(tiles_of(memory), Plane::kHostile) == 1;
  };
  CHECK(hostile_in(0x00));
  CHECK(hostile_in(0x01));   // walks off a ledge
  CHECK(!hostile_in(0x22));  // shot
  CHECK(!hostile_in(0x04));  // shell
  CHECK(hostile_in(0x84));   // kicked shell
}

TEST(a_fire_bar_turns) {
  Memory memory = scene();
  put_enemy(memory, 0, 0x1B, 384, 96);
  memory[ram::kEnemyYSpeed] = 8;  // to the right
  Tiles tiles = tiles_of(memory);
  CHECK_EQ(cell(tiles, Plane::kHostile, 4, 9), kCellFull);
  CHECK_EQ(cell(tiles, Plane::kHostile, 4, 11), kCellFull);
  CHECK_EQ(count(tiles, Plane::kHostile), 3);
  memory[ram::kEnemyYSpeed] = 16;  // down
  tiles = tiles_of(memory);
  CHECK_EQ(cell(tiles, Plane::kHostile, 6, 9), kCellFull);
  CHECK_EQ(count(tiles, Plane::kHostile), 3);
}

TEST(hammers_are_hostile) {
  Memory memory = scene();
  memory[ram::kMiscState] = 0x81;
  memory[ram::kMiscXPage] = 1;
  memory[ram::kMiscX] = 0x60;
  memory[ram::kMiscYPage] = 1;
  memory[ram::kMiscY] = 100;
  CHECK_EQ(count(tiles_of(memory), Plane::kHostile), 1);
  memory[ram::kMiscState] = 0x01;  // a coin from a block
  CHECK_EQ(count(tiles_of(memory), Plane::kHostile), 0);
}

TEST(mario_off_the_grid_is_no_trouble) {
  CHECK_EQ(count(tiles_of(playing(0, 600)), Plane::kMario), 0);
  CHECK_EQ(count(tiles_of(playing(0, -40)), Plane::kMario), 0);
}

TEST(features_have_distinct_names) {
  std::set<std::string> names;
  for (int i = 0; i < kFeatureCount; ++i) {
    names.insert(feature_name(i));
  }
  CHECK_EQ(names.size(), kFeatureCount);
  CHECK_THROWS(feature_name(kFeatureCount), std::out_of_range);
}

TEST(features_tell_speed_state_and_buttons) {
  Memory memory = scene();
  memory[ram::kXSpeed] = 0x28;
  memory[ram::kYSpeed] = 0xFC;
  memory[ram::kPower] = 2;
  const Features features = features_of(memory, 0x82);
  CHECK_EQ(feature(features, "x_speed"), 128 + 80);
  CHECK_EQ(feature(features, "y_speed"), 128 - 64);
  CHECK_EQ(feature(features, "power"), 254);
  CHECK_EQ(feature(features, "on_ground"), 255);
  CHECK_EQ(feature(features, "button_right"), 255);
  CHECK_EQ(feature(features, "button_b"), 255);
  CHECK_EQ(feature(features, "button_a"), 0);
  CHECK_EQ(feature(features, "ground"), 255);
  CHECK_EQ(feature(features, "castle"), 0);
  CHECK_EQ(feature(features, "page"), 8);
  CHECK_EQ(feature(features, "column"), 0x40);
  CHECK_EQ(feature(features, "object1_kind"), 0);
  CHECK_EQ(feature(features, "object5_angle"), 0);
  CHECK_EQ(feature(features, "object1_x"), 128);
}

TEST(the_nearest_objects_come_first) {
  Memory memory = scene();
  for (int slot = 0; slot < 6; ++slot) {
    put_enemy(memory, slot, 0x06, 520 - slot * 32, 176);
  }
  memory[ram::kEnemyXSpeed + 5] = 0xF8;
  memory[ram::kEnemyYSpeed + 5] = 0xFD;
  const Features features = features_of(memory);
  CHECK_EQ(feature(features, "object1_x"), 128 + 20);
  CHECK_EQ(feature(features, "object1_speed"), 128 - 16);
  CHECK_EQ(feature(features, "object1_fall"), 128 - 48);
  CHECK_EQ(feature(features, "object2_x"), 128 + 36);
  CHECK_EQ(feature(features, "object5_x"), 128 + 84);
  CHECK_EQ(feature(features, "object1_kind"), 192);
  CHECK_EQ(feature(features, "object1_type"), 24);
}

TEST(a_sixth_object_has_the_features_of_a_map) {
  Memory memory = scene();
  for (int slot = 0; slot < 6; ++slot) {
    put_enemy(memory, slot, 0x06, 520 - slot * 32, 176);
  }
  const Features features = features_of(memory);
  CHECK_EQ(feature(features, "object6_kind"), 192);
  CHECK_EQ(feature(features, "object6_type"), 24);
  CHECK_EQ(feature(features, "object6_next_x"), 128 + 100);
  CHECK_EQ(feature(features, "object7_kind"), 0);
  CHECK_EQ(feature(features, "object7_next_x"), 128);
}

TEST(next_features_extrapolate_objects_relative_to_mario) {
  Memory memory = scene();
  put_enemy(memory, 0, 0x06, 360, 176);
  memory[ram::kEnemyXSpeed] = 0xF0;  // a pixel per frame to the left
  memory[ram::kEnemyYSpeed] = 2;
  Features features = features_of(memory);
  const int x = feature(features, "object1_x"), y = feature(features, "object1_y");
  CHECK_EQ(feature(features, "object1_next_x"), x - 4);
  CHECK_EQ(feature(features, "object1_next_y"), y + 8);
  memory[ram::kXSpeed] = 0x20;  // two pixels per frame to the right
  memory[ram::kYSpeed] = 0xFE;  // and two upwards
  features = features_of(memory);
  CHECK_EQ(feature(features, "object1_next_x"), x - 12);
  CHECK_EQ(feature(features, "object1_next_y"), y + 16);
}

TEST(a_hammer_falls_in_the_next_features_only) {
  Memory memory = scene();
  memory[ram::kMiscState] = 0x81;
  memory[ram::kMiscXPage] = 1;
  memory[ram::kMiscX] = 0x60;
  memory[ram::kMiscYPage] = 1;
  memory[ram::kMiscY] = 100;
  memory[ram::kMiscYSpeed] = 3;
  const Features features = features_of(memory);
  CHECK_EQ(feature(features, "object1_fall"), 128);
  CHECK_EQ(feature(features, "object1_next_y"), feature(features, "object1_y") + 12);
}

TEST(next_features_know_how_bloopers_swim) {
  constexpr std::uint8_t kBlooper = 0x07;
  Memory memory = scene();
  put_enemy(memory, 0, kBlooper, 360, 176);
  memory[ram::kEnemyDirection] = 2;  // to the left
  memory[ram::kEnemyXSpeed] = 2;     // two pixels per frame
  memory[ram::kEnemyYForce] = 2;     // and two upwards
  Features features = features_of(memory);
  const int x = feature(features, "object1_x"), y = feature(features, "object1_y");
  CHECK_EQ(feature(features, "object1_next_x"), x - 8);
  CHECK_EQ(feature(features, "object1_next_y"), y - 8);
  memory[ram::kEnemyDirection] = 1;
  CHECK_EQ(feature(features_of(memory), "object1_next_x"), x + 8);
  memory[ram::kEnemyXSpeed] = memory[ram::kEnemyYForce] = 0;
  memory[ram::kEnemyYSpeed] = 2;  // not a speed: it sinks, one pixel every other frame
  features = features_of(memory);
  CHECK_EQ(feature(features, "object1_next_x"), x);
  CHECK_EQ(feature(features, "object1_next_y"), y + 2);
  CHECK_EQ(feature(features, "object1_fall"), 128 + 2 * 16);  // as policies of version 1 know it
}

TEST(next_features_know_how_cheep_cheeps_swim) {
  Memory memory = scene();
  put_enemy(memory, 0, 0x0A, 360, 176);
  memory[ram::kEnemyXSpeed] = 0x10;  // not a speed
  Features features = features_of(memory);
  const int x = feature(features, "object1_x"), y = feature(features, "object1_y");
  CHECK_EQ(feature(features, "object1_next_x"), x - 1);
  CHECK_EQ(feature(features, "object1_next_y"), y);
  memory = scene();
  put_enemy(memory, 3, 0x0B, 360, 170);
  CHECK_EQ(feature(features_of(memory), "object1_next_x"), x - 2);
}

TEST(a_fire_bar_turns_ahead_in_its_direction) {
  Memory memory = scene();
  put_enemy(memory, 0, 0x1B, 384, 96);
  memory[ram::kEnemyYSpeed] = 1;
  memory[ram::kFireBarSpin] = 0x30;
  CHECK_EQ(feature(features_of(memory), "object1_next_angle"), 2 * 8);
  memory[ram::kFireBarDirection] = 0x10;
  CHECK_EQ(feature(features_of(memory), "object1_next_angle"), 31 * 8);
}

TEST(the_place_counts_columns_of_the_level) {
  Memory memory = playing(0x20, 80);
  memory[ram::kXPage] = 3;
  memory[ram::kWorld] = 7;
  memory[ram::kStage] = 2;
  Features features = features_of(memory);
  CHECK_EQ(feature(features, "place"), 3 * 16 + 2);
  CHECK_EQ(feature(features, "far_place"), 0);
  CHECK_EQ(feature(features, "level"), 30 * 8);
  memory[ram::kXPage] = 17;
  features = features_of(memory);
  CHECK_EQ(feature(features, "place"), 255);
  CHECK_EQ(feature(features, "far_place"), 16 + 2 + 1);
}
