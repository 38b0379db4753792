#include "ops/create.h"

#include <cstring>

#include "ops/record_builder.h"
#include "runtime/base/convert.h"
#include "runtime/base/error.h"

namespace tilewise::ops {

namespace {

using Value = RecordBuilder::Value;

int32_t size_of(DType dtype, int32_t given) { return dtype == DType::kVoid ? given : itemsize(dtype); }

Array record_full(const Array& array, const Scalar& value) {
  RecordBuilder builder(array.view.shape);
  builder.output(array, builder.param(value));
  builder.commit();
  return array;
}

Scalar add(const Scalar& a, const Scalar& b, bool minus) {
  return visit(a.dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    const T x = a.as<T>(), y = b.as<T>();
    if constexpr (std::is_same_v<T, bool>) {
      return Scalar::of(a.dtype, minus ? x != y : x || y);
    } else if constexpr (kIsHalf<T>) {
      const float wide = minus ? to_float(x) - to_float(y) : to_float(x) + to_float(y);
      return Scalar::of(a.dtype, to_half(wide));
    } else if constexpr (std::is_integral_v<T>) {
      using U = std::make_unsigned_t<T>;
      const U wrapped = minus ? U(U(x) - U(y)) : U(U(x) + U(y));
      return Scalar::of(a.dtype, static_cast<T>(wrapped));
    } else {
      return Scalar::of(a.dtype, static_cast<T>(minus ? x - y : x + y));
    }
  });
}

// value, but `exact` where the index is `at`.
Value with_exact(RecordBuilder& builder, Value index, int64_t at, const Scalar& exact, Value value) {
  const Value here = builder.apply(op::equal, DType::kInt64, index, builder.param(Scalar::of(DType::kInt64, at)));
  return builder.apply(op::where, exact.dtype, here, builder.param(exact), value);
}

template <int kSize>
void copy_elements(char* to, const char* from, int64_t n, int64_t stride) {
  for (int64_t i = 0; i < n; ++i) std::memcpy(to + i * kSize, from + i * stride, kSize);
}

void copy_row(char* to, const char* from, int64_t n, int64_t stride, int64_t itemsize) {
  if (stride == itemsize) {
    std::memcpy(to, from, n * itemsize);
    return;
  }
  switch (itemsize) {
    case 1: return copy_elements<1>(to, from, n, stride);
    case 2: return copy_elements<2>(to, from, n, stride);
    case 4: return copy_elements<4>(to, from, n, stride);
    case 8: return copy_elements<8>(to, from, n, stride);
    case 16: return copy_elements<16>(to, from, n, stride);
    default:
      for (int64_t i = 0; i < n; ++i) std::memcpy(to + i * itemsize, from + i * stride, itemsize);
  }
}

// `block` is the bytes that the axes from `axis` on fill.
void copy_strided(char* to, const char* from, const Dims& shape, const Dims& strides, int axis, int64_t block,
                  int64_t itemsize) {
  if (axis == shape.size()) {
    std::memcpy(to, from, itemsize);
    return;
  }
  const int64_t n = shape[axis];
  if (axis + 1 == shape.size()) return copy_row(to, from, n, strides[axis], itemsize);
  const int64_t inner = block / n;
  for (int64_t i = 0; i < n; ++i)
    copy_strided(to + i * inner, from + i * strides[axis], shape, strides, axis + 1, inner, itemsize);
}

}  // namespace

Array empty(const Dims& shape, DType dtype, int32_t itemsize) {
  return new_array(shape, dtype, size_of(dtype, itemsize));
}

Array full(const Dims& shape, const Scalar& value) { return record_full(new_array(shape, value.dtype), value); }

Array zeros(const Dims& shape, DType dtype, int32_t itemsize) {
  const Array result = empty(shape, dtype, itemsize);
  if (dtype != DType::kVoid) return record_full(result, cast(Scalar::of(DType::kBool, false), dtype));
  // Records have no arithmetic: their bytes are filled as one more axis.
  Array bytes = result;
  bytes.view.shape.push_back(itemsize);
  bytes.view.strides.push_back(1);
  bytes.view.dtype = DType::kUInt8;
  bytes.view.itemsize = 1;
  record_full(bytes, Scalar::of(DType::kUInt8, uint8_t{0}));
  return result;
}

// NumPy fills the first two elements with what it was given, the rest with start + i * (next - start), each operation in
// the dtype (16-bit floats in float). Where the formula gives the first two as well nothing is selected.
Array arange(const Scalar& start, const Scalar& next, int64_t count, DType dtype) {
  const Array result = new_array({count}, dtype);
  RecordBuilder builder(result.view.shape);
  const Value index = builder.index(0);
  const DType work = dtype == DType::kFloat16 ? DType::kFloat32 : dtype == DType::kBool ? DType::kUInt8 : dtype;
  const Scalar first = cast(cast(start, dtype), work), second = cast(cast(next, dtype), work);
  const Scalar delta = add(second, first, true);
  Value value = builder.apply(op::multiply, work, builder.cast(index, work), builder.param(delta));
  value = builder.apply(op::add, work, builder.param(first), value);
  const bool exact = add(first, delta, false) == second;
  if (!exact && count > 1) value = with_exact(builder, index, 1, second, value);
  if (!(add(first, add(delta, delta, true), false) == first)) value = with_exact(builder, index, 0, first, value);
  builder.output(result, builder.cast(value, dtype));
  builder.commit();
  return result;
}

Array linspace(double start, double stop, int64_t count, bool endpoint, DType dtype) {
  if (count < 0) throw Error(ErrorKind::kValue, str("Number of samples, ", count, ", must be non-negative."));
  const Array result = new_array({count}, dtype);
  RecordBuilder builder(result.view.shape);
  const auto constant = [&](double v) { return builder.param(Scalar::of(DType::kFloat64, v)); };
  const auto apply = [&](Opcode op, Value a, Value b) { return builder.apply(op, DType::kFloat64, a, b); };
  const Value index = builder.index(0);
  const double parts = static_cast<double>(endpoint ? count - 1 : count);
  const double delta = stop - start, step = delta / parts;
  Value value = builder.cast(index, DType::kFloat64);
  if (parts > 0 && step != 0) value = apply(op::multiply, value, constant(step));
  else if (parts > 0) value = apply(op::multiply, apply(op::divide, value, constant(parts)), constant(delta));
  else value = apply(op::multiply, value, constant(delta));
  value = apply(op::add, value, constant(start));
  if (endpoint && count > 1) value = with_exact(builder, index, count - 1, Scalar::of(DType::kFloat64, stop), value);
  if (is_integer(dtype)) value = builder.apply(op::floor, DType::kFloat64, value);
  builder.output(result, builder.cast(value, dtype));
  builder.commit();
  return result;
}

Array eye(int64_t n, int64_t m, int64_t k, DType dtype) {
  const Array result = new_array({n, m}, dtype);
  RecordBuilder builder(result.view.shape);
  const Value row = builder.apply(op::add, DType::kInt64, builder.index(0), builder.param(Scalar::of(DType::kInt64, k)));
  builder.output(result, builder.cast(builder.apply(op::equal, DType::kInt64, row, builder.index(1)), dtype));
  builder.commit();
  return result;
}

Array from_host(const void* data, const Dims& shape, const Dims& strides, DType dtype, int32_t itemsize) {
  const Array result = empty(shape, dtype, itemsize);
  const int64_t bytes = result.view.count() * result.view.itemsize;
  const std::shared_ptr<char[]> snapshot(new char[bytes]);
  // Axes that follow each other in memory are copied as one.
  Dims merged_shape, merged_strides;
  for (int k = 0; k < shape.size(); ++k) {
    if (shape[k] == 1) continue;
    if (!merged_shape.empty() && merged_strides.back() == strides[k] * shape[k]) {
      merged_shape.back() *= shape[k];
      merged_strides.back() = strides[k];
    } else {
      merged_shape.push_back(shape[k]);
      merged_strides.push_back(strides[k]);
    }
  }
  if (bytes > 0)
    copy_strided(snapshot.get(), static_cast<const char*>(data), merged_shape, merged_strides, 0, bytes,
                 result.view.itemsize);
  ScratchRecord record;
  record->kind = RecordKind::kHostData;
  record->inputs.clear();
  record->outputs.resize(1);
  record->outputs[0].view = result.view;
  record->data = snapshot;
  const Array* out = &result;
  session::record(*record, nullptr, &out);
  return result;
}

}  // namespace tilewise::ops
