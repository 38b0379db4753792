// Arithmetic and bits of integers, which wrap. Division, remainders, divisors and powers stay with the reference loops.
#include <type_traits>

#include "ops/simd/families.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/simd/arith_int.cpp"
#include "ops/simd/targets.h"
#include <hwy/foreach_target.h>

#include "ops/simd/scalar_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tilewise::ops::simd::HWY_NAMESPACE {
namespace {

// Unsigned and at least as wide as int, so that nothing overflows.
template <class T>
using Wide = std::conditional_t<sizeof(T) < 4, uint32_t, std::make_unsigned_t<T>>;

#define TW_INT1(name, expression)                                 \
  struct name {                                                   \
    template <class T>                                            \
    static HWY_INLINE T apply(T a) {                              \
      using W [[maybe_unused]] = Wide<T>;                         \
      return static_cast<T>(expression);                          \
    }                                                             \
  };
#define TW_INT2(name, expression)                                 \
  struct name {                                                   \
    template <class T>                                            \
    static HWY_INLINE T apply(T a, T b) {                         \
      using W [[maybe_unused]] = Wide<T>;                         \
      return static_cast<T>(expression);                          \
    }                                                             \
  };

TW_INT2(AddInt, W(a) + W(b))
TW_INT2(SubtractInt, W(a) - W(b))
TW_INT2(MultiplyInt, W(a) * W(b))
TW_INT2(MaximumInt, a > b ? a : b)
TW_INT2(MinimumInt, a < b ? a : b)
TW_INT2(AndInt, a & b)
TW_INT2(OrInt, a | b)
TW_INT2(XorInt, a ^ b)
// Counts from the width on, and negative ones, shift everything out.
TW_INT2(LeftShiftInt, std::make_unsigned_t<T>(b) < sizeof(T) * 8 ? W(a) << (W(b) & (sizeof(T) * 8 - 1)) : W(0))
TW_INT2(RightShiftInt, a >> (std::make_unsigned_t<T>(b) < sizeof(T) * 8 ? W(b) : W(sizeof(T) * 8 - 1)))
TW_INT2(RightShiftUnsigned, std::make_unsigned_t<T>(b) < sizeof(T) * 8 ? a >> (W(b) & (sizeof(T) * 8 - 1)) : 0)
TW_INT1(NegativeInt, W(0) - W(a))
TW_INT1(SameInt, a)
TW_INT1(AbsoluteInt, a < 0 ? W(0) - W(a) : W(a))
TW_INT1(SquareInt, W(a) * W(a))
TW_INT1(SignInt, (a > 0) - (a < 0))
TW_INT1(InvertInt, ~a)

template <class T>
KernelInfo find_in(Opcode row) {
  constexpr bool is_signed = std::is_signed_v<T>;
  switch (row) {
    case op::add: return scalar_binary_kernel<T, AddInt>();
    case op::subtract: return scalar_binary_kernel<T, SubtractInt>();
    case op::multiply: return scalar_binary_kernel<T, MultiplyInt>();
    case op::maximum:
    case op::fmax: return scalar_binary_kernel<T, MaximumInt>();
    case op::minimum:
    case op::fmin: return scalar_binary_kernel<T, MinimumInt>();
    case op::bitwise_and: return scalar_binary_kernel<T, AndInt>();
    case op::bitwise_or: return scalar_binary_kernel<T, OrInt>();
    case op::bitwise_xor: return scalar_binary_kernel<T, XorInt>();
    case op::left_shift: return scalar_binary_kernel<T, LeftShiftInt>();
    case op::right_shift:
      return is_signed ? scalar_binary_kernel<T, RightShiftInt>() : scalar_binary_kernel<T, RightShiftUnsigned>();
    case op::negative: return scalar_unary_kernel<T, NegativeInt>();
    case op::positive:
    case op::conjugate:
    case op::floor:
    case op::ceil:
    case op::trunc: return scalar_unary_kernel<T, SameInt>();
    case op::absolute: return scalar_unary_kernel<T, AbsoluteInt>();
    case op::square: return scalar_unary_kernel<T, SquareInt>();
    case op::sign: return scalar_unary_kernel<T, SignInt>();
    case op::invert: return scalar_unary_kernel<T, InvertInt>();
    default: return {};
  }
}

}  // namespace

KernelInfo find_arith_int(Opcode row, DType dtype) {
  switch (dtype) {
    case DType::kInt8: return find_in<int8_t>(row);
    case DType::kInt16: return find_in<int16_t>(row);
    case DType::kInt32: return find_in<int32_t>(row);
    case DType::kInt64: return find_in<int64_t>(row);
    case DType::kUInt8: return find_in<uint8_t>(row);
    case DType::kUInt16: return find_in<uint16_t>(row);
    case DType::kUInt32: return find_in<uint32_t>(row);
    case DType::kUInt64: return find_in<uint64_t>(row);
    default: return {};
  }
}

}  // namespace tilewise::ops::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tilewise::ops::simd {
HWY_EXPORT(find_arith_int);
KernelInfo find_arith_int_kernel(Opcode row, DType dtype) { return HWY_DYNAMIC_DISPATCH(find_arith_int)(row, dtype); }
}  // namespace tilewise::ops::simd
#endif
