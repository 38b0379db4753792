#include "runtime/base/dtype.h"

#include <algorithm>
#include <cstring>

#include "runtime/base/convert.h"

namespace tilewise {

namespace {

struct Row {
  std::string_view name;
  char kind;
  int itemsize;
};

constexpr Row kRows[] = {
    {"bool", 'b', 1},    {"int8", 'i', 1},     {"int16", 'i', 2},   {"int32", 'i', 4},      {"int64", 'i', 8},
    {"uint8", 'u', 1},   {"uint16", 'u', 2},   {"uint32", 'u', 4},  {"uint64", 'u', 8},     {"float16", 'f', 2},
    {"float32", 'f', 4}, {"float64", 'f', 8},  {"complex64", 'c', 8}, {"complex128", 'c', 16}, {"void", 'V', 0},
};

const Row& row(DType dtype) { return kRows[static_cast<int>(dtype)]; }

DType float_of_size(int size) {
  return size <= 2 ? DType::kFloat16 : size <= 4 ? DType::kFloat32 : DType::kFloat64;
}

DType complex_of_part(DType real) { return real == DType::kFloat64 ? DType::kComplex128 : DType::kComplex64; }

// The narrowest float that holds every value of an integer type in NumPy's view: 8 bits in 16, 16 in 32, others in 64.
DType float_for_integer(DType integer) {
  return is_bool(integer) ? DType::kFloat16 : float_of_size(2 * itemsize(integer));
}

DType promote_integers(DType a, DType b) {
  if (is_signed(a) == is_signed(b)) return itemsize(a) >= itemsize(b) ? a : b;
  const DType s = is_signed(a) ? a : b;
  const DType u = is_signed(a) ? b : a;
  if (itemsize(s) > itemsize(u)) return s;
  switch (u) {
    case DType::kUInt8: return DType::kInt16;
    case DType::kUInt16: return DType::kInt32;
    case DType::kUInt32: return DType::kInt64;
    default: return DType::kFloat64;
  }
}

int kind_rank(DType d) {
  return is_bool(d) ? 0 : is_unsigned(d) ? 1 : is_signed(d) ? 2 : is_float(d) ? 3 : is_complex(d) ? 4 : 5;
}

}  // namespace

int itemsize(DType dtype) { return row(dtype).itemsize; }
std::string_view name(DType dtype) { return row(dtype).name; }
char kind(DType dtype) { return row(dtype).kind; }

DType real_of(DType dtype) {
  if (dtype == DType::kComplex64) return DType::kFloat32;
  if (dtype == DType::kComplex128) return DType::kFloat64;
  return dtype;
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (a == DType::kVoid || b == DType::kVoid)
    throw Error(ErrorKind::kType, str("The DType of ", name(a), " and ", name(b), " have no common type."));
  if (is_bool(a)) return b;
  if (is_bool(b)) return a;
  if (is_integer(a) && is_integer(b)) return promote_integers(a, b);
  const DType real_a = is_integer(a) ? float_for_integer(a) : real_of(a);
  const DType real_b = is_integer(b) ? float_for_integer(b) : real_of(b);
  const DType real = itemsize(real_a) >= itemsize(real_b) ? real_a : real_b;
  return is_complex(a) || is_complex(b) ? complex_of_part(real) : real;
}

bool can_cast_safely(DType from, DType to) {
  if (from == to) return true;
  if (to == DType::kVoid) return true;
  return from != DType::kVoid && promote(from, to) == to;
}

bool can_cast_same_kind(DType from, DType to) {
  if (can_cast_safely(from, to)) return true;
  return from != DType::kVoid && kind_rank(from) <= kind_rank(to);
}

bool operator==(const Scalar& a, const Scalar& b) {
  return a.dtype == b.dtype && std::memcmp(a.bytes, b.bytes, itemsize(a.dtype)) == 0;
}

Scalar cast(const Scalar& value, DType to) {
  return visit(value.dtype, [&](auto from) {
    return visit(to, [&](auto target) {
      return Scalar::of(to, convert<typename decltype(target)::type>(value.as<typename decltype(from)::type>()));
    });
  });
}

}  // namespace tilewise
