/// The tile-grid observation: what surrounds Mario as planes of 13 by 16 cells read from RAM, and a
/// vector of features that the grid is too coarse for.
#pragma once

#include <cstdint>

namespace warpzone::mario {

enum class Plane : std::uint8_t { kSolid, kHostile, kPlatform, kItem, kMario };
inline constexpr int kTilePlanes = 5;
inline constexpr int kTileRows = 13;  ///< The first begins 32 pixels below the top of the screen.
inline constexpr int kTileColumns = 16;
inline constexpr int kTileCells = kTileRows * kTileColumns;
inline constexpr int kTileBytes = kTilePlanes * kTileCells;
/// Mario's own column in the grid: ten columns ahead of him and five behind are seen.
inline constexpr int kMarioColumn = 5;

/// Values of a cell besides 0.
inline constexpr std::uint8_t kCellFull = 255;
/// In kHostile: can be jumped on. In kItem: a block with a question mark.
inline constexpr std::uint8_t kCellWeak = 128;

/// What a metatile is to Mario. Hidden blocks are empty: they cannot be seen.
enum class TileKind : std::uint8_t { kEmpty, kSolid, kQuestion, kItem };
TileKind tile_kind(std::uint8_t metatile);

/// Writes kTileBytes: plane after plane, row after row.
void write_tiles(const std::uint8_t* ram, std::uint8_t* out);

inline constexpr int kFeatureCount = 113;
/// Writes kFeatureCount bytes; `buttons` are those of the last step. Truths are 0 or 255, signed
/// values are centred on 128. The list is in features.cpp.
void write_features(const std::uint8_t* ram, std::uint8_t buttons, std::uint8_t* out);
/// Name of a feature, for documentation and tests. Throws std::out_of_range.
const char* feature_name(int index);

}  // namespace warpzone::mario
