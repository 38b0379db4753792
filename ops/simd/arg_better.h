// The order of arg-reductions: NaN first, then the smallest (or largest), then the lowest index; the caller brings
// candidates in order of index.
#pragma once

#include "ops/ref/fn_arith.h"
#include "runtime/base/convert.h"

namespace tilewise::ops::simd {

// Whether a later value replaces the best so far.
template <class T, bool kSmallest>
inline bool arg_better(T v, T best) {
  if constexpr (kIsHalf<T>) {
    return arg_better<float, kSmallest>(to_float(v), to_float(best));
  } else {
    if (ref::fn::nan(best)) return false;
    if (ref::fn::nan(v)) return true;
    return kSmallest ? ref::fn::less(v, best) : ref::fn::less(best, v);
  }
}

// The type of a complex number's parts; any other type itself.
template <class T>
struct PartOf {
  using type = T;
};
template <class R>
struct PartOf<std::complex<R>> {
  using type = R;
};

}  // namespace tilewise::ops::simd
