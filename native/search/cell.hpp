/// Cells: the coarse places that a search distinguishes.
#pragma once

#include <cstdint>
#include <optional>

#include "mario/signals.hpp"

namespace warpzone::search {

/// Names a cell: area, loop counters of a maze, speed, and a square of 16 by 16 pixels.
using CellKey = std::uint64_t;

/// The cell of the present moment; none while Mario does not obey or is past saving.
std::optional<CellKey> cell_of(const std::uint8_t* ram);

}  // namespace warpzone::search
