// NumPy's order of values, in which NaN comes last, and searches in it.
#pragma once

#include <cmath>
#include <cstdint>

#include "runtime/base/convert.h"

namespace tilewise::ops {

template <class T>
bool comes_before(T a, T b) {
  if constexpr (kIsHalf<T>) {
    return comes_before(to_float(a), to_float(b));
  } else if constexpr (kIsComplex<T>) {
    const bool a_nan = std::isnan(a.imag()), b_nan = std::isnan(b.imag());
    if (a.real() < b.real()) return !a_nan || b_nan;
    if (a.real() > b.real()) return b_nan && !a_nan;
    if (a.real() == b.real() || (std::isnan(a.real()) && std::isnan(b.real())))
      return a.imag() < b.imag() || (b_nan && !a_nan);
    return std::isnan(b.real());
  } else if constexpr (std::is_floating_point_v<T>) {
    return a < b || (b != b && a == a);
  } else {
    return a < b;
  }
}

// positions[j] = how many of the ascending `sorted` come before keys[j] (kRight: or are equal to it). Several searches go on
// at once, so that one does not wait for another's memory; `passes` is without branches.
template <bool kRight, int kKeys, class T, class Passes>
void search_by(const T* sorted, int64_t count, const T* keys, int64_t* positions, const Passes& passes) {
  int64_t base[kKeys] = {};
  int64_t length = count;
  while (length > 1) {
    const int64_t half = length / 2;
    for (int j = 0; j < kKeys; ++j) base[j] += half & -static_cast<int64_t>(passes(sorted[base[j] + half - 1], keys[j]));
    length -= half;
  }
  for (int j = 0; j < kKeys; ++j) positions[j] = base[j] + (count > 0 && passes(sorted[base[j]], keys[j]) ? 1 : 0);
}

template <bool kRight, int kKeys, class T>
void search_several(const T* sorted, int64_t count, const T* keys, int64_t* positions) {
  if constexpr (!kIsHalf<T> && !kIsComplex<T>) {
    bool plain = true;
    if constexpr (std::is_floating_point_v<T>)
      for (int j = 0; j < kKeys; ++j) plain = plain && keys[j] == keys[j];
    // Before a number, NaN among the sorted fails both comparisons, as it should.
    if (plain)
      return search_by<kRight, kKeys>(sorted, count, keys, positions,
                                      [](T value, T key) { return kRight ? value <= key : value < key; });
  }
  search_by<kRight, kKeys>(sorted, count, keys, positions, [](T value, T key) {
    return kRight ? !comes_before(key, value) : comes_before(value, key);
  });
}

}  // namespace tilewise::ops
