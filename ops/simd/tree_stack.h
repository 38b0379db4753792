// Joins the states of a reduction's tree (partition/tree.h) as they come, in order of position: a binary counter. What
// remains are the maximal nodes of what was pushed. A node's state is `width` states side by side (columns of a
// reduction by runs, one for lanes). One thread.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>

#include "ops/simd/arena.h"
#include "runtime/launch.h"

namespace tilewise::ops::simd {

// How two states are joined; into comes first in position.
struct StateJoin {
  Reduction reduction;
  DType dtype = DType::kBool;
  int64_t state_bytes = 0;
  void (*one)(void* into, const void* from) = nullptr;  // for a single state, where there is something quicker

  void operator()(char* into, const char* from, int64_t width, int64_t into_positions, int64_t from_positions) const;
};

class TreeStack {
 public:
  struct Node {
    int level = 0;
    int64_t index = 0;
    int64_t positions = 0;
    char* state = nullptr;
  };

  // `units` of the whole axis. Takes memory from the arena for `width` states a node.
  TreeStack(Arena& arena, const StateJoin& join, int64_t units, int64_t width)
      : join_(&join), units_(units), width_(width), bytes_(width * join.state_bytes) {
    int levels = 2;
    for (int64_t u = units; u > 1; u = (u + 1) / 2) levels += 2;
    storage_ = arena.bytes(levels * bytes_);
  }

  void clear() { depth_ = 0; }
  // Fewer states a node than it was made for.
  void resize(int64_t width) {
    width_ = width;
    bytes_ = width * join_->state_bytes;
  }
  // Where the next state to push may be written.
  char* next() { return storage_ + depth_ * bytes_; }
  void push(int level, int64_t index, int64_t positions) {
    nodes_[depth_] = {level, index, positions, next()};
    ++depth_;
    settle();
  }
  int size() const { return depth_; }
  const Node& operator[](int i) const { return nodes_[i]; }
  int64_t state_width() const { return width_; }

 private:
  int64_t nodes_at(int level) const { return ((units_ - 1) >> level) + 1; }

  void settle() {
    for (;;) {
      Node& top = nodes_[depth_ - 1];
      if (top.index % 2 == 0) {
        if (top.index + 1 < nodes_at(top.level) || nodes_at(top.level) <= 1) return;
      } else {
        if (depth_ < 2 || nodes_[depth_ - 2].level != top.level || nodes_[depth_ - 2].index != top.index - 1) return;
        Node& left = nodes_[depth_ - 2];
        (*join_)(left.state, top.state, width_, left.positions, top.positions);
        left.positions += top.positions;
        --depth_;
      }
      Node& up = nodes_[depth_ - 1];
      ++up.level;
      up.index /= 2;
    }
  }

  const StateJoin* join_;
  int64_t units_, width_, bytes_;
  char* storage_ = nullptr;
  Node nodes_[128];
  int depth_ = 0;
};

}  // namespace tilewise::ops::simd
