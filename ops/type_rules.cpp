#include "ops/type_rules.h"

#include <cmath>
#include <complex>
#include <string>

#include "ops/op_table.h"
#include "ops/opcode.h"
#include "runtime/base/error.h"
#include "runtime/launch.h"
#include "runtime/session.h"

namespace tilewise::ops {

namespace {

bool is_weak(const Input& input) {
  return input.kind == Input::Kind::kWeakInt || input.kind == Input::Kind::kWeakFloat ||
         input.kind == Input::Kind::kWeakComplex;
}

// The type of an operand that has one of its own; Python's bool counts as NumPy's.
DType strong_type(const Input& input) {
  if (input.kind == Input::Kind::kArray) return input.array->view.dtype;
  return input.kind == Input::Kind::kWeakBool ? DType::kBool : input.value.dtype;
}

// The type a Python scalar alone becomes.
DType default_type(Input::Kind kind) {
  return kind == Input::Kind::kWeakInt     ? DType::kInt64
         : kind == Input::Kind::kWeakFloat ? DType::kFloat64
                                           : DType::kComplex128;
}

// `dtype` with the kind of a Python scalar, kept as narrow as it is where the kind is there already.
DType with_weak(DType dtype, Input::Kind kind) {
  switch (kind) {
    case Input::Kind::kWeakInt: return is_bool(dtype) ? DType::kInt64 : dtype;
    case Input::Kind::kWeakFloat: return is_bool(dtype) || is_integer(dtype) ? DType::kFloat64 : dtype;
    default:
      if (is_complex(dtype)) return dtype;
      return dtype == DType::kFloat16 || dtype == DType::kFloat32 ? DType::kComplex64 : DType::kComplex128;
  }
}

std::string type_text(DType dtype) { return str("dtype('", name(dtype), "')"); }

// The classes of numpy.dtypes, as NumPy's message names them.
std::string class_name(const Input& input) {
  switch (input.kind) {
    case Input::Kind::kWeakInt: return "<class 'numpy.dtypes._PyLongDType'>";
    case Input::Kind::kWeakFloat: return "<class 'numpy.dtypes._PyFloatDType'>";
    case Input::Kind::kWeakComplex: return "<class 'numpy.dtypes._PyComplexDType'>";
    default: break;
  }
  constexpr std::string_view names[] = {"Bool",   "Int8",    "Int16",   "Int32",   "Int64",     "UInt8",      "UInt16", "UInt32",
                                        "UInt64", "Float16", "Float32", "Float64", "Complex64", "Complex128", "Void"};
  return str("<class 'numpy.dtypes.", names[static_cast<int>(strong_type(input))], "DType'>");
}

// NumPy's name of the function that a row belongs to: its functions with two results are two rows here.
std::string_view function_name(std::string_view row) {
  for (std::string_view name : {"divmod", "modf", "frexp"})
    if (row.starts_with(name) && row.substr(name.size()).starts_with('_')) return name;
  return row;
}

[[noreturn]] void throw_no_loop(std::string_view op, std::span<const Input> inputs) {
  std::string types;
  for (const Input& input : inputs) types += (types.empty() ? "" : ", ") + class_name(input);
  if (inputs.size() > 1) types = "(" + types + ")";
  throw Error(ErrorKind::kUFuncType,
              str("ufunc '", function_name(op), "' did not contain a loop with signature matching types ", types, " -> None"));
}

[[noreturn]] void throw_unsupported(std::string_view op) {
  throw Error(ErrorKind::kType, str("ufunc '", function_name(op), "' not supported for the input types, and the inputs could not be safely "
                                    "coerced to any supported types according to the casting rule ''safe''"));
}

[[noreturn]] void throw_no_signature(std::string_view op) {
  throw Error(ErrorKind::kType, str("No loop matching the specified signature and casting was found for ufunc ", function_name(op)));
}

[[noreturn]] void throw_bools(Opcode op, std::span<const Input> inputs) {
  if (op == op::subtract)
    throw Error(ErrorKind::kType, "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the `^` "
                                  "operator, or the logical_xor function instead.");
  if (op == op::negative)
    throw Error(ErrorKind::kType, "The numpy boolean negative, the `-` operator, is not supported, use the `~` operator or "
                                  "the logical_not function instead.");
  throw_no_loop(op_info(op).name, inputs);
}

// A Python integer as it is, where a comparison must not bend it to the other operand's type.
bool fits(const Scalar& value, DType dtype) {
  if (!is_integer(dtype)) return true;
  const int bits = itemsize(dtype) * 8;
  if (value.dtype == DType::kUInt64) {
    const uint64_t v = value.as<uint64_t>();
    return is_signed(dtype) ? v < (uint64_t{1} << (bits - 1)) : bits == 64 || v >> bits == 0;
  }
  const int64_t v = value.as<int64_t>();
  if (is_unsigned(dtype)) return v >= 0 && (bits == 64 || v >> bits == 0);
  return bits == 64 || (v >= -(int64_t{1} << (bits - 1)) && v < int64_t{1} << (bits - 1));
}

class Resolver {
 public:
  Resolver(Opcode op, std::span<const Input> inputs) : op_(op), row_(row(op)), inputs_(inputs) {
    TW_CHECK(inputs.size() == row_.info.arity, row_.info.name, " takes ", int{row_.info.arity}, " operands");
    for (const Input& input : inputs)
      if (!is_weak(input) && strong_type(input) == DType::kVoid) throw_unsupported(row_.info.name);
    const DType common = result_type(row_.info.select ? inputs.subspan(1) : inputs);
    for (int k = 0; k < count(); ++k) types_[k] = is_weak(inputs[k]) ? common : strong_type(inputs[k]);
    common_ = common;
  }

  Loop run(std::optional<DType> dtype) { return dtype ? with_result(*dtype) : free(); }

 private:
  int count() const { return static_cast<int>(inputs_.size()); }
  Loop make(DType loop, Opcode op = 0) const { return {op ? op : op_, loop, row_.info.result_type(loop)}; }

  template <class Predicate>
  bool all(Predicate predicate) const {
    for (int k = 0; k < count(); ++k)
      if (!predicate(types_[k])) return false;
    return true;
  }

  Loop free() {
    if (row_.info.select) return make(common_);
    if ((row_.flags & NoBools) && all(is_bool)) throw_bools(op_, inputs_);
    if ((row_.flags & Truths) && (types_[0] != types_[1] || is_weak(inputs_[0]) || is_weak(inputs_[1])))
      return make(DType::kBool);
    if ((row_.flags & IntsToDouble) && all([](DType d) { return is_bool(d) || is_integer(d); }))
      return make(DType::kFloat64);
    if (compares_integers()) return comparison();
    if (row_.flags & Strict) {
      if (!row_.info.has_loop(common_)) throw_no_loop(row_.info.name, inputs_);
      return make(common_);
    }
    if (op_ == op::ldexp) return ldexp();
    return first_safe();
  }

  // The first loop, in the order of NumPy's lists, that every operand casts to safely.
  Loop first_safe() const {
    constexpr DType order[] = {DType::kBool,   DType::kInt8,   DType::kUInt8,   DType::kInt16,   DType::kUInt16,
                               DType::kInt32,  DType::kUInt32, DType::kInt64,   DType::kUInt64,  DType::kFloat16,
                               DType::kFloat32, DType::kFloat64, DType::kComplex64, DType::kComplex128};
    for (DType loop : order)
      if (row_.info.has_loop(loop) && takes(loop)) return make(loop);
    throw_unsupported(row_.info.name);
  }

  bool takes(DType loop) const {
    for (int k = 0; k < count(); ++k)
      if (!can_cast_safely(types_[k], row_.info.operand_type(k, loop))) return false;
    return true;
  }

  // The exponent is an integer; a Python integer as mantissa beside it is the narrowest float.
  Loop ldexp() {
    if (inputs_[1].kind == Input::Kind::kWeakInt) types_[1] = DType::kInt64;
    else if (inputs_[0].kind == Input::Kind::kWeakInt && is_integer(types_[1])) types_[0] = DType::kFloat16;
    return first_safe();
  }

  bool compares_integers() const {
    return op_ >= op::equal && op_ <= op::greater_equal && all([](DType d) { return is_bool(d) || is_integer(d); });
  }

  // Integers are compared exactly, whatever their types and whatever Python's integer is.
  Loop comparison() const {
    DType t[2] = {types_[0], types_[1]};
    for (int k = 0; k < 2; ++k)
      if (inputs_[k].kind == Input::Kind::kWeakInt && !fits(inputs_[k].value, t[k])) t[k] = inputs_[k].value.dtype;
    if (t[0] == DType::kUInt64 && is_signed(t[1])) return mixed(DType::kUInt64);
    if (t[1] == DType::kUInt64 && is_signed(t[0])) return mixed(DType::kInt64);
    return make(promote(t[0], t[1]));
  }

  Loop mixed(DType first) const {
    return make(first, static_cast<Opcode>(op::equal_mixed + (op_ - op::equal)));
  }

  // NumPy's dtype=: the loop is chosen by its result.
  Loop with_result(DType dtype) {
    const OpInfo& info = row_.info;
    if ((row_.flags & NoBools) && is_bool(dtype)) throw_bools(op_, inputs_);
    if ((row_.flags & Strict) && !info.has_loop(dtype)) throw_no_loop(info.name, inputs_);
    if ((row_.flags & SecondInt64) && !is_weak(inputs_[1]) && !can_cast_safely(types_[1], DType::kInt64))
      throw_no_signature(info.name);
    const bool fixed = info.result_type(DType::kFloat64) == info.result_type(DType::kFloat32);  // bool and the like
    if (fixed) {
      const Loop loop = free();
      if (loop.result != dtype) throw_no_signature(info.name);
      return loop;
    }
    for (DType loop : {DType::kComplex64, DType::kComplex128})
      if (types_[0] == loop && info.has_loop(loop) && info.result_type(loop) == dtype && loop != dtype) return make(loop);
    if (!info.has_loop(dtype) || info.result_type(dtype) != dtype) throw_no_signature(info.name);
    return make(dtype);
  }

  Opcode op_;
  const Row& row_;
  std::span<const Input> inputs_;
  DType types_[3] = {};
  DType common_ = DType::kBool;
};

void check_casting(const Loop& loop, std::span<const Input> inputs, Casting casting) {
  const Row& r = row(loop.op);
  if (r.flags & Truths) return;
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (r.info.select && k == 0) continue;
    const DType to = r.info.operand_type(static_cast<int>(k), loop.dtype);
    const DType from = is_weak(inputs[k]) ? with_weak(to, inputs[k].kind) : strong_type(inputs[k]);
    if (can_cast(from, to, casting)) continue;
    const std::string which = inputs.size() > 1 ? str(" ", k) : "";
    throw Error(ErrorKind::kUFuncType, str("Cannot cast ufunc '", function_name(r.info.name), "' input", which, " from ", type_text(from),
                                           " to ", type_text(to), " with casting rule '", casting_name(casting), "'"));
  }
}

}  // namespace

Loop resolve_loop(Opcode op, std::span<const Input> inputs, std::optional<DType> dtype, Casting casting) {
  const Loop loop = Resolver(op, inputs).run(dtype);
  check_casting(loop, inputs, casting);
  return loop;
}

DType result_type(std::span<const Input> inputs) {
  bool any = false;
  DType result = DType::kBool;
  for (const Input& input : inputs) {
    if (is_weak(input)) continue;
    result = any ? promote(result, strong_type(input)) : strong_type(input);
    any = true;
  }
  for (const Input& input : inputs) {
    if (!is_weak(input)) continue;
    result = any ? with_weak(result, input.kind) : default_type(input.kind);
    any = true;
  }
  return result;
}

Scalar cast_constant(const Scalar& value, DType dtype) {
  const Scalar result = cast(value, dtype);
  if (value.dtype == dtype || is_bool(dtype)) return result;
  const auto wide = [](const Scalar& v) { return cast(v, DType::kComplex128).as<std::complex<double>>(); };
  const auto infinite = [](std::complex<double> v) { return std::isinf(v.real()) || std::isinf(v.imag()); };
  const std::complex<double> from = wide(value);
  if (is_integer(dtype)) {
    if (is_integer(value.dtype) || is_bool(value.dtype)) return result;
    const double limit = std::ldexp(1.0, 8 * itemsize(dtype) - (is_signed(dtype) ? 1 : 0));
    const bool fits = from.real() < limit && from.real() > (is_signed(dtype) ? -limit - 1 : -limit);
    if (!fits) session::note_cast(kFpInvalid);
  } else if (!infinite(from) && infinite(wide(result))) {
    session::note_cast(kFpOverflow);
  }
  return result;
}

Scalar scalar_as(const Input& input, DType dtype) {
  TW_CHECK(input.kind != Input::Kind::kArray, "an array is no constant");
  if (input.kind == Input::Kind::kWeakInt && !fits(input.value, dtype)) {
    const std::string value = input.value.dtype == DType::kUInt64 ? std::to_string(input.value.as<uint64_t>())
                                                                  : std::to_string(input.value.as<int64_t>());
    throw Error(ErrorKind::kOverflow, dtype == DType::kInt64
                                          ? "Python int too large to convert to C long"
                                          : str("Python integer ", value, " out of bounds for ", name(dtype)));
  }
  return cast_constant(input.value, dtype);
}

bool can_cast(DType from, DType to, Casting casting) {
  switch (casting) {
    case Casting::kNo:
    case Casting::kEquiv: return from == to;
    case Casting::kSafe: return can_cast_safely(from, to);
    case Casting::kSameKind: return can_cast_same_kind(from, to);
    case Casting::kUnsafe: return true;
  }
  return false;
}

std::string_view casting_name(Casting casting) {
  constexpr std::string_view names[] = {"no", "equiv", "safe", "same_kind", "unsafe"};
  return names[static_cast<int>(casting)];
}

}  // namespace tilewise::ops
