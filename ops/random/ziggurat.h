// Normal and exponential numbers by the ziggurat (Marsaglia and Tsang, 2000): 256 strips of equal area under the density;
// 99 of 100 numbers take one element of the stream and a comparison, the others some more.
//
// The tables are computed at the first use. They are NumPy's to the last bit, since the streams have to be: strips are
// found in double precision from the tail inwards, as NumPy's were. Immutable after; safe from any thread.
#pragma once

#include <bit>
#include <cmath>
#include <type_traits>

#include "ops/random/pcg64.h"

namespace tilewise::ops {

inline constexpr int kStrips = 256;

template <class T, class Bits>
struct ZigguratTable {
  Bits inside[kStrips];     // numbers below this lie under the density whatever the height
  T width[kStrips];         // of the strip, by the number's largest value
  T density[kStrips];       // at the strip's outer end
};
using DoubleZiggurat = ZigguratTable<double, uint64_t>;
using FloatZiggurat = ZigguratTable<float, uint32_t>;

const DoubleZiggurat& normal_doubles();
const FloatZiggurat& normal_floats();
const DoubleZiggurat& exponential_doubles();
const FloatZiggurat& exponential_floats();

inline constexpr double kNormalEdge = 3.6541528853610088;       // where the tail begins
inline constexpr double kExponentialEdge = 7.69711747013104972;

// A distribution of which a value may take several elements: draw(reader) gives one, quick(element) most of them.
template <class T>
struct Normal {
  using Value = T;
  using Reader = std::conditional_t<sizeof(T) == 8, Words, Halves>;
  using Element = typename Reader::Element;
  static constexpr int kYield = 1;
  static constexpr double kElements = 1.02;  // for a value, on average
  using Table = std::conditional_t<sizeof(T) == 8, DoubleZiggurat, FloatZiggurat>;

  Normal() : table(sizeof(T) == 8 ? (const Table*)&normal_doubles() : (const Table*)&normal_floats()) {}
  const Table* table;
  bool fixed() const { return false; }

  // The value of an element that needs no other; false where it does (the value is then a candidate).
  bool quick(Element e, T* to) const {
    const int strip = static_cast<int>(e & 0xff);
    const Element size = sizeof(T) == 8 ? e >> 9 & 0xfffffffffffff : e >> 9;
    // The sign is as good as random: no branch.
    const T x = static_cast<T>(static_cast<std::make_signed_t<Element>>(size)) * table->width[strip];
    *to = std::bit_cast<T>(std::bit_cast<Element>(x) ^ (e & 0x100) << (8 * sizeof(T) - 9));
    return size < table->inside[strip];
  }

  T draw(Reader& from) const {
    for (;;) {
      const Element e = from.next();
      T x;
      if (quick(e, &x)) return x;
      const int strip = static_cast<int>(e & 0xff);
      if (strip == 0) return tail(from, e >> 17 & 1);
      if (accepted(from, strip, x)) return x;
    }
  }

 private:
  [[gnu::noinline]] bool accepted(Reader& from, int strip, T x) const {
    const T* density = table->density;
    return (density[strip - 1] - density[strip]) * from.next_uniform() + density[strip] < std::exp(-0.5 * x * x);
  }
  [[gnu::noinline]] static T tail(Reader& from, bool negative) {
    constexpr T kEdge = static_cast<T>(kNormalEdge), kInverse = static_cast<T>(0.27366123732975827203);
    for (;;) {
      const T x = -kInverse * std::log1p(-from.next_uniform());
      const T y = -std::log1p(-from.next_uniform());
      if (y + y > x * x) return negative ? -(kEdge + x) : kEdge + x;
    }
  }
};

template <class T>
struct Exponential {
  using Value = T;
  using Reader = std::conditional_t<sizeof(T) == 8, Words, Halves>;
  using Element = typename Reader::Element;
  static constexpr int kYield = 1;
  static constexpr double kElements = 1.03;
  using Table = std::conditional_t<sizeof(T) == 8, DoubleZiggurat, FloatZiggurat>;

  Exponential() : table(sizeof(T) == 8 ? (const Table*)&exponential_doubles() : (const Table*)&exponential_floats()) {}
  const Table* table;
  bool fixed() const { return false; }

  bool quick(Element e, T* to) const {
    e >>= sizeof(T) == 8 ? 3 : 1;
    const int strip = static_cast<int>(e & 0xff);
    const Element size = e >> 8;
    *to = static_cast<T>(static_cast<std::make_signed_t<Element>>(size)) * table->width[strip];
    return size < table->inside[strip];
  }

  T draw(Reader& from) const {
    for (;;) {
      const Element e = from.next();
      T x;
      if (quick(e, &x)) return x;
      const int strip = static_cast<int>(e >> (sizeof(T) == 8 ? 3 : 1) & 0xff);
      if (strip == 0) return static_cast<T>(kExponentialEdge) - std::log1p(-from.next_uniform());
      if (accepted(from, strip, x)) return x;
    }
  }

 private:
  [[gnu::noinline]] bool accepted(Reader& from, int strip, T x) const {
    const T* density = table->density;
    return (density[strip - 1] - density[strip]) * from.next_uniform() + density[strip] < std::exp(-x);
  }
};

}  // namespace tilewise::ops
