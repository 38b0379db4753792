#include "ops/reduce/reduce_axes.h"

#include "ops/copy.h"
#include "ops/type_rules.h"
#include "runtime/base/error.h"

namespace tilewise::ops {

DType accumulation_type(Opcode op, const Array& source, std::optional<DType> dtype, const Array* out) {
  const DType given = source.view.dtype;
  if (op == op::logical_and || op == op::logical_or || op == op::logical_xor) return DType::kBool;
  if (!dtype && !out && (op == op::add || op == op::multiply)) {
    if (is_bool(given) || is_signed(given)) return DType::kInt64;
    if (is_unsigned(given)) return DType::kUInt64;
  }
  // NumPy takes the output's type for the left operand of the loop.
  Array left = source;
  if (out) left.view.dtype = out->view.dtype;
  const Input operands[] = {Input::of(left), Input::of(source)};
  return resolve_loop(op, operands, dtype, Casting::kUnsafe).dtype;
}

ReducedAxes::ReducedAxes(const Dims& shape, const std::optional<Dims>& axes) {
  if (axes) {
    for (int64_t axis : *axes) mask_ |= uint64_t{1} << axis;
  } else {
    for (int k = 0; k < shape.size(); ++k) mask_ |= uint64_t{1} << k;
  }
  for (int k = 0; k < shape.size(); ++k)
    if (reduced(k)) count_ *= shape[k];
}

Dims ReducedAxes::result_shape(const Dims& shape, bool keepdims) const {
  Dims result;
  for (int k = 0; k < shape.size(); ++k) {
    if (!reduced(k)) result.push_back(shape[k]);
    else if (keepdims) result.push_back(1);
  }
  return result;
}

Array new_result(const Array& source, const ReducedAxes& axes, bool keepdims, DType dtype) {
  const Dims shape = axes.result_shape(source.view.shape, keepdims);
  partition::View kept;
  for (int k = 0; k < source.rank(); ++k) {
    if (axes.reduced(k) && !keepdims) continue;
    kept.shape.push_back(axes.reduced(k) ? 1 : source.view.shape[k]);
    kept.strides.push_back(axes.reduced(k) ? 0 : source.view.strides[k]);
  }
  const partition::View* views[] = {&kept};
  return new_like(shape, views, dtype, itemsize(dtype));
}

partition::View with_reduced_axes(const partition::View& result, const Dims& source_shape, const ReducedAxes& axes,
                                  bool keepdims) {
  partition::View view = result;
  view.shape.clear();
  view.strides.clear();
  int at = 0;
  for (int k = 0; k < source_shape.size(); ++k) {
    const bool reduced = axes.reduced(k);
    view.shape.push_back(reduced ? 1 : source_shape[k]);
    view.strides.push_back(reduced ? 0 : result.strides[at]);
    if (!reduced || keepdims) ++at;
  }
  return view;
}

void record_reduction(const Array& source, const Array& result, const ReducedAxes& axes, bool keepdims,
                      Reduction reduction) {
  reduction.axes = axes.mask();
  ScratchRecord record;
  record->kind = RecordKind::kReduce;
  record->inputs.resize(1);
  record->inputs[0].view = source.view;
  record->outputs.resize(1);
  record->outputs[0].view = with_reduced_axes(result.view, source.view.shape, axes, keepdims);
  record->reduction = reduction;
  const Array* in = &source;
  const Array* out = &result;
  session::record(*record, &in, &out);
}

void check_out_shape(const Array* out, const Dims& shape, std::string_view operation) {
  if (!out || out->view.shape == shape) return;
  if (out->rank() != shape.size())
    throw Error(ErrorKind::kValue, str("output parameter for reduction operation ", operation,
                                       " has the wrong number of dimensions: Found ", out->rank(), " but expected ",
                                       shape.size()));
  throw Error(ErrorKind::kValue, str("output parameter for reduction operation ", operation, " has shape ",
                                     shape_text(out->view.shape), " where the result has ", shape_text(shape)));
}

Array deliver(const Array& result, const Array* out) {
  if (!out) return result;
  assign(*out, Input::of(result), Casting::kUnsafe);
  return *out;
}

}  // namespace tilewise::ops
