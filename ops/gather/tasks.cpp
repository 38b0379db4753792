#include "ops/gather/tasks.h"

#include <algorithm>

#include "ops/opcode.h"
#include "ops/ref/loop.h"

namespace tilewise::ops {

namespace {

constexpr int64_t kPiece = 8192;

const int64_t* list(const Bound& positions) { return reinterpret_cast<const int64_t*>(positions.base); }

template <class Body>
void in_pieces(int64_t count, int64_t least, Parallel& parallel, const Body& body) {
  const int64_t pieces = std::clamp<int64_t>(count / std::max<int64_t>(least, 1), 1, 4 * parallel.width());
  parallel.run(pieces, [&](int64_t p) { body(count * p / pieces, count * (p + 1) / pieces); });
}

int64_t row_count(const Dims& shape) {
  int64_t count = 1;
  for (int k = 1; k < shape.size(); ++k) count *= shape[k];
  return count;
}

template <class T>
void gather_items(const Bound& source, int64_t first, const int64_t* at, char* out, int64_t begin, int64_t end) {
  T* to = reinterpret_cast<T*>(out);
  const char* from = source.base - first * source.strides[0];
  if (source.strides[0] == sizeof(T)) {
    const T* items = reinterpret_cast<const T*>(from);
    for (int64_t i = begin; i < end; ++i) to[i] = items[at[i]];
  } else {
    for (int64_t i = begin; i < end; ++i) std::memcpy(to + i, from + at[i] * source.strides[0], sizeof(T));
  }
}

// Sums are what `at` is mostly used for.
template <class T>
void add_items(char* to, int64_t stride, const int64_t* at, int64_t lo, int64_t hi, const Bound& values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (at[i] < lo || at[i] >= hi) continue;
    T* item = reinterpret_cast<T*>(to + at[i] * stride);
    *item = static_cast<T>(*item + *reinterpret_cast<const T*>(values.base + i * values.strides[0]));
  }
}
using UpdateItems = void (*)(char*, int64_t, const int64_t*, int64_t, int64_t, const Bound&, int64_t);
UpdateItems find_add(const RowUpdate& update) {
  if (update.op != op::add) return nullptr;
  switch (update.dtype) {
    case DType::kFloat32: return &add_items<float>;
    case DType::kFloat64: return &add_items<double>;
    case DType::kInt32: case DType::kUInt32: return &add_items<uint32_t>;
    case DType::kInt64: case DType::kUInt64: return &add_items<uint64_t>;
    default: return nullptr;
  }
}

// Replaces items of a size that a register holds.
template <class T>
void put_items(char* to, int64_t stride, const int64_t* at, int64_t lo, int64_t hi, const Bound& values, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (at[i] >= lo && at[i] < hi) std::memcpy(to + at[i] * stride, values.base + i * values.strides[0], sizeof(T));
}
UpdateItems find_put(const RowUpdate& update) {
  if (update.combines) return nullptr;
  switch (update.itemsize) {
    case 1: return &put_items<uint8_t>;
    case 2: return &put_items<uint16_t>;
    case 4: return &put_items<uint32_t>;
    case 8: return &put_items<uint64_t>;
    default: return nullptr;
  }
}

}  // namespace

void gather_local(const Bound& source, int64_t first, const Bound& positions, const Bound& out, int64_t itemsize, Parallel& parallel) {
  const int64_t count = positions.shape[0], row = row_count(out.shape);
  const int64_t* at = list(positions);
  in_pieces(count, kPiece / row, parallel, [&](int64_t begin, int64_t end) {
    if (row == 1 && out.strides[0] == itemsize) {
      switch (itemsize) {
        case 1: return gather_items<uint8_t>(source, first, at, out.base, begin, end);
        case 2: return gather_items<uint16_t>(source, first, at, out.base, begin, end);
        case 4: return gather_items<uint32_t>(source, first, at, out.base, begin, end);
        case 8: return gather_items<uint64_t>(source, first, at, out.base, begin, end);
        default: break;
      }
    }
    const RowCopy copy(out.strides, source.strides, out.shape, itemsize);
    for (int64_t i = begin; i < end; ++i)
      copy(out.base + i * out.strides[0], source.base + (at[i] - first) * source.strides[0]);
  });
}

void update_local(const RowUpdate& update, const Bound& dst, int64_t first, const Bound& positions, const Bound* values,
                  Parallel& parallel) {
  const int64_t count = positions.shape[0], rows = dst.shape[0];
  const int64_t* at = list(positions);
  const auto part = [&](int64_t lo, int64_t hi) {
    const auto mine = [&](int64_t i) { return at[i] >= lo && at[i] < hi; };
    const auto row = [&](int64_t i) { return dst.base + (at[i] - first) * dst.strides[0]; };
    const auto value = [&](int64_t i) { return values->base + i * values->strides[0]; };
    if (row_count(dst.shape) == 1 && values) {
      const UpdateItems items = update.combines ? find_add(update) : find_put(update);
      if (items) return items(dst.base - first * dst.strides[0], dst.strides[0], at, lo, hi, *values, count);
    }
    if (!update.combines) {
      const RowCopy copy(dst.strides, values->strides, dst.shape, update.itemsize);
      for (int64_t i = 0; i < count; ++i)
        if (mine(i)) copy(row(i), value(i));
      return;
    }
    const ref::Loop loop = ref::find_loop(update.op, update.dtype);
    const std::function<void(char*, const char*, int)> combine = [&](char* to, const char* from, int axis) {
      if (axis == dst.shape.size()) {
        const void* in[] = {to, from, nullptr};
        return loop(in, to, 1, nullptr);
      }
      for (int64_t j = 0; j < dst.shape[axis]; ++j)
        combine(to + j * dst.strides[axis], values ? from + j * values->strides[axis] : nullptr, axis + 1);
    };
    for (int64_t i = 0; i < count; ++i)
      if (mine(i)) combine(row(i), values ? value(i) : nullptr, 1);
  };
  const int64_t parts = count * row_count(dst.shape) < kPiece ? 1 : std::min<int64_t>(parallel.width(), std::max<int64_t>(rows, 1));
  parallel.run(parts, [&](int64_t p) { part(first + rows * p / parts, first + rows * (p + 1) / parts); });
}

void keep_others(const Bound& from, const Bound& to, int64_t itemsize, Parallel& parallel) {
  if (from.base == to.base) return;
  in_pieces(to.shape[0], kPiece / row_count(to.shape), parallel, [&](int64_t begin, int64_t end) {
    const RowCopy copy(to.strides, from.strides, to.shape, itemsize);
    for (int64_t i = begin; i < end; ++i) copy(to.base + i * to.strides[0], from.base + i * from.strides[0]);
  });
}

}  // namespace tilewise::ops
