// Truth, bits and divisors of integers.
#pragma once

#include <bit>
#include <utility>

#include "ops/ref/fn_arith.h"

namespace tilewise::ops::ref::fn {

template <class T>
bool truth(T a) {
  return a != T(0);  // NaN is true
}

template <std::integral T>
T bitwise_and(T a, T b) {
  return static_cast<T>(a & b);
}
template <std::integral T>
T bitwise_or(T a, T b) {
  return static_cast<T>(a | b);
}
template <std::integral T>
T bitwise_xor(T a, T b) {
  return static_cast<T>(a ^ b);
}

inline bool invert(bool a) { return !a; }
template <Integer T>
T invert(T a) {
  return static_cast<T>(~a);
}

// A negative count is as large as it is when read unsigned: out of every width.
template <Integer T>
bool within_width(T count) {
  return static_cast<std::make_unsigned_t<T>>(count) < sizeof(T) * 8;
}
template <Integer T>
T left_shift(T a, T count) {
  return within_width(count) ? static_cast<T>(static_cast<uint64_t>(a) << count) : T(0);
}
template <Integer T>
T right_shift(T a, T count) {
  if (within_width(count)) return static_cast<T>(a >> count);
  return a < 0 ? static_cast<T>(-1) : T(0);
}

// The magnitude in the unsigned type: the least integer has one there.
template <Integer T>
auto magnitude(T a) {
  return static_cast<std::make_unsigned_t<T>>(absolute(a));
}

template <Integer T>
uint8_t bitwise_count(T a) {
  return static_cast<uint8_t>(std::popcount(magnitude(a)));
}

template <Integer T>
T gcd(T a, T b) {
  auto x = magnitude(a), y = magnitude(b);
  while (x != 0) {
    const auto rest = static_cast<decltype(x)>(y % x);
    y = x;
    x = rest;
  }
  return static_cast<T>(y);
}

template <Integer T>
T lcm(T a, T b) {
  const auto x = magnitude(a), y = magnitude(b);
  const auto divisor = gcd(x, y);
  return divisor == 0 ? T(0) : static_cast<T>(static_cast<uint64_t>(x / divisor) * y);
}

template <Integer A, Integer B>
bool equal_mixed(A a, B b) {
  return std::cmp_equal(a, b);
}
template <Integer A, Integer B>
bool not_equal_mixed(A a, B b) {
  return std::cmp_not_equal(a, b);
}
template <Integer A, Integer B>
bool less_mixed(A a, B b) {
  return std::cmp_less(a, b);
}
template <Integer A, Integer B>
bool less_equal_mixed(A a, B b) {
  return std::cmp_less_equal(a, b);
}
template <Integer A, Integer B>
bool greater_mixed(A a, B b) {
  return std::cmp_greater(a, b);
}
template <Integer A, Integer B>
bool greater_equal_mixed(A a, B b) {
  return std::cmp_greater_equal(a, b);
}

}  // namespace tilewise::ops::ref::fn
