// Margins: how far the views of a group reach beyond a tile, which is how large the halo of its instance must be.
#pragma once

#include <vector>

#include "partition/split.h"

namespace tilewise::partition {

// Elements beyond the tile on each base axis, below and above.
struct Margins {
  Dims below, above;

  bool empty() const;
  friend bool operator==(const Margins&, const Margins&) = default;
};

// What `accesses` (of one store, over `part`, a box of the frame) read beyond the tile, as the bounding box of all
// of them. An axis on which more than `most` (a fraction of the tile's extent) would be needed gets no margin.
Margins margins(const std::vector<Access>& accesses, const Box& part, const Box& tile_box, double most = 0.125);

// The tile with its margins, within the store.
Box with_margins(const Box& tile_box, const Margins& margins, const Dims& base_shape);

}  // namespace tilewise::partition
