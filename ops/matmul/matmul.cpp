#include "ops/matmul.h"

#include "ops/copy.h"
#include "ops/matmul/plan.h"
#include "ops/record_builder.h"
#include "runtime/base/error.h"

namespace tilewise::ops {

namespace {

using partition::View;

constexpr const char* kSignature = "(n?,k),(k,m?)->(n?,m?)";

void check_rank(const Array& operand, int number) {
  if (operand.rank() == 0)
    throw Error(ErrorKind::kValue, str("matmul: Input operand ", number, " does not have enough dimensions (has 0, "
                                       "gufunc core with signature ", kSignature, " requires 1)"));
}

// The leading axes of both stretched to a common shape.
Dims stack_shape(const View& a, const View& b) {
  const Dims lead_a(a.shape.begin(), a.shape.end() - 2), lead_b(b.shape.begin(), b.shape.end() - 2);
  const Dims* shapes[] = {&lead_a, &lead_b};
  return broadcast_shape(shapes);
}

View stretched(const View& view, const Dims& stack) {
  Dims shape = stack;
  shape.push_back(view.shape[view.rank() - 2]);
  shape.push_back(view.shape[view.rank() - 1]);
  return partition::broadcast_to(view, shape);
}

DType result_type(const Array& a, const Array& b) {
  if (a.view.dtype == DType::kVoid || b.view.dtype == DType::kVoid)
    throw Error(ErrorKind::kUFuncType, "ufunc 'matmul' did not contain a loop with signature matching types");
  return promote(a.view.dtype, b.view.dtype);
}

Array product(const Array& a, const Array& b, DType dtype) {
  const Array left = a.view.dtype == dtype ? a : astype(a, dtype);
  const Array right = b.view.dtype == dtype ? b : astype(b, dtype);
  View left_view = left.view, right_view = right.view;
  if (a.rank() == 1) left_view = partition::newaxis(left_view, 0);
  if (b.rank() == 1) right_view = partition::newaxis(right_view, 1);
  const int64_t depth = left_view.shape.back(), other = right_view.shape[right_view.rank() - 2];
  if (depth != other)
    throw Error(ErrorKind::kValue, str("matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc "
                                       "signature ", kSignature, " (size ", other, " is different from ", depth, ")"));
  Dims shape = stack_shape(left_view, right_view);
  left_view = stretched(left_view, shape);
  right_view = stretched(right_view, shape);
  shape.push_back(left_view.shape[left_view.rank() - 2]);
  shape.push_back(right_view.shape.back());
  Array result = new_array(shape, dtype);

  const Array a_stack{left.store, left_view}, b_stack{right.store, right_view};
  const Array* in[] = {&a_stack, &b_stack};
  record_call(matmul_family(), {}, in, result);

  if (b.rank() == 1) result.view = partition::squeeze(result.view, result.rank() - 1);
  if (a.rank() == 1) result.view = partition::squeeze(result.view, result.rank() - (b.rank() == 1 ? 1 : 2));
  return result;
}

Dims product_shape(const Array& a, const Array& b) {
  Dims lead_a, lead_b;
  if (a.rank() > 2) lead_a.assign(a.view.shape.begin(), a.view.shape.end() - 2);
  if (b.rank() > 2) lead_b.assign(b.view.shape.begin(), b.view.shape.end() - 2);
  const Dims* shapes[] = {&lead_a, &lead_b};
  Dims shape = broadcast_shape(shapes);
  if (a.rank() > 1) shape.push_back(a.view.shape[a.rank() - 2]);
  if (b.rank() > 1) shape.push_back(b.view.shape[b.rank() - 1]);
  return shape;
}

void check_out(const Array& a, const Array& b, DType dtype, const Array& out) {
  const Dims shape = product_shape(a, b);
  if (!(shape == out.view.shape))
    throw Error(ErrorKind::kValue, str("matmul: the output of shape ", shape_text(out.view.shape),
                                       " does not fit a result of shape ", shape_text(shape)));
  if (!can_cast_same_kind(dtype, out.view.dtype))
    throw Error(ErrorKind::kUFuncType,
                str("Cannot cast ufunc 'matmul' output from dtype('", name(dtype), "') to dtype('",
                    name(out.view.dtype), "') with casting rule 'same_kind'"));
}

}  // namespace

Array matmul(const Array& a, const Array& b, const Array* out) {
  check_rank(a, 0);
  check_rank(b, 1);
  const DType dtype = result_type(a, b);
  const uint8_t name = session::ToldAs::now();
  const session::ToldAs told(name == kFpOwn ? uint8_t{kFpMatmul} : name);
  if (out) check_out(a, b, dtype, *out);
  const Array result = product(a, b, dtype);
  if (!out) return result;
  // By way of a new array: the output may overlap an operand, and panels of it are written while others are read.
  assign(*out, Input::of(result), Casting::kUnsafe);
  return *out;
}

}  // namespace tilewise::ops
