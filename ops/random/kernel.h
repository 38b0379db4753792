// A distribution ready to draw: the work of one task, with the types hidden.
//
// Immutable, made once for a record; its functions may run in several tasks at a time. Positions count elements of the
// stream (words, or halves of words) since the state given; indices count values.
#pragma once

#include <memory>

#include "ops/random.h"
#include "runtime/launch.h"

namespace tilewise::ops {

// A value's place in the stream: value `index` is the first that begins at `position` or behind.
struct Entry {
  int64_t position = 0, index = 0;
};

class RandomKernel {
 public:
  virtual ~RandomKernel() = default;
  // Value i lies at a known place.
  virtual bool fixed() const = 0;
  // Behind n values; fixed only.
  virtual int64_t position_behind(int64_t n) const = 0;
  // Elements that n values take on average.
  virtual double elements(double n) const = 0;
  virtual RandomState state_at(const RandomState& start, int64_t position) const = 0;

  // Reads blocks [first, last) of `size` elements from their begins: to[2 i] is the number of values that begin in block
  // first + i, to[2 i + 1] the position behind them.
  virtual void count(const RandomState& start, int64_t size, int64_t first, int64_t last, int64_t* to,
                     Parallel& parallel) const = 0;
  // An entry not far before value `index`, from the counts of the first `blocks` blocks (fixed: from nothing).
  virtual Entry locate(const RandomState& start, int64_t size, int64_t blocks, const int64_t* counts, int64_t index) const = 0;
  // Values [begin, end) from an entry before them, scaled and shifted; returns the position behind them.
  virtual int64_t fill(const RandomState& start, Entry entry, int64_t begin, int64_t end, void* to,
                       Parallel& parallel) const = 0;
};

std::unique_ptr<const RandomKernel> random_kernel(const Draw& draw);

}  // namespace tilewise::ops
