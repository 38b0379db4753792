// The family `random`: one draw over the tiles of its output.
//
// A record has the output and, behind it, the state that the draw leaves, six 64-bit words; its input, if any, is such a
// state, else the state comes with the parameters. Where values belong to known elements of the stream each task jumps to
// its own. Else, over several tiles, devices first read blocks of the stream and count the values that begin in each; all
// take these counts as an input and find their places in them, so that no plan depends on data.
#pragma once

#include <vector>

#include "ops/random.h"

namespace tilewise::ops {

uint16_t random_family();

// A record's parameters.
struct RandomCall {
  Draw draw;
  RandomState start;
  bool takes_input = false;  // the start is the record's input

  // In a record: whole words, so that equal calls are equal bytes.
  std::vector<char> bytes() const;
  static RandomCall from(const std::vector<char>& bytes);
};

inline constexpr int64_t kStateWords = sizeof(RandomState) / sizeof(uint64_t);

}  // namespace tilewise::ops
