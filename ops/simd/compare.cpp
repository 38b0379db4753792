// Comparisons, truth and tests of every real type, to bools; and all that there is for bools.
#include "ops/simd/families.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/simd/compare.cpp"
#include "ops/simd/targets.h"
#include <hwy/foreach_target.h>

#include "ops/simd/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tilewise::ops::simd::HWY_NAMESPACE {
namespace {

struct EqualOp {
  template <class V>
  static HWY_INLINE auto apply(V a, V b) { return hn::Eq(a, b); }
};
struct NotEqualOp {
  template <class V>
  static HWY_INLINE auto apply(V a, V b) { return hn::Not(hn::Eq(a, b)); }  // true for NaN; Highway 1.0.3 has it false on AVX-512
};
struct LessOp {
  template <class V>
  static HWY_INLINE auto apply(V a, V b) { return hn::Lt(a, b); }
};
struct GreaterOp {
  template <class V>
  static HWY_INLINE auto apply(V a, V b) { return hn::Gt(a, b); }
};
// Integers have no Le everywhere: not greater. Floats do, and NaN makes the difference.
struct LessEqualOp {
  template <class V>
  static HWY_INLINE auto apply(V a, V b) {
    if constexpr (hwy::IsFloat<hn::TFromV<V>>()) return hn::Le(a, b);
    else return hn::Not(hn::Gt(a, b));
  }
};
struct GreaterEqualOp {
  template <class V>
  static HWY_INLINE auto apply(V a, V b) {
    if constexpr (hwy::IsFloat<hn::TFromV<V>>()) return hn::Ge(a, b);
    else return hn::Not(hn::Lt(a, b));
  }
};

// Bools may be any byte: what counts is whether it is 0.
template <class V>
HWY_INLINE auto truth(V a) {
  return hn::Not(hn::Eq(a, hn::Zero(hn::DFromV<V>())));
}
struct AndOp {
  template <class V>
  static HWY_INLINE auto apply(V a, V b) { return hn::And(truth(a), truth(b)); }
};
struct OrOp {
  template <class V>
  static HWY_INLINE auto apply(V a, V b) { return hn::Or(truth(a), truth(b)); }
};
struct XorOp {
  template <class V>
  static HWY_INLINE auto apply(V a, V b) { return hn::Xor(truth(a), truth(b)); }
};
struct SameOp {
  template <class V>
  static HWY_INLINE auto apply(V a, V b) { return hn::Not(hn::Xor(truth(a), truth(b))); }
};
struct SecondOnlyOp {
  template <class V>
  static HWY_INLINE auto apply(V a, V b) { return hn::AndNot(truth(a), truth(b)); }
};
struct FirstOnlyOp {
  template <class V>
  static HWY_INLINE auto apply(V a, V b) { return hn::AndNot(truth(b), truth(a)); }
};
struct FirstImpliesOp {
  template <class V>
  static HWY_INLINE auto apply(V a, V b) { return hn::Or(hn::Not(truth(a)), truth(b)); }
};
struct SecondImpliesOp {
  template <class V>
  static HWY_INLINE auto apply(V a, V b) { return hn::Or(hn::Not(truth(b)), truth(a)); }
};
struct NotOp {
  template <class V>
  static HWY_INLINE auto apply(V a) { return hn::Eq(a, hn::Zero(hn::DFromV<V>())); }
};
struct TruthOp {
  template <class V>
  static HWY_INLINE auto apply(V a) { return truth(a); }
};
struct IsNaNOp {
  template <class V>
  static HWY_INLINE auto apply(V a) { return hn::IsNaN(a); }
};
struct IsInfOp {
  template <class V>
  static HWY_INLINE auto apply(V a) { return hn::Eq(hn::Abs(a), hn::Inf(hn::DFromV<V>())); }
};
struct IsFiniteOp {
  template <class V>
  static HWY_INLINE auto apply(V a) { return hn::Lt(hn::Abs(a), hn::Inf(hn::DFromV<V>())); }
};

template <class T, class Op>
void test(const Call& c, int64_t count) {
  const Full<T> d;
  const size_t n = hn::Lanes(d), step = c.step[0] * n;
  const T* a = operand<T>(c, 0);
  uint8_t* out = result<uint8_t>(c);
  for (uint8_t* end = out + count; out < end; out += n, a += step) store_mask(d, Op::apply(hn::LoadU(d, a)), out);
}

template <class T, class Op>
void compare(const Call& c, int64_t count) {
  const Full<T> d;
  const size_t n = hn::Lanes(d), step_a = c.step[0] * n, step_b = c.step[1] * n;
  const T *a = operand<T>(c, 0), *b = operand<T>(c, 1);
  uint8_t* out = result<uint8_t>(c);
  for (uint8_t* end = out + count; out < end; out += n, a += step_a, b += step_b)
    store_mask(d, Op::apply(hn::LoadU(d, a), hn::LoadU(d, b)), out);
}

template <class T>
KernelInfo find_logic(Opcode row) {
  switch (row) {
    case op::logical_and: return kernel<T>(&compare<T, AndOp>);
    case op::logical_or: return kernel<T>(&compare<T, OrOp>);
    case op::logical_xor: return kernel<T>(&compare<T, XorOp>);
    case op::logical_not: return kernel<T>(&test<T, NotOp>);
    default: break;
  }
  if constexpr (hwy::IsFloat<T>()) {
    switch (row) {
      case op::isnan: return kernel<T>(&test<T, IsNaNOp>);
      case op::isinf: return kernel<T>(&test<T, IsInfOp>);
      case op::isfinite: return kernel<T>(&test<T, IsFiniteOp>);
      default: break;
    }
  }
  return {};
}

template <class T>
KernelInfo find_in(Opcode row) {
  switch (row) {
    case op::equal: return kernel<T>(&compare<T, EqualOp>);
    case op::not_equal: return kernel<T>(&compare<T, NotEqualOp>);
    case op::less: return kernel<T>(&compare<T, LessOp>);
    case op::less_equal: return kernel<T>(&compare<T, LessEqualOp>);
    case op::greater: return kernel<T>(&compare<T, GreaterOp>);
    case op::greater_equal: return kernel<T>(&compare<T, GreaterEqualOp>);
    default: return find_logic<T>(row);
  }
}

KernelInfo find_bool(Opcode row) {
  using T = uint8_t;
  switch (row) {
    case op::equal: return kernel<T>(&compare<T, SameOp>);
    case op::not_equal:
    case op::bitwise_xor: return kernel<T>(&compare<T, XorOp>);
    case op::less: return kernel<T>(&compare<T, SecondOnlyOp>);
    case op::greater: return kernel<T>(&compare<T, FirstOnlyOp>);
    case op::less_equal: return kernel<T>(&compare<T, FirstImpliesOp>);
    case op::greater_equal: return kernel<T>(&compare<T, SecondImpliesOp>);
    case op::add:
    case op::bitwise_or:
    case op::maximum:
    case op::fmax: return kernel<T>(&compare<T, OrOp>);
    case op::multiply:
    case op::bitwise_and:
    case op::minimum:
    case op::fmin: return kernel<T>(&compare<T, AndOp>);
    case op::invert: return kernel<T>(&test<T, NotOp>);
    case op::absolute: return kernel<T>(&test<T, TruthOp>);
    default: return find_logic<T>(row);
  }
}

}  // namespace

KernelInfo find_compare(Opcode row, DType dtype) {
  switch (dtype) {
    case DType::kBool: return find_bool(row);
    case DType::kUInt8: return find_in<uint8_t>(row);
    case DType::kInt8: return find_in<int8_t>(row);
    case DType::kInt16: return find_in<int16_t>(row);
    case DType::kInt32: return find_in<int32_t>(row);
    case DType::kInt64: return find_in<int64_t>(row);
    case DType::kUInt16: return find_in<uint16_t>(row);
    case DType::kUInt32: return find_in<uint32_t>(row);
    case DType::kUInt64: return find_in<uint64_t>(row);
    case DType::kFloat32: return find_in<float>(row);
    case DType::kFloat64: return find_in<double>(row);
    default: return {};
  }
}

}  // namespace tilewise::ops::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tilewise::ops::simd {
HWY_EXPORT(find_compare);
KernelInfo find_compare_kernel(Opcode row, DType dtype) { return HWY_DYNAMIC_DISPATCH(find_compare)(row, dtype); }
}  // namespace tilewise::ops::simd
#endif
