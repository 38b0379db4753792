#include "partition/pieces.h"

#include <cstdlib>

#include "partition/affine.h"
#include "partition/lattice.h"

namespace tilewise::partition {
namespace {

// True if each item lies within one base element, wherever it begins.
bool items_stay_whole(const View& view, int64_t base_itemsize) {
  if (view.itemsize > base_itemsize) return false;
  for (int k = 0; k < view.rank(); ++k)
    if (view.shape[k] > 1 && view.strides[k] % base_itemsize != 0) {
      // Parts of items, side by side: whole if all begin at multiples of their own size.
      if (base_itemsize % view.itemsize != 0 || view.offset % view.itemsize != 0) return false;
      for (int j = 0; j < view.rank(); ++j)
        if (view.shape[j] > 1 && view.strides[j] % view.itemsize != 0) return false;
      return true;
    }
  return floor_mod(view.offset, base_itemsize) + view.itemsize <= base_itemsize;
}

// The bytes that always lie side by side: a whole item, or the largest size of which items, base items and all
// steps are multiples.
int64_t unit_of(const View& view, int64_t base_itemsize) {
  if (items_stay_whole(view, base_itemsize)) return view.itemsize;
  int64_t unit = std::gcd<int64_t>(view.itemsize, base_itemsize);
  unit = std::gcd(unit, std::abs(view.offset));
  for (int k = 0; k < view.rank(); ++k)
    if (view.shape[k] > 1) unit = std::gcd(unit, std::abs(view.strides[k]));
  return unit;
}

// Joins neighbouring axes that are one run in both memories.
void merge_axes(Piece* piece) {
  for (int k = piece->shape.size() - 2; k >= 0; --k) {
    if (piece->region_strides[k] != piece->region_strides[k + 1] * piece->shape[k + 1]) continue;
    if (piece->instance_strides[k] != piece->instance_strides[k + 1] * piece->shape[k + 1]) continue;
    piece->shape[k] *= piece->shape[k + 1];
    piece->region_strides[k] = piece->region_strides[k + 1];
    piece->instance_strides[k] = piece->instance_strides[k + 1];
    piece->shape.erase(k + 1);
    piece->region_strides.erase(k + 1);
    piece->instance_strides.erase(k + 1);
  }
}

Piece piece_of(const DirectAccess& access, const View& view, const Box& region, const Box& part) {
  Piece piece;
  piece.itemsize = view.itemsize;
  piece.instance_offset = access.offset;
  const Dims strides = c_strides(region.shape(), view.itemsize);
  for (int k = 0; k < view.rank(); ++k) {
    piece.region_offset += (part.lo[k] - region.lo[k]) * strides[k];
    if (part.extent(k) == 1) continue;
    piece.shape.push_back(part.extent(k));
    piece.region_strides.push_back(strides[k]);
    piece.instance_strides.push_back(access.strides[k]);
  }
  merge_axes(&piece);
  return piece;
}

std::vector<Lattice> lattices(const View& view, const Box& part, const InstanceBox& instance, int64_t unit) {
  Lattice whole;
  whole.start = part.lo;
  whole.start.push_back(0);
  whole.address = view.offset;
  for (int k = 0; k < view.rank(); ++k) {
    whole.address += view.strides[k] * part.lo[k];
    whole.axes.push_back({k, part.extent(k), view.strides[k], 1, 0});
  }
  whole.axes.push_back({view.rank(), view.itemsize / unit, unit, 1, 0});
  return LatticeCutter(instance).cut(std::move(whole));
}

Piece piece_of(const Lattice& lattice, const View& view, const Box& region, int64_t unit) {
  Piece piece;
  piece.itemsize = static_cast<int32_t>(unit);
  piece.instance_offset = lattice.place;
  Dims strides = c_strides(region.shape(), view.itemsize);
  strides.push_back(unit);
  for (int k = 0; k < view.rank(); ++k) piece.region_offset += (lattice.start[k] - region.lo[k]) * strides[k];
  piece.region_offset += lattice.start[view.rank()] * unit;
  // The lattice's axes are in the order of the view's, whole periods before what they hold: the region's C order.
  for (const LatticeAxis& axis : lattice.axes) {
    if (axis.source == view.rank() && axis.multiple == 1 && axis.place == unit) {  // side by side: a longer item
      piece.itemsize = static_cast<int32_t>(axis.count * unit);
      continue;
    }
    piece.shape.push_back(axis.count);
    piece.region_strides.push_back(strides[axis.source] * axis.multiple);
    piece.instance_strides.push_back(axis.place);
  }
  merge_axes(&piece);
  return piece;
}

}  // namespace

std::vector<Piece> pieces(const View& view, const Box& region, const InstanceBox& instance) {
  std::vector<Piece> out;
  const Box part = preimage(view, region, instance);
  if (part.empty()) return out;
  if (const std::optional<DirectAccess> access = direct(view, part, instance)) {
    out.push_back(piece_of(*access, view, region, part));
    return out;
  }
  const int64_t unit = unit_of(view, instance.form.itemsize);
  for (const Lattice& lattice : lattices(view, part, instance, unit))
    out.push_back(piece_of(lattice, view, region, unit));
  return out;
}

// Where no box is found by shrinking, what is left is the largest lattice, reduced to indices without gaps.
Box largest_box_piece(const View& view, const Box& region, const InstanceBox& instance) {
  Box best = Box::nothing(view.rank());
  const Box part = preimage(view, region, instance);
  if (part.empty()) return best;
  const int64_t unit = unit_of(view, instance.form.itemsize);
  for (const Lattice& lattice : lattices(view, part, instance, unit)) {
    Box box(Dims(view.rank()), Dims(view.rank()));
    for (int k = 0; k < view.rank(); ++k) {
      box.lo[k] = lattice.start[k];
      box.hi[k] = box.lo[k] + 1;
    }
    bool whole_items = unit == view.itemsize;
    for (const LatticeAxis& axis : lattice.axes) {
      if (axis.source == view.rank()) {
        whole_items = axis.place == unit && axis.count * unit == view.itemsize;
      } else if (axis.multiple == 1) {
        box.hi[axis.source] = box.lo[axis.source] + axis.count;
      }
    }
    if (whole_items && box.count() > best.count() && direct(view, box, instance)) best = box;
  }
  return best;
}

std::ostream& operator<<(std::ostream& out, const Piece& piece) {
  return out << "{shape " << piece.shape << " region " << piece.region_offset << "+" << piece.region_strides
             << " instance " << piece.instance_offset << "+" << piece.instance_strides << " itemsize "
             << piece.itemsize << "}";
}

}  // namespace tilewise::partition
