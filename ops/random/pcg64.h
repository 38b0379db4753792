// PCG64 (XSL-RR 128/64), the generator behind NumPy's default_rng: a linear congruence of 128 bits whose every output can
// be computed from its position alone, since n steps of the congruence are one step of another (O'Neill 2014; Brown 1994).
//
// Words and Halves read the stream from any position through a small buffer, filled by interleaved congruences so that
// their multiplications overlap. Halves are the 32-bit numbers that NumPy takes from a word: the lower half first,
// the upper one kept for the next time, in another call as well. A reader belongs to one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "ops/random.h"

namespace tilewise::ops {

__extension__ typedef unsigned __int128 uint128_t;

struct Congruence {
  uint128_t state = 0, increment = 0;
};

// The congruence n steps on.
Congruence advanced(Congruence from, uint64_t n);
// The next n words; the congruence moves on. As halves, the lower one of a word comes first.
void fill_words(Congruence& from, int64_t n, void* to);

Congruence congruence(const RandomState& state);

// What readers have in common: a buffer and a position, counted in elements since the state given.
template <class E>
class Reader {
 public:
  using Element = E;
  static constexpr int kBuffer = 8192 / sizeof(E);

  int64_t position() const { return position_ - (count_ - at_); }
  // Elements that can be had without filling the buffer, and where they are.
  int buffered() const { return count_ - at_; }
  const E* data() const { return buffer_ + at_; }
  void skip(int n) { at_ += n; }

 protected:
  alignas(64) E buffer_[kBuffer];
  int at_ = 0, count_ = 0;
  int64_t position_ = 0;  // of the buffer's end
  Congruence next_;
};

class Words : public Reader<uint64_t> {
 public:
  Words(const RandomState& state, int64_t position) {
    next_ = advanced(congruence(state), static_cast<uint64_t>(position));
    position_ = position;
  }
  // At least one element in the buffer, and about as many as wanted.
  void want(int64_t n) {
    if (at_ < count_) return;
    count_ = static_cast<int>(std::clamp<int64_t>(n, 1, kBuffer));
    fill_words(next_, count_, buffer_);
    at_ = 0;
    position_ += count_;
  }
  uint64_t next() {
    want(8);
    return buffer_[at_++];
  }
  double next_uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  // The state behind the first n elements.
  static RandomState end(const RandomState& start, int64_t n);
};

class Halves : public Reader<uint32_t> {
 public:
  Halves(const RandomState& state, int64_t position) {
    const int64_t lead = static_cast<int64_t>(state.has_half);
    position_ = position;
    if (position < lead) {
      buffer_[0] = static_cast<uint32_t>(state.half);
      count_ = 1;
      position_ += 1;
    }
    const int64_t half = position_ - lead;
    next_ = advanced(congruence(state), static_cast<uint64_t>(half / 2));
    if (half % 2) {
      position_ -= 1;
      want(2);
      at_ = 1;
    }
  }
  void want(int64_t n) {
    if (at_ < count_) return;
    const int words = static_cast<int>(std::clamp<int64_t>((n + 1) / 2, 1, kBuffer / 2));
    fill_words(next_, words, buffer_);
    count_ = 2 * words;
    at_ = 0;
    position_ += count_;
  }
  uint32_t next() {
    want(16);
    return buffer_[at_++];
  }
  float next_uniform() { return static_cast<float>(next() >> 8) * 0x1p-24f; }
  static RandomState end(const RandomState& start, int64_t n);
};

}  // namespace tilewise::ops
