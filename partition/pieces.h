// Where the elements of a view lie in an instance: the answers from which direct reads, packing and unpacking are
// made.
//
// A "region" is a box of the view's index space. An instance holds a box of the store (instance.h). Views are
// NumPy's, all of them: strides of any sign, steps that do not divide rows, flat views over several base axes,
// axes split by reshape, diagonals, windows that overlap themselves, items smaller or larger than the base's. The
// ordinary case (each axis of the view moves along one axis of the store) takes a short path without allocation.
// Pure functions.
#pragma once

#include <optional>
#include <vector>

#include "partition/instance.h"
#include "partition/view.h"

namespace tilewise::partition {

// The region in place: element i of the region (i counted from region.lo) lies at offset + sum(strides[k] * i[k]).
struct DirectAccess {
  int64_t offset = 0;
  Dims strides;
};
// If the whole region lies in the instance so; nothing otherwise. An empty region always does (at offset 0).
std::optional<DirectAccess> direct(const View& view, const Box& region, const InstanceBox& instance);

// A large box within the region that direct() accepts: the largest where each view axis moves along one base axis,
// else the largest found. Empty if there is none.
Box interior(const View& view, const Box& region, const InstanceBox& instance);

// A box within the region that holds every element of which a byte lies in the instance. Exact where each view
// axis moves along one base axis; empty only if there is no such element.
Box preimage(const View& view, const Box& region, const InstanceBox& instance);
Box preimage(const View& view, const Box& region, const StoreForm& form, const Box& base_box);

// The box of the store, in base axes, that holds every byte of the region. Exact (the bounding box) where the view
// does not wrap over rows.
Box footprint(const View& view, const Box& region, const StoreForm& form);

// An affine set of elements: element j of the piece lies at instance_offset + sum(instance_strides * j) in the
// instance, and at region_offset + sum(region_strides * j) in a dense C-order buffer of the region that holds the
// view's items. `itemsize` bytes are one run in both; it is less than the view's where an item is cut in parts.
// A message packs the piece in C order of `shape`.
struct Piece {
  Dims shape;
  Dims region_strides;
  int64_t region_offset = 0;
  Dims instance_strides;
  int64_t instance_offset = 0;
  int32_t itemsize = 0;

  int64_t bytes() const { return count_of(shape) * itemsize; }
  friend bool operator==(const Piece&, const Piece&) = default;
};
std::ostream& operator<<(std::ostream& out, const Piece& piece);

// All bytes of the region that lie in the instance, each in exactly one piece. The bytes in C order piece by piece
// are a function of the view, the region, the store's form and instance.clip, and of whether there is a row pitch:
// a sender and a receiver that describe the same tile agree on a message's order though their memory differs.
std::vector<Piece> pieces(const View& view, const Box& region, const InstanceBox& instance);

}  // namespace tilewise::partition
