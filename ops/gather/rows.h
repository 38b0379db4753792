// What tasks of gather and scatter do with rows: copy them, and sort positions by who holds them.
#pragma once

#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "runtime/step.h"

namespace tilewise::ops {

// Copies one row: the axes behind the first of a bound operand, as few loops as both layouts allow.
class RowCopy {
 public:
  RowCopy(const Dims& to_strides, const Dims& from_strides, const Dims& shape, int64_t itemsize);

  void operator()(char* to, const char* from) const {
    if (axes_ > 0) return loops(to, from, 0);
    one(to, from);
  }

 private:
  void one(char* to, const char* from) const {
    switch (bytes_) {
      case 1: std::memcpy(to, from, 1); break;
      case 2: std::memcpy(to, from, 2); break;
      case 4: std::memcpy(to, from, 4); break;
      case 8: std::memcpy(to, from, 8); break;
      case 16: std::memcpy(to, from, 16); break;
      default: std::memcpy(to, from, bytes_);
    }
  }
  void loops(char* to, const char* from, int axis) const;

  int64_t bytes_;  // of a contiguous run
  int axes_ = 0;
  Dims shape_, to_, from_;
};

// Which of several consecutive ranges a position lies in. The ranges are about equally long.
class Ranges {
 public:
  explicit Ranges(std::vector<int64_t> cuts);  // ascending, from 0 to the number of rows
  int count() const { return static_cast<int>(cuts_.size()) - 1; }
  int64_t begin(int range) const { return cuts_[range]; }
  int64_t end(int range) const { return cuts_[range + 1]; }
  int of(int64_t position) const {
    int range = static_cast<int>(static_cast<double>(position) * scale_);
    while (position < cuts_[range]) --range;
    while (position >= cuts_[range + 1]) ++range;
    return range;
  }

 private:
  std::vector<int64_t> cuts_;
  double scale_;
};

// Numbers the positions of each range in their order, on all cores: body(begin, end, next) is called for consecutive pieces
// of them; next[r] is the number that the next position of range r has, for the body to count on.
void route(const int64_t* positions, int64_t count, const Ranges& ranges, Parallel& parallel,
           const std::function<void(int64_t begin, int64_t end, std::vector<int64_t>& next)>& body);
// How many positions lie in each range.
std::vector<int64_t> count_by_range(const int64_t* positions, int64_t count, const Ranges& ranges, Parallel& parallel);

}  // namespace tilewise::ops
