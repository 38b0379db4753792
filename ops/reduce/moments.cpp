// Mean, variance and standard deviation: NumPy's types, the fixed tree's sums.
//
// The variance of real data is one reduction whose state carries mean and squared deviations. Complex data and masks
// take two passes: the mean, then the sum of |x - mean|^2.
#include "ops/copy.h"
#include "ops/opcode.h"
#include "ops/reduce/reduce_axes.h"
#include "runtime/base/error.h"

namespace tilewise::ops {

namespace {

Input weak(double value) { return {Input::Kind::kWeakFloat, nullptr, Scalar::of(DType::kFloat64, value)}; }

Array apply(Opcode op, const Input& a, const Input& b) {
  const Input operands[] = {a, b};
  return elementwise(op, operands);
}

bool is_masked(const ReduceOptions& options) {
  return options.where && options.where->kind == Input::Kind::kArray;
}

// How many elements are under each result: the mask summed over the reduced axes.
Array selected_count(const Array& source, const ReduceOptions& options, bool keepdims) {
  Array mask = *options.where->array;
  mask.view = partition::broadcast_to(mask.view, source.view.shape);
  ReduceOptions plain;
  plain.axes = options.axes;
  plain.keepdims = keepdims;
  return reduce(op::add, mask, plain);
}

// sums / count in the type of the sums, however NumPy gets there. It divides numbers (`scalar`) in code of their own, if an
// integer is one of their type.
Array divided(const Array& sums, const Input& count, bool scalar) {
  const session::ToldAs told(scalar && real_of(sums.view.dtype) == DType::kFloat64 ? kFpScalar : kFpOwn);
  const Array quotient = apply(op::divide, Input::of(sums), count);
  return quotient.view.dtype == sums.view.dtype ? quotient : astype(quotient, sums.view.dtype);
}

// The sum over the axes divided by the number of elements; in `dtype`.
Array mean_in(const Array& source, const ReduceOptions& options, DType dtype, bool keepdims, bool scalar = false) {
  ReduceOptions sum = options;
  sum.dtype = dtype;
  sum.keepdims = keepdims;
  sum.out = nullptr;
  sum.initial.reset();
  const Array sums = reduce(op::add, source, sum);
  if (is_masked(options)) {
    const Array counts = selected_count(source, options, keepdims);
    return divided(sums, Input::of(counts), scalar);
  }
  return divided(sums, weak(static_cast<double>(ReducedAxes(source.view.shape, options.axes).count())), scalar);
}

DType default_type(DType given) { return is_bool(given) || is_integer(given) ? DType::kFloat64 : given; }
DType wide(DType dtype) { return dtype == DType::kFloat16 ? DType::kFloat32 : dtype; }

// Whether NumPy's result is a number rather than an array without axes.
bool gives_scalar(const ReducedAxes& axes, const Array& source, const ReduceOptions& options) {
  return !options.out && axes.result_shape(source.view.shape, options.keepdims).empty() && axes.mask() != 0;
}

// Sum of |x - mean|^2 in two passes.
Array deviations_in_two_passes(const Array& source, const ReduceOptions& options, DType dtype) {
  const Array centre = mean_in(source, options, dtype, true);
  const Array distance = apply(op::subtract, Input::of(source), Input::of(centre));
  const auto square = [](const Array& x) {
    const Input operand[] = {Input::of(x)};
    return elementwise(op::square, operand);
  };
  Array squares;
  if (is_complex(distance.view.dtype)) {
    const Array real_square = square({distance.store, partition::real_part(distance.view)});
    const Array imag_square = square({distance.store, partition::imag_part(distance.view)});
    squares = apply(op::add, Input::of(real_square), Input::of(imag_square));
  } else {
    squares = square(distance);
  }
  ReduceOptions sum = options;
  sum.dtype = real_of(dtype);
  sum.out = nullptr;
  return reduce(op::add, squares, sum);
}

// The same by the reduction that carries mean and squared deviations.
Array deviations_in_one_pass(const Array& source, const ReduceOptions& options, DType dtype) {
  const ReducedAxes axes(source.view.shape, options.axes);
  const Array input = source.view.dtype == dtype ? source : astype(source, dtype);
  const Array result = new_result(input, axes, options.keepdims, dtype);
  Reduction reduction;
  reduction.state = ReduceState::kMoments;
  record_reduction(input, result, axes, options.keepdims, reduction);
  return result;
}

}  // namespace

Array mean(const Array& source, const ReduceOptions& options) {
  const DType dtype = options.dtype.value_or(default_type(source.view.dtype));
  const ReducedAxes axes(source.view.shape, options.axes);
  check_out_shape(options.out, axes.result_shape(source.view.shape, options.keepdims), "add");
  const Array result = mean_in(source, options, options.dtype ? dtype : wide(dtype), options.keepdims,
                               gives_scalar(axes, source, options));
  if (options.out) return deliver(result, options.out);
  return result.view.dtype == dtype ? result : astype(result, dtype);
}

Array variance(const Array& source, const ReduceOptions& options, double ddof, bool root) {
  const DType dtype = options.dtype.value_or(default_type(source.view.dtype));
  const DType work = wide(dtype);
  const ReducedAxes axes(source.view.shape, options.axes);
  check_out_shape(options.out, axes.result_shape(source.view.shape, options.keepdims), "add");

  const bool one_pass = !is_masked(options) && is_float(work) && !is_complex(source.view.dtype) && axes.count() > 0 &&
                        axes.mask() != 0;
  const Array deviations =
      one_pass ? deviations_in_one_pass(source, options, work) : deviations_in_two_passes(source, options, work);
  const bool scalar = gives_scalar(axes, source, options);
  Array result;
  if (is_masked(options)) {
    const Array counts = selected_count(source, options, options.keepdims);
    const Array reduced = apply(op::subtract, Input::of(counts), weak(ddof));
    const Array positive = apply(op::maximum, Input::of(reduced), weak(0));
    result = divided(deviations, Input::of(positive), scalar);
  } else {
    result = divided(deviations, weak(std::max(static_cast<double>(axes.count()) - ddof, 0.0)), scalar);
  }
  if (root) {
    const Input operand[] = {Input::of(result)};
    result = elementwise(op::sqrt, operand);
  }
  if (options.out) return deliver(result, options.out);
  const DType type = real_of(dtype);
  const session::ToldAs told(kFpSquare);  // NumPy squares in 16 bits
  return result.view.dtype == type ? result : astype(result, type);
}

}  // namespace tilewise::ops
