#include "ops/elementwise.h"

#include <cmath>
#include <cstring>

#include "ops/copy.h"
#include "ops/op_table.h"
#include "ops/opcode.h"
#include "ops/record_builder.h"
#include "ops/reduce.h"
#include "ops/type_rules.h"
#include "runtime/base/error.h"

namespace tilewise::ops {

namespace {

using partition::View;

const Dims kNoAxes{};

const Dims& shape_of(const Input& input) {
  return input.kind == Input::Kind::kArray ? input.array->view.shape : kNoAxes;
}

[[noreturn]] void throw_no_broadcast(std::span<const Dims* const> shapes) {
  std::string text = "operands could not be broadcast together with shapes ";
  for (const Dims* shape : shapes) text += shape_text(*shape) + " ";
  throw Error(ErrorKind::kValue, text);
}

// ---- The common case: one type, one shape, C order ---------------------------------------------------------------

// Word by word, as it was written a moment ago: one wide read would wait for the narrow writes.
void copy_value(const Scalar& from, Scalar& to) {
  to.dtype = from.dtype;
  std::memcpy(to.bytes, from.bytes, 8);
  if (itemsize(from.dtype) > 8) std::memcpy(to.bytes + 8, from.bytes + 8, 8);
}

template <class T>
void set_value(DType dtype, T number, Scalar& to) {
  to.dtype = dtype;
  std::memcpy(to.bytes, &number, sizeof number);
}

// False where the number overflows, which needs a warning.
bool narrow_constant(double number, Scalar& to) {
  const float narrow = static_cast<float>(number);
  if (std::isinf(narrow) && !std::isinf(number)) return false;
  set_value(DType::kFloat32, narrow, to);
  return true;
}

// A Python scalar that is a constant of type `dtype` whatever its value: no check and no other loop is needed.
bool plain_constant(const Input& input, DType dtype, Scalar& value) {
  switch (input.kind) {
    case Input::Kind::kScalar:
      if (input.value.dtype != dtype) return false;
      copy_value(input.value, value);
      return true;
    case Input::Kind::kWeakFloat:
      if (dtype == DType::kFloat64) copy_value(input.value, value);
      else if (dtype == DType::kFloat32) return narrow_constant(input.value.as<double>(), value);
      else return false;
      return true;
    case Input::Kind::kWeakInt: {
      if (input.value.dtype != DType::kInt64) return false;
      const int64_t v = input.value.as<int64_t>();
      if (dtype == DType::kFloat64) set_value(dtype, static_cast<double>(v), value);
      else if (dtype == DType::kFloat32) set_value(dtype, static_cast<float>(v), value);
      else if (dtype == DType::kInt64) copy_value(input.value, value);
      else return false;
      return true;
    }
    default: return false;
  }
}

// The dense view of a new store of a C-contiguous view's shape.
void make_dense(const View& like, DType dtype, int32_t size, View& view) {
  view = like;
  view.offset = 0;
  if (dtype == like.dtype) return;
  view.dtype = dtype;
  view.itemsize = size;
  int64_t stride = size;
  for (int k = like.shape.size() - 1; k >= 0; --k) {
    view.strides[k] = stride;
    stride *= std::max<int64_t>(like.shape[k], 1);
  }
}

void record_in_full(const PlainOperation& plain, Array& result) {
  const View& view = plain.in[0]->view;
  ScratchRecord record;
  record->inputs.resize(static_cast<size_t>(plain.arrays));
  for (int k = 0; k < plain.arrays; ++k) record->inputs[static_cast<size_t>(k)].view = plain.in[k]->view;
  record->outputs.resize(1);
  make_dense(view, plain.type, plain.itemsize, record->outputs[0].view);
  if (plain.has_constant) record->params.push_back(plain.constant);
  record->code.push_back({plain.op, plain.dtype, plain.number[0], plain.number[1], kNone});
  record->types.push_back(plain.type);
  record->results.push_back(static_cast<uint16_t>(plain.arrays + plain.has_constant));
  result.store = session::new_store(view.shape, plain.itemsize);
  const Array* out = &result;
  session::record(*record, plain.in, &out);
}

// Records the operation if it is the common case; else does nothing.
bool record_plain(Opcode op, std::span<const Input> inputs, Array& result) {
  const OpInfo& info = op_info(op);
  if (info.select || inputs.size() > 2) return false;
  const Array* first = inputs[0].kind == Input::Kind::kArray ? inputs[0].array : nullptr;
  if (!first && inputs.size() == 2 && inputs[1].kind == Input::Kind::kArray) first = inputs[1].array;
  if (!first) return false;
  const View& view = first->view;
  const DType dtype = view.dtype;
  if (dtype == DType::kVoid || !info.has_loop(dtype) || (op == op::power && is_signed(dtype))) return false;
  if (inputs.size() == 2 && info.operand_type(1, dtype) != dtype) return false;

  PlainOperation plain;
  plain.op = op;
  plain.dtype = dtype;
  for (size_t k = 0; k < inputs.size(); ++k) {
    const Input& input = inputs[k];
    if (input.kind == Input::Kind::kArray) {
      const View& other = input.array->view;
      if (other.dtype != dtype || !same_shape(other.shape, view.shape) || !other.is_c_contiguous()) return false;
      plain.number[k] = static_cast<uint16_t>(plain.arrays);
      plain.in[plain.arrays++] = input.array;
    } else {
      if (!plain_constant(input, dtype, plain.constant)) return false;
      plain.has_constant = true;
    }
  }
  if (plain.has_constant) (plain.number[0] == kNone ? plain.number[0] : plain.number[1]) = static_cast<uint16_t>(plain.arrays);
  plain.type = info.result_type(dtype);
  plain.itemsize = itemsize(plain.type);
  plain.told_as = session::ToldAs::now();
  if (!session::record_plain(plain, &result.store)) record_in_full(plain, result);
  make_dense(view, plain.type, plain.itemsize, result.view);
  return true;
}

// ---- The general case ---------------------------------------------------------------------------------------------

// The shape of everything: inputs, mask and output take part; the output is never stretched.
Dims whole_shape(std::span<const Input> inputs, const ElementwiseOptions& options) {
  SmallVec<const Dims*, 6> shapes;
  for (const Input& input : inputs) shapes.push_back(&shape_of(input));
  if (options.where) shapes.push_back(&shape_of(*options.where));
  if (!options.out) return broadcast_shape({shapes.data(), static_cast<size_t>(shapes.size())});
  const Dims& out = options.out->view.shape;
  shapes.push_back(&out);
  const Dims shape = broadcast_shape({shapes.data(), static_cast<size_t>(shapes.size())});
  if (!(shape == out))
    throw Error(ErrorKind::kValue, str("non-broadcastable output operand with shape ", shape_text(out),
                                       " doesn't match the broadcast shape ", shape_text(shape)));
  return shape;
}

void check_output(Opcode op, DType from, const Array* out, Casting casting) {
  if (out && !can_cast(from, out->view.dtype, casting))
    throw Error(ErrorKind::kUFuncType,
                str("Cannot cast ufunc '", op_info(op).name, "' output from dtype('", name(from), "') to dtype('",
                    name(out->view.dtype), "') with casting rule '", casting_name(casting), "'"));
}

}  // namespace

void check_mask(const Input& mask) {
  const bool array = mask.kind == Input::Kind::kArray;
  const DType dtype = array ? mask.array->view.dtype : mask.value.dtype;
  if (dtype != DType::kBool)
    throw Error(ErrorKind::kType, str("Cannot cast ", array && mask.array->rank() ? "array data" : "scalar", " from dtype('",
                                      name(dtype), "') to dtype('bool') according to the rule 'safe'"));
}

namespace {

// A harmless operand for elements outside the mask: no row raises a warning there, whatever the array holds.
Scalar harmless(Opcode op, DType dtype) {
  return cast(Scalar::of(DType::kInt64, int64_t{op == op::arctanh ? 0 : 1}), dtype);
}

// Powers of integers are checked before they are recorded, since Python's `try` must see the error: this waits.
void check_exponent(const Input& exponent, const Input* where) {
  Array negative;
  if (exponent.kind == Input::Kind::kArray) {
    const Input operands[] = {exponent, {Input::Kind::kWeakInt, nullptr, Scalar::of(DType::kInt64, int64_t{0})}};
    negative = elementwise(op::less, operands);
    if (where) {
      const Input both[] = {Input::of(negative), *where};
      negative = elementwise(op::logical_and, both);
    }
    negative = reduce(op::logical_or, negative, {});
    if (!item(negative).as<bool>()) return;
  } else {
    const Scalar value = cast(exponent.value, DType::kInt64);
    if (is_unsigned(exponent.value.dtype) || value.as<int64_t>() >= 0) return;
  }
  throw Error(ErrorKind::kValue, "Integers to negative integer powers are not allowed.");
}

class General {
 public:
  General(Opcode op, std::span<const Input> inputs, const ElementwiseOptions& options)
      : op_(op), inputs_(inputs), options_(options),
        loop_(resolve_loop(op, inputs, options.dtype, options.casting)),
        shape_(whole_shape(inputs, options)), builder_(shape_) {
    check_output(op, loop_.result, options.out, options.casting);
    if (options.where) check_mask(*options.where);
    if (loop_.op == op::power && is_signed(loop_.dtype)) check_exponent(inputs[1], options.where);
  }

  Array record() {
    if (masked()) mask_ = operand(*options_.where, DType::kBool);
    uint16_t values[3] = {kNone, kNone, kNone};
    for (size_t k = 0; k < inputs_.size(); ++k) {
      const DType type = op_info(loop_.op).operand_type(static_cast<int>(k), loop_.dtype);
      values[k] = operand(inputs_[k], type);
      if (mask_ != kNone && inputs_[k].kind == Input::Kind::kArray && row(loop_.op).fp != Never)
        values[k] = builder_.apply(op::where, type, mask_, values[k], builder_.param(harmless(op_, type)));
    }
    uint16_t value = builder_.apply(loop_.op, loop_.dtype, values[0], values[1], values[2]);
    Array result = options_.out ? *options_.out : fresh();
    value = builder_.cast(value, result.view.dtype);
    if (mask_ != kNone) {
      const DType type = result.view.dtype;
      const uint16_t old = options_.out ? builder_.input(*options_.out)
                                        : builder_.param(cast(Scalar::of(DType::kBool, false), type));
      value = builder_.apply(op::where, type, mask_, value, old);
    }
    builder_.output(result, value);
    builder_.commit();
    return result;
  }

 private:
  // A mask that is simply true is none.
  bool masked() const {
    return options_.where && !(options_.where->kind == Input::Kind::kWeakBool && options_.where->value.as<bool>());
  }

  uint16_t operand(const Input& input, DType type) {
    if (input.kind == Input::Kind::kArray) return builder_.cast(builder_.input(*input.array), type);
    return builder_.param(scalar_as(input, type));
  }

  Array fresh() const {
    SmallVec<const View*, 6> views;
    View stretched[4];
    int used = 0;
    const auto add = [&](const Input& input) {
      if (input.kind != Input::Kind::kArray) return;
      const View& view = input.array->view;
      if (view.shape == shape_) {
        views.push_back(&view);
      } else {
        stretched[used] = partition::broadcast_to(view, shape_);
        views.push_back(&stretched[used++]);
      }
    };
    for (const Input& input : inputs_) add(input);
    if (options_.where) add(*options_.where);
    return new_like(shape_, {views.data(), static_cast<size_t>(views.size())}, loop_.result, itemsize(loop_.result));
  }

  Opcode op_;
  std::span<const Input> inputs_;
  const ElementwiseOptions& options_;
  Loop loop_;
  Dims shape_;
  RecordBuilder builder_;
  uint16_t mask_ = kNone;
};

}  // namespace

Dims broadcast_shape(std::span<const Dims* const> shapes) {
  int rank = 0;
  for (const Dims* shape : shapes) rank = std::max(rank, shape->size());
  Dims result(rank, 1);
  for (const Dims* shape : shapes) {
    const int shift = rank - shape->size();
    for (int k = 0; k < shape->size(); ++k) {
      const int64_t extent = (*shape)[k];
      if (extent == 1 || extent == result[shift + k]) continue;
      if (result[shift + k] != 1) throw_no_broadcast(shapes);
      result[shift + k] = extent;
    }
  }
  return result;
}

void elementwise_into(Array& result, Opcode op, std::span<const Input> inputs, const ElementwiseOptions& options) {
  if (!options.out && !options.where && !options.dtype && record_plain(op, inputs, result)) return;
  result = General(op, inputs, options).record();
}

Array elementwise(Opcode op, std::span<const Input> inputs, const ElementwiseOptions& options) {
  Array result;
  elementwise_into(result, op, inputs, options);
  return result;
}

}  // namespace tilewise::ops
