/// How many cells of the tile grid can be set at once: storage of lists of such cells is sized by
/// it, so that no moment of any level can overflow.
#pragma once

#include "mario/objects.hpp"
#include "mario/ram.hpp"
#include "mario/tiles.hpp"

namespace warpzone::mario {

/// The background sets a cell in Plane::kSolid, in Plane::kItem, or in both (a question block).
inline constexpr int kMostBackgroundCells = 2 * kTileCells;

/// Each object is drawn into one plane. A long fire bar has the most cells, one per ball; the
/// widest lift covers 48 pixels, four cells at most. Hammers, in the miscellaneous slots, cover one
/// each.
inline constexpr int kMostObjectCells =
    ram::kEnemySlots * fire_bar_length(kLongFireBar) + ram::kMiscSlots;

/// Cells that are not 0 in `stack` grids, when the background is looked at in the newest grid only.
/// Mario's own plane is not counted.
constexpr int most_tile_cells(int stack) { return kMostBackgroundCells + stack * kMostObjectCells; }

}  // namespace warpzone::mario
