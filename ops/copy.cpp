#include "ops/copy.h"

#include <cmath>

#include "ops/record_builder.h"
#include "ops/type_rules.h"
#include "runtime/base/error.h"

namespace tilewise::ops {

namespace {

using partition::View;

// The source as an array that broadcasts to dst: NumPy's assignment drops leading axes of extent 1.
View without_leading_ones(View view, int rank) {
  while (view.rank() > rank && view.shape[0] == 1) view = partition::squeeze(std::move(view), 0);
  return view;
}

void check_fits(const Dims& from, const Dims& to) {
  bool fits = from.size() <= to.size();
  for (int k = 0; fits && k < from.size(); ++k) {
    const int64_t extent = to[to.size() - from.size() + k];
    fits = from[k] == 1 || from[k] == extent;
  }
  if (!fits)
    throw Error(ErrorKind::kValue, str("could not broadcast input array from shape ", shape_text(from),
                                       " into shape ", shape_text(to)));
}

void check_casting(DType from, DType to, Casting casting) {
  if (!can_cast(from, to, casting))
    throw Error(ErrorKind::kType, str("Cannot cast array data from dtype('", name(from), "') to dtype('", name(to),
                                      "') according to the rule '", casting_name(casting), "'"));
}

// Python's int(x) refuses what is no number before NumPy sees it.
void check_float_to_integer(const Input& input, DType to) {
  if (input.kind != Input::Kind::kWeakFloat || !is_integer(to)) return;
  const double v = input.value.as<double>();
  if (std::isnan(v)) throw Error(ErrorKind::kValue, "cannot convert float NaN to integer");
  if (std::isinf(v)) throw Error(ErrorKind::kOverflow, "cannot convert float infinity to integer");
}

void record_copy(const Array& from, const Array& to) {
  RecordBuilder builder(to.view.shape);
  builder.output(to, builder.cast(builder.input(from), to.view.dtype));
  builder.commit();
}

bool is_f_contiguous(const View& view) {
  SmallVec<int, 6> order(view.rank());
  for (int k = 0; k < view.rank(); ++k) order[k] = view.rank() - 1 - k;
  return partition::permute(view, order).is_c_contiguous();
}

Array new_with_order(const View& view, DType dtype, int32_t itemsize, char order) {
  const View* one[] = {&view};
  if (order == 'K') return new_like(view.shape, one, dtype, itemsize);
  const bool fortran = order == 'F' || (order == 'A' && !view.is_c_contiguous() && is_f_contiguous(view));
  if (!fortran) return new_array(view.shape, dtype, itemsize);
  View reversed = view;
  reversed.strides = c_strides(Dims(std::make_reverse_iterator(view.shape.end()),
                                    std::make_reverse_iterator(view.shape.begin())), 1);
  std::reverse(reversed.strides.begin(), reversed.strides.end());
  const View* model[] = {&reversed};
  return new_like(view.shape, model, dtype, itemsize);
}

}  // namespace

void assign(const Array& dst, const Input& src, Casting casting) {
  if (src.kind != Input::Kind::kArray) {
    check_float_to_integer(src, dst.view.dtype);
    if (src.kind == Input::Kind::kScalar) check_casting(src.value.dtype, dst.view.dtype, casting);
    RecordBuilder builder(dst.view.shape);
    builder.output(dst, builder.param(src.kind == Input::Kind::kScalar ? cast_constant(src.value, dst.view.dtype)
                                                                       : scalar_as(src, dst.view.dtype)));
    builder.commit();
    return;
  }
  check_casting(src.array->view.dtype, dst.view.dtype, casting);
  Array from{src.array->store, without_leading_ones(src.array->view, dst.view.rank())};
  check_fits(from.view.shape, dst.view.shape);
  record_copy(from, dst);
}

Array copy(const Array& source, char order) {
  Array result = new_with_order(source.view, source.view.dtype, source.view.itemsize, order);
  record_copy(source, result);
  return result;
}

Array astype(const Array& source, DType dtype, char order) {
  if (source.view.dtype == dtype) return copy(source, order);
  if (source.view.dtype == DType::kVoid || dtype == DType::kVoid)
    throw Error(ErrorKind::kType, str("cannot convert between ", name(source.view.dtype), " and ", name(dtype)));
  Array result = new_with_order(source.view, dtype, itemsize(dtype), order);
  record_copy(source, result);
  return result;
}

void to_host(const Array& source, void* to) {
  if (!source.view.empty()) session::read(source, to);
}

Scalar item(const Array& source) {
  if (source.view.count() != 1)
    throw Error(ErrorKind::kValue, "can only convert an array of size 1 to a Python scalar");
  TW_CHECK(source.view.dtype != DType::kVoid);
  Scalar value;
  value.dtype = source.view.dtype;
  session::read(source, value.bytes);
  return value;
}

}  // namespace tilewise::ops
