// Filters: distributions of which each element of the stream gives some values (often one, sometimes none) by itself.
//
// A filter has the types of its Reader and its values, the most values of an element (kYield), and take(element, to),
// which writes up to kYield values and says how many are good. `fixed()`: always kYield, so that value i belongs to a
// known element. Uniform numbers, integers by Lemire's multiplication (2019) and inverse exponentials are filters.
#pragma once

#include <cmath>
#include <type_traits>

#include "ops/random/pcg64.h"
#include "ops/simd/pcg_words.h"

namespace tilewise::ops {

template <class T>
struct Uniform {
  using Value = T;
  using Reader = std::conditional_t<sizeof(T) == 8, Words, Halves>;
  static constexpr int kYield = 1;
  bool fixed() const { return true; }
  double accepted() const { return 1; }
  int take(typename Reader::Element e, T* to) const {
    if constexpr (sizeof(T) == 8) *to = static_cast<double>(static_cast<int64_t>(e >> 11)) * 0x1p-53;
    else *to = static_cast<float>(static_cast<int32_t>(e >> 8)) * 0x1p-24f;
    return 1;
  }
  // n values at once.
  void take_all(const uint64_t* elements, int64_t n, T* to) const requires(sizeof(T) == 8) {
    simd::unit_doubles()(elements, n, to);
  }
};

template <class T>
struct InverseExponential {
  using Value = T;
  using Reader = typename Uniform<T>::Reader;
  static constexpr int kYield = 1;
  bool fixed() const { return true; }
  double accepted() const { return 1; }
  int take(typename Reader::Element e, T* to) const {
    Uniform<T>().take(e, to);
    *to = static_cast<T>(-std::log1p(-static_cast<double>(*to)));  // in doubles for either type
    return 1;
  }
};

// Bits of the stream as they are: the whole range of U. Small ones come from a half, the lowest first; bool takes a bit.
template <class T, class U = T>
struct Bits {
  using Value = T;
  using Reader = std::conditional_t<sizeof(U) == 8, Words, Halves>;
  static constexpr int kYield = std::is_same_v<U, bool> ? 32 : sizeof(U) == 8 ? 1 : 4 / sizeof(U);
  static constexpr int kBits = 32 / kYield;

  explicit Bits(T low_ = 0) : low(low_) {}
  T low;
  bool fixed() const { return true; }
  double accepted() const { return 1; }
  int take(typename Reader::Element e, T* to) const {
    if constexpr (kYield == 1) *to = static_cast<T>(low + static_cast<T>(e));
    else if constexpr (std::is_same_v<U, bool>)
      for (int k = 0; k < kYield; k += 8) spread(e >> k & 0xff, to + k);
    else
      for (int k = 0; k < kYield; ++k) to[k] = static_cast<T>(low + static_cast<T>(static_cast<U>(e >> kBits * k)));
    return kYield;
  }

 private:
  // Bit k of eight to byte k: copied to all bytes, each keeps its own bit, and what is not zero becomes one.
  static void spread(uint64_t bits, T* to) {
    const uint64_t kept = bits * 0x0101010101010101 & 0x8040201008040201;
    const uint64_t bytes = (kept + 0x7f7f7f7f7f7f7f7f) >> 7 & 0x0101010101010101;
    std::memcpy(to, &bytes, sizeof(bytes));
  }
};

// Numbers below `bound` by multiplying a U with it: the product's upper half, unless the lower one is among the few that
// some results would have too many of. T holds the results; an element gives one U, or several small ones.
template <class T, class U>
struct Bounded {
  using Value = T;
  using Wide = std::conditional_t<sizeof(U) == 8, uint128_t, uint64_t>;
  using Reader = std::conditional_t<sizeof(U) == 8, Words, Halves>;
  static constexpr int kYield = sizeof(U) == 8 ? 1 : 4 / sizeof(U);
  static constexpr int kBits = 8 * sizeof(U);

  Bounded(T low_, U range) : low(low_), bound(static_cast<U>(range + 1)) {
    rejected = static_cast<U>(static_cast<U>(~range) % bound);
  }
  T low;
  U bound, rejected;
  bool fixed() const { return rejected == 0; }
  double accepted() const { return 1 - std::ldexp(static_cast<double>(rejected), -kBits); }
  int take(typename Reader::Element e, T* to) const {
    int taken = 0;
    for (int k = 0; k < kYield; ++k) {
      const Wide product = static_cast<Wide>(static_cast<U>(e >> (kYield > 1 ? kBits * k : 0))) * bound;
      to[taken] = static_cast<T>(low + static_cast<T>(product >> kBits));
      taken += static_cast<U>(product) >= rejected;
    }
    return taken;
  }
};

}  // namespace tilewise::ops
