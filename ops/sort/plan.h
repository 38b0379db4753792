// How sorting is split over devices. Families of runtime/step.h.
//
// Lines of one axis that are many are dealt to the devices. One long line is sorted by samples: the leader reads a few
// elements, chooses between which of them each device's share lies, and reads how many elements of each part go to each
// share; the last record carries both, so every rank knows all messages. Equal elements are told apart by their position,
// which makes shares even whatever the data, and every order stable.
#pragma once

#include <vector>

#include "runtime/step.h"

namespace tilewise::ops {

struct Splitter {
  uint64_t key = 0;      // keys.h
  int64_t position = 0;  // on the line
};

struct SortCall {
  bool positions = false;           // what is wanted: positions, not values
  std::vector<Splitter> splitters;  // between shares, ascending; none: lines are sorted whole
  std::vector<int64_t> counts;      // [part][share], parts as many as shares

  int shares() const { return static_cast<int>(splitters.size()) + 1; }
  std::vector<char> bytes() const;
  static SortCall from(const std::vector<char>& bytes);
};

uint16_t count_shares_family();  // line [n] -> int64 [shares, shares]
uint16_t sort_family();          // lines [rows, n] -> the same shape; with splitters: line [n] -> [n]

}  // namespace tilewise::ops
