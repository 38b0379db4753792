// A view: NumPy's form over a store's own linear C-order index, in bytes.
//
// Element i of the view lies at byte  offset + sum(strides[k] * i[k])  of the store's dense C-order image; strides
// have any sign and may be zero. The form is closed under all of NumPy's views (slices, permutations, broadcasts,
// diagonals, reshapes without copy, real/imag, .view(dtype)), so no operation here ever copies. A plain value with
// no owner; it does not know its store. Shapes and arguments are taken as checked by the caller, except where a
// function says that it throws.
#pragma once

#include <cstdint>
#include <optional>

#include "partition/box.h"
#include "runtime/base/dims.h"
#include "runtime/base/dtype.h"

namespace tilewise::partition {

struct View {
  Dims shape;
  Dims strides;        // bytes
  int64_t offset = 0;  // bytes
  DType dtype = DType::kFloat64;
  int32_t itemsize = 8;

  int rank() const { return shape.size(); }
  int64_t count() const { return count_of(shape); }
  bool empty() const;
  // The bytes touched, [lo, hi); empty at `offset` for a view without elements.
  Interval range() const;
  // Axes of extent 1 do not count, and a view without elements is contiguous, as in NumPy.
  bool is_c_contiguous() const;
  // Axes from outer to inner by |stride|, ties in axis order.
  SmallVec<int, 6> memory_order() const;
  // The address of the element at `index`.
  int64_t address(const Dims& index) const;

  friend bool operator==(const View&, const View&) = default;
};

uint64_t hash(const View& view, uint64_t h = 0x243f6a8885a308d3ull);
std::ostream& operator<<(std::ostream& out, const View& view);

// The dense view of a whole store.
View dense_view(const Dims& shape, DType dtype, int32_t itemsize);

// Axis `axis` becomes start, start + step, ...: `count` elements. step may be negative or zero.
View slice(View view, int axis, int64_t start, int64_t step, int64_t count);
// The sub-view of a box of the index space.
View region(View view, const Box& box);
// Axis k of the result is axis order[k] of the view.
View permute(const View& view, const SmallVec<int, 6>& order);
View flip(View view, int axis);
// A new axis of extent 1 before `axis`; axis == rank appends.
View newaxis(View view, int axis);
// Removes an axis (of extent 1, or read at its index 0).
View squeeze(View view, int axis);
// NumPy's rules: axes are added in front, extents of 1 stretched. Throws kValue where shapes do not fit.
View broadcast_to(const View& view, const Dims& shape);
// NumPy's diagonal(k, axis1, axis2): both axes go, the diagonal is appended as the last axis.
View diagonal(const View& view, int64_t k, int axis1, int axis2);
// Nothing where NumPy would copy (order C). The counts are equal, by the caller's check.
std::optional<View> reshape(const View& view, const Dims& shape);
// The parts of complex numbers; the real part of any other view is the view itself.
View real_part(View view);
View imag_part(View view);
// NumPy's .view(dtype). Throws kValue where NumPy does: the last axis must be contiguous and divide evenly.
View reinterpret(View view, DType dtype, int32_t itemsize);

}  // namespace tilewise::partition
