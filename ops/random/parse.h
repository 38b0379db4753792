// How a stretch of the stream becomes values where a value may take any number of elements, and several cores share it.
//
// The stream is cut into blocks. A value belongs to the block in which it begins; a block's entry is where its first value
// begins: its own begin, or a little behind where a value of the block before reaches over. Blocks are read from their begin
// before that is known, and the difference is mended by stitch(): readings from different entries meet after a few
// values, since each value's element alone says whether more are taken. All here is exact, whatever the cuts.
#pragma once

#include <algorithm>
#include <vector>

#include "ops/random/filters.h"
#include "ops/random/ziggurat.h"

namespace tilewise::ops {

// Distributions whose values take several elements.
template <class S>
concept Walks = requires(const S& s, typename S::Reader& r) { s.draw(r); };

// The values of the next element or elements: at least one of them read, up to kYield values.
template <class S>
int draw_next(const S& s, typename S::Reader& from, typename S::Value* to) {
  if constexpr (Walks<S>) {
    *to = s.draw(from);
    return 1;
  } else {
    from.want(1);
    const int taken = s.take(*from.data(), to);
    from.skip(1);
    return taken;
  }
}

// As many values as follow each other with one element each, at most n and what the buffer holds.
template <bool kKeep, Walks S>
int draw_quick(const S& s, typename S::Reader& from, int64_t n, typename S::Value* to) {
  const int most = static_cast<int>(std::min<int64_t>(from.buffered(), n));
  const auto* elements = from.data();
  int i = 0;
  while (i < most && s.quick(elements[i], to + (kKeep ? i : 0))) ++i;
  from.skip(i);
  return i;
}

// The next n values. What is left of the last element is lost.
template <class S>
void draw_count(const S& s, typename S::Reader& from, int64_t n, typename S::Value* to) {
  constexpr int kYield = S::kYield;
  if constexpr (Walks<S>) {
    while (n > 0) {
      from.want(n);
      const int quick = draw_quick<true>(s, from, n, to);
      to += quick;
      n -= quick;
      if (n == 0 || from.buffered() == 0) continue;
      *to++ = s.draw(from);
      --n;
    }
  } else {
    while (n >= kYield) {
      from.want(n / kYield);
      const int m = static_cast<int>(std::min<int64_t>(from.buffered(), n / kYield));
      const auto* elements = from.data();
      typename S::Value* at = to;
      if constexpr (requires { s.take_all(elements, m, to); }) {
        s.take_all(elements, m, to);
        at += m;
      } else if (s.fixed()) {
        for (int i = 0; i < m; ++i) s.take(elements[i], to + i * kYield);
        at += static_cast<int64_t>(m) * kYield;
      } else {
        for (int i = 0; i < m; ++i) at += s.take(elements[i], at);
      }
      from.skip(m);
      n -= at - to;
      to = at;
    }
    typename S::Value some[kYield];
    while (n > 0) {
      const int taken = static_cast<int>(std::min<int64_t>(n, draw_next(s, from, some)));
      std::copy_n(some, taken, to);
      to += taken;
      n -= taken;
    }
  }
}

// All values that begin before `limit`, and how many; to null: counted only. Up to kYield places behind them are touched.
template <class S>
int64_t draw_until(const S& s, typename S::Reader& from, int64_t limit, typename S::Value* to) {
  int64_t count = 0;
  typename S::Value some[S::kYield];
  for (int64_t left; (left = limit - from.position()) > 0;) {
    from.want(left);
    if constexpr (Walks<S>) {
      count += to ? draw_quick<true>(s, from, left, to + count) : draw_quick<false>(s, from, left, some);
      if (from.position() >= limit || from.buffered() == 0) continue;
      *(to ? to + count : some) = s.draw(from);
      ++count;
    } else {
      const int m = static_cast<int>(std::min<int64_t>(from.buffered(), left));
      const auto* elements = from.data();
      if (to)
        for (int i = 0; i < m; ++i) count += s.take(elements[i], to + count);
      else
        for (int i = 0; i < m; ++i) count += s.take(elements[i], some);
      from.skip(m);
    }
  }
  return count;
}

// What reading a block from its begin gave.
struct Reading {
  int64_t count = 0, exit = 0;
};

template <class S>
Reading read_block(const S& s, const RandomState& start, int64_t begin, int64_t limit, typename S::Value* to) {
  typename S::Reader from(start, begin);
  const int64_t count = draw_until(s, from, limit, to);
  return {count, from.position()};
}

// The block's values as they are from `entry`: first those of `head`, then those of the reading but for the first `skip`.
template <class S>
struct Stitched {
  std::vector<typename S::Value> head;
  int64_t skip = 0, exit = 0;
  int64_t count(const Reading& reading) const { return static_cast<int64_t>(head.size()) + reading.count - skip; }
};

template <class S>
Stitched<S> stitch(const S& s, const RandomState& start, int64_t begin, int64_t limit, int64_t entry, const Reading& reading) {
  Stitched<S> result;
  result.exit = reading.exit;
  if constexpr (Walks<S>) {
    if (entry == begin) return result;
    typename S::Reader false_one(start, begin), true_one(start, entry);
    while (false_one.position() != true_one.position()) {
      if (false_one.position() < true_one.position()) {
        if (false_one.position() >= limit) break;
        s.draw(false_one);
        ++result.skip;
      } else {
        if (true_one.position() >= limit) break;
        result.head.push_back(s.draw(true_one));
      }
    }
    if (true_one.position() >= limit) {
      result.skip = reading.count;
      result.exit = true_one.position();
    }
  }
  return result;
}

}  // namespace tilewise::ops
