#include "partition/view.h"

#include <algorithm>
#include <cstdlib>

#include "runtime/base/error.h"
#include "runtime/base/hash.h"

namespace tilewise::partition {

bool View::empty() const {
  for (int64_t extent : shape)
    if (extent == 0) return true;
  return false;
}

Interval View::range() const {
  if (empty()) return {offset, offset};
  Interval bytes{offset, offset + itemsize};
  for (int k = 0; k < rank(); ++k) {
    const int64_t reach = strides[k] * (shape[k] - 1);
    (reach < 0 ? bytes.lo : bytes.hi) += reach;
  }
  return bytes;
}

bool View::is_c_contiguous() const {
  if (empty()) return true;
  int64_t step = itemsize;
  for (int k = rank() - 1; k >= 0; --k) {
    if (shape[k] != 1 && strides[k] != step) return false;
    step *= shape[k];
  }
  return true;
}

SmallVec<int, 6> View::memory_order() const {
  SmallVec<int, 6> order(rank());
  for (int k = 0; k < rank(); ++k) order[k] = k;
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return std::abs(strides[a]) > std::abs(strides[b]); });
  return order;
}

int64_t View::address(const Dims& index) const {
  int64_t at = offset;
  for (int k = 0; k < rank(); ++k) at += strides[k] * index[k];
  return at;
}

uint64_t hash(const View& view, uint64_t h) {
  h = mix(h, static_cast<uint64_t>(view.rank()) << 40 | static_cast<uint64_t>(view.dtype) << 32 |
                 static_cast<uint32_t>(view.itemsize));
  h = mix(h, static_cast<uint64_t>(view.offset));
  for (int k = 0; k < view.rank(); ++k) {
    h = mix(h, static_cast<uint64_t>(view.shape[k]));
    h = mix(h, static_cast<uint64_t>(view.strides[k]));
  }
  return h;
}

std::ostream& operator<<(std::ostream& out, const View& view) {
  return out << "{shape " << view.shape << " strides " << view.strides << " offset " << view.offset << " itemsize "
             << view.itemsize << "}";
}

View dense_view(const Dims& shape, DType dtype, int32_t itemsize) {
  return {shape, c_strides(shape, itemsize), 0, dtype, itemsize};
}

View slice(View view, int axis, int64_t start, int64_t step, int64_t count) {
  if (count > 0) view.offset += view.strides[axis] * start;  // an empty slice must not point outside its store
  view.strides[axis] *= step;
  view.shape[axis] = count;
  return view;
}

View region(View view, const Box& box) {
  for (int k = 0; k < view.rank(); ++k) {
    view.offset += view.strides[k] * box.lo[k];
    view.shape[k] = box.extent(k);
  }
  return view;
}

View permute(const View& view, const SmallVec<int, 6>& order) {
  View moved(view);
  for (int k = 0; k < view.rank(); ++k) {
    moved.shape[k] = view.shape[order[k]];
    moved.strides[k] = view.strides[order[k]];
  }
  return moved;
}

View flip(View view, int axis) {
  const int64_t extent = view.shape[axis];
  return slice(std::move(view), axis, extent - 1, -1, extent);
}

View newaxis(View view, int axis) {
  view.shape.insert(axis, 1);
  view.strides.insert(axis, 0);
  return view;
}

View squeeze(View view, int axis) {
  view.shape.erase(axis);
  view.strides.erase(axis);
  return view;
}

View broadcast_to(const View& view, const Dims& shape) {
  const int added = shape.size() - view.rank();
  if (added < 0)
    throw Error(ErrorKind::kValue, str("cannot broadcast shape ", view.shape, " to the shorter shape ", shape));
  View wide(view);
  wide.shape = shape;
  wide.strides = Dims(shape.size(), 0);
  for (int k = 0; k < view.rank(); ++k) {
    if (view.shape[k] == shape[k + added]) {
      // A stride of an extent of 1 moves nowhere; zero keeps equal accesses equal.
      wide.strides[k + added] = view.shape[k] == 1 ? 0 : view.strides[k];
    } else if (view.shape[k] != 1) {
      throw Error(ErrorKind::kValue, str("cannot broadcast shape ", view.shape, " to ", shape));
    }
  }
  return wide;
}

View diagonal(const View& view, int64_t k, int axis1, int axis2) {
  View line(view);
  const int64_t below = k < 0 ? -k : 0, right = k > 0 ? k : 0;
  const int64_t rows = view.shape[axis1] - below, columns = view.shape[axis2] - right;
  const int64_t extent = std::max<int64_t>(0, std::min(rows, columns));
  if (extent > 0) line.offset += below * view.strides[axis1] + right * view.strides[axis2];
  const int64_t step = view.strides[axis1] + view.strides[axis2];
  line.shape.erase(std::max(axis1, axis2));
  line.shape.erase(std::min(axis1, axis2));
  line.strides.erase(std::max(axis1, axis2));
  line.strides.erase(std::min(axis1, axis2));
  line.shape.push_back(extent);
  line.strides.push_back(step);
  return line;
}

// Old and new axes are walked together in groups of equal element count. A group of old axes that is one run of
// memory (each stride covers the axes inside it) can be cut at will; otherwise a copy is needed.
std::optional<View> reshape(const View& view, const Dims& shape) {
  View out{shape, c_strides(shape, view.itemsize), view.offset, view.dtype, view.itemsize};
  if (view.empty()) return out;
  Dims extents, strides;
  for (int k = 0; k < view.rank(); ++k) {
    if (view.shape[k] == 1) continue;
    extents.push_back(view.shape[k]);
    strides.push_back(view.strides[k]);
  }
  int from = 0, to = 0;
  while (from < extents.size()) {
    int from_end = from + 1, to_end = to + 1;
    int64_t old_count = extents[from], new_count = shape[to];
    while (old_count != new_count) {
      if (old_count < new_count) {
        if (strides[from_end - 1] != strides[from_end] * extents[from_end]) return std::nullopt;
        old_count *= extents[from_end++];
      } else {
        new_count *= shape[to_end++];
      }
    }
    int64_t step = strides[from_end - 1];
    for (int k = to_end - 1; k >= to; --k) {
      out.strides[k] = step;
      step *= shape[k];
    }
    from = from_end;
    to = to_end;
  }
  return out;
}

View real_part(View view) {
  if (!is_complex(view.dtype)) return view;
  view.dtype = view.dtype == DType::kComplex64 ? DType::kFloat32 : DType::kFloat64;
  view.itemsize /= 2;
  return view;
}

View imag_part(View view) {
  TW_CHECK(is_complex(view.dtype), "only complex numbers hold an imaginary part in memory");
  view = real_part(std::move(view));
  view.offset += view.itemsize;
  return view;
}

View reinterpret(View view, DType dtype, int32_t itemsize) {
  view.dtype = dtype;
  if (itemsize == view.itemsize) return view;
  if (view.rank() == 0)
    throw Error(ErrorKind::kValue, "a 0-d array can only be viewed as a dtype of the same item size");
  const int last = view.rank() - 1;
  if (view.shape[last] != 1 && !view.empty() && view.strides[last] != view.itemsize)
    throw Error(ErrorKind::kValue, "the last axis must be contiguous to view it as a dtype of another item size");
  const int64_t bytes = view.shape[last] * view.itemsize;
  if (itemsize < view.itemsize && (itemsize == 0 || view.itemsize % itemsize != 0))
    throw Error(ErrorKind::kValue, str("an item of ", view.itemsize, " bytes cannot be viewed as items of ",
                                       itemsize, " bytes: the smaller size must divide the larger"));
  if (bytes % itemsize != 0)
    throw Error(ErrorKind::kValue, str("a last axis of ", bytes, " bytes cannot be viewed as items of ", itemsize,
                                       " bytes: the item size must divide it"));
  view.shape[last] = bytes / itemsize;
  view.strides[last] = itemsize;
  view.itemsize = itemsize;
  return view;
}

}  // namespace tilewise::partition
