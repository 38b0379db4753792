// How gather and scatter of rows are split over devices. Families of runtime/step.h.
//
// Short lists go to every device that holds rows, which takes what is its own: nothing is waited for. For long ones a
// first record counts how many positions of each part of the list lie with each holder of rows; the second carries
// these counts, from which every rank knows all messages: positions sorted by holder, and rows in the same order.
#pragma once

#include <vector>

#include "runtime/step.h"

namespace tilewise::ops {

enum class RowsMode : uint8_t { kGather, kScatter, kCombine };

struct RowsCall {
  RowsMode mode = RowsMode::kGather;
  bool counted = false;          // counts are known
  Opcode op = 0;                 // kCombine
  int devices = 0;               // of the count's rows and columns
  std::vector<int64_t> counts;   // [part][holder]

  std::vector<char> bytes() const;
  static RowsCall from(const std::vector<char>& bytes);
};

// positions, and the array whose rows they are -> int64 [devices, devices]. Its record's bytes hold a RowsCall.
uint16_t count_rows_family();
// kGather: source, positions -> result. kScatter, kCombine: dst, positions, values (missing for one operand) -> dst.
uint16_t rows_family();

}  // namespace tilewise::ops
