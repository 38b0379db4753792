#include "ops/reduce.h"

#include <limits>

#include "ops/copy.h"
#include "ops/reduce/reduce_axes.h"
#include "ops/type_rules.h"
#include "runtime/base/error.h"

namespace tilewise::ops {

namespace {

std::optional<Scalar> identity(Opcode op, DType dtype) {
  const auto integer = [&](int64_t v) { return cast(Scalar::of(DType::kInt64, v), dtype); };
  switch (op) {
    case op::add: case op::logical_or: case op::logical_xor: case op::bitwise_or: case op::bitwise_xor: case op::gcd:
    case op::hypot: return integer(0);
    case op::multiply: case op::logical_and: return integer(1);
    case op::bitwise_and: return integer(-1);
    case op::logaddexp: case op::logaddexp2:
      return cast(Scalar::of(DType::kFloat64, -std::numeric_limits<double>::infinity()), dtype);
    default: return std::nullopt;
  }
}

// 16-bit sums and products are accumulated in float: NumPy rounds them once a run of elements, we once at the end.
DType working_type(Opcode op, DType dtype) {
  return dtype == DType::kFloat16 && (op == op::add || op == op::multiply) ? DType::kFloat32 : dtype;
}

// The source in the working type, elements outside the mask replaced by `fill`.
Array prepared(const Array& source, DType dtype, const Input* where, const Scalar& fill) {
  if (source.view.dtype == dtype && !where) return source;
  const Dims& shape = source.view.shape;
  if (where && where->kind == Input::Kind::kArray) {
    const Dims* shapes[] = {&shape, &where->array->view.shape};
    if (!(broadcast_shape(shapes) == shape))
      throw Error(ErrorKind::kValue, str("the where mask of shape ", shape_text(where->array->view.shape),
                                         " does not fit an operand of shape ", shape_text(shape)));
    if (where->array->view.dtype != DType::kBool)
      throw Error(ErrorKind::kType, str("Cannot cast ", where->array->rank() ? "array data" : "scalar", " from dtype('",
                                        name(where->array->view.dtype), "') to dtype('bool') according to the rule 'safe'"));
  }
  const partition::View* views[] = {&source.view};
  const Array result = new_like(shape, views, dtype, itemsize(dtype));
  RecordBuilder builder(shape);
  auto value = builder.cast(builder.input(source), dtype);
  if (where) {
    const auto mask = where->kind == Input::Kind::kArray ? builder.input(*where->array)
                                                         : builder.param(cast(where->value, DType::kBool));
    value = builder.apply(op::where, dtype, mask, value, builder.param(fill));
  }
  builder.output(result, value);
  builder.commit();
  return result;
}

Array combined_with(const Array& values, Opcode op, const Scalar& initial) {
  const Input operands[] = {{Input::Kind::kScalar, nullptr, initial}, Input::of(values)};
  return elementwise(op, operands);
}

Array filled(const Array& source, const ReducedAxes& axes, bool keepdims, const Scalar& value) {
  const Array result = new_result(source, axes, keepdims, value.dtype);
  RecordBuilder builder(result.view.shape);
  builder.output(result, builder.param(value));
  builder.commit();
  return result;
}

}  // namespace

Array reduce(Opcode op, const Array& source, const ReduceOptions& options) {
  const std::string_view title = op_info(op).name;
  const DType dtype = accumulation_type(op, source, options.dtype, options.out);
  const DType work = working_type(op, dtype);
  if (!op_info(op).reducible) throw Error(ErrorKind::kValue, str("reduction not supported for ", title));
  const ReducedAxes axes(source.view.shape, options.axes);
  check_out_shape(options.out, axes.result_shape(source.view.shape, options.keepdims), title);

  const bool masked = options.where && !(options.where->kind == Input::Kind::kWeakBool &&
                                         options.where->value.as<bool>());
  std::optional<Scalar> fill = identity(op, work);
  if (options.initial) fill = cast(*options.initial, work);
  if (masked && !fill)
    throw Error(ErrorKind::kValue, str("reduction operation '", title, "' does not have an identity, so to use a where "
                                       "mask one has to specify 'initial'"));
  if (masked && options.initial && identity(op, work)) fill = identity(op, work);  // initial joins once, at the end

  if (fill && axes.count() == 0 && !axes.result_shape(source.view.shape, false).empty() &&
      count_of(axes.result_shape(source.view.shape, false)) == 0)
    return deliver(new_result(source, axes, options.keepdims, dtype), options.out);
  if (axes.count() == 0) {
    if (!fill)
      throw Error(ErrorKind::kValue, str("zero-size array to reduction operation ", title, " which has no identity"));
    const Scalar value = options.initial ? cast(*options.initial, dtype) : *identity(op, dtype);
    return deliver(filled(source, axes, options.keepdims, value), options.out);
  }

  const Array input = prepared(source, work, masked ? options.where : nullptr, fill.value_or(Scalar{}));
  const bool direct = options.out && options.out->view.dtype == work && dtype == work && !options.initial;
  Array result = direct ? *options.out : new_result(input, axes, options.keepdims, work);
  Reduction reduction;
  reduction.op = op;
  if (axes.mask() == 0) assign(result, Input::of(input));
  else record_reduction(input, result, axes, options.keepdims, reduction);
  if (direct) return result;
  if (options.initial) result = combined_with(result, op, cast(*options.initial, work));
  const session::ToldAs told(kFpReduce);  // of which a cast is part
  if (dtype != work && !options.out) return astype(result, dtype);
  return deliver(result, options.out);
}

Array arg_extreme(bool maximum, const Array& source, std::optional<int> axis, bool keepdims, const Array* out) {
  const std::string_view title = maximum ? "argmax" : "argmin";
  const ReducedAxes axes(source.view.shape, axis ? std::optional<Dims>(Dims{int64_t{*axis}}) : std::nullopt);
  const Dims shape = axes.result_shape(source.view.shape, keepdims);
  if (out && !(out->view.shape == shape))
    throw Error(ErrorKind::kValue, str("output array does not match result of np.", title, "."));
  if (out && out->view.dtype != DType::kInt64)
    throw Error(ErrorKind::kType, str("Cannot cast array data from dtype('", name(out->view.dtype),
                                      "') to dtype('int64') according to the rule 'safe'"));
  if (axes.count() == 0 && (!axis || count_of(shape) != 0))
    throw Error(ErrorKind::kValue, str("attempt to get ", title, " of an empty sequence"));
  Array result = out ? *out : new_array(shape, DType::kInt64);  // C order, whatever the operand's
  if (axes.mask() == 0) {  // of a 0-d array
    assign(result, Input{Input::Kind::kWeakInt, nullptr, Scalar::of(DType::kInt64, int64_t{0})});
    return result;
  }
  if (result.view.empty()) return result;
  const DType dtype = is_bool(source.view.dtype) ? DType::kUInt8 : source.view.dtype;
  Reduction reduction;
  reduction.state = maximum ? ReduceState::kArgMax : ReduceState::kArgMin;
  record_reduction(prepared(source, dtype, nullptr, {}), result, axes, keepdims, reduction);
  return result;
}

Array count_nonzero(const Array& source, const ReduceOptions& options) {
  return reduce(op::add, is_bool(source.view.dtype) ? source : astype(source, DType::kBool), options);
}

}  // namespace tilewise::ops
