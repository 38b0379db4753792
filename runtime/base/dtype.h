// Element types.
//
// A dtype is a number and a row in a table. kVoid stands for bytes of any item size (structured records): such
// data can be stored, moved, viewed and copied, not computed with.
#pragma once

#include <complex>
#include <cstdint>
#include <string_view>

namespace tilewise {

// The order is NumPy's order of kinds and widths; it is part of the stream's binary form.
enum class DType : uint8_t {
  kBool, kInt8, kInt16, kInt32, kInt64, kUInt8, kUInt16, kUInt32, kUInt64,
  kFloat16, kFloat32, kFloat64, kComplex64, kComplex128, kVoid,
};
inline constexpr int kNumericDTypes = 14;  // all but kVoid

// Bytes of one element; 0 for kVoid, whose size is the view's.
int itemsize(DType dtype);
// NumPy's name: "float32".
std::string_view name(DType dtype);
// NumPy's kind character: b i u f c V.
char kind(DType dtype);

inline constexpr bool is_bool(DType d) { return d == DType::kBool; }
inline constexpr bool is_signed(DType d) { return d >= DType::kInt8 && d <= DType::kInt64; }
inline constexpr bool is_unsigned(DType d) { return d >= DType::kUInt8 && d <= DType::kUInt64; }
inline constexpr bool is_integer(DType d) { return d >= DType::kInt8 && d <= DType::kUInt64; }
inline constexpr bool is_float(DType d) { return d >= DType::kFloat16 && d <= DType::kFloat64; }
inline constexpr bool is_complex(DType d) { return d == DType::kComplex64 || d == DType::kComplex128; }
// The type of a complex number's parts; any other type itself.
DType real_of(DType dtype);

// NumPy's promotion of two array dtypes (np.promote_types).
DType promote(DType a, DType b);
// np.can_cast(from, to, "safe") and "same_kind".
bool can_cast_safely(DType from, DType to);
bool can_cast_same_kind(DType from, DType to);

// One element's bytes with its type: a constant of a program, a fill value, a value read.
struct Scalar {
  DType dtype = DType::kFloat64;
  alignas(8) unsigned char bytes[16] = {};

  template <class T>
  static Scalar of(DType dtype, T value) {
    static_assert(sizeof(T) <= 16);
    Scalar s;
    s.dtype = dtype;
    __builtin_memcpy(s.bytes, &value, sizeof(T));
    return s;
  }
  template <class T>
  T as() const {
    T value;
    __builtin_memcpy(&value, bytes, sizeof(T));
    return value;
  }
};
bool operator==(const Scalar& a, const Scalar& b);  // same type, same bits
// The value cast as NumPy's astype casts (float to integer as NumPy on x86, 16-bit floats by rounding to even).
Scalar cast(const Scalar& value, DType to);

}  // namespace tilewise
