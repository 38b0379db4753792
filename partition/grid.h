// A grid of boxes over an index space, with an owner for each: what tilings and domain partitions have in common.
//
// The boxes ("cells") are the products of the axes' cuts, numbered in C order. The owner of a cell is a device
// number, given by a rule or a list (Owners) over the owners' own grid; a grid made by looking at another through
// a view shares that grid's owners and only says how its axes map to theirs. So a view's grid of 10,000 cells
// takes no more memory than one of two. Immutable; safe to share between threads.
#pragma once

#include <memory>
#include <vector>

#include "partition/box.h"
#include "partition/cuts.h"
#include "partition/view.h"

namespace tilewise::partition {

// Device numbers by index: (first + index) modulo the device count, or a list.
class Owners {
 public:
  static Owners single(int device);
  // Index i belongs to device (first + i) % devices.
  static Owners cyclic(int devices, int first = 0);
  static Owners listed(std::vector<int32_t> owners);

  int operator[](int64_t index) const {
    return list_ ? list_->owners[index] : static_cast<int>(first_ + index % devices_);
  }
  // Index i belongs to device i, for all below `count`.
  bool is_identity(int64_t count) const { return !list_ && first_ == 0 && count <= devices_; }
  // How many different devices own something, of `count` indices.
  int64_t device_count(int64_t count) const;
  // Calls f(index) for each index below `count` that the device owns, ascending, in time proportional to them.
  template <class F>
  void for_each_of(int device, int64_t count, F&& f) const {
    if (list_) {
      for (int64_t index : list_->of(device)) f(index);
    } else if (devices_ == 1) {
      if (device == first_)
        for (int64_t index = 0; index < count; ++index) f(index);
    } else if (device >= 0 && device < devices_) {
      for (int64_t index = (device - first_ + devices_) % devices_; index < count; index += devices_) f(index);
    }
  }
  uint64_t hash(uint64_t h) const;
  friend bool operator==(const Owners& a, const Owners& b);

 private:
  struct List {
    std::vector<int32_t> owners;
    std::vector<int32_t> devices;  // ascending, each once
    std::vector<std::vector<int64_t>> indices;
    const std::vector<int64_t>& of(int device) const;
  };
  int first_ = 0, devices_ = 1;
  std::shared_ptr<const List> list_;
};

class Grid {
 public:
  Grid() = default;
  // One set of cuts for each axis; owners number the cells in C order.
  Grid(std::vector<Cuts> cuts, Owners owners);

  int rank() const { return shape_.size(); }
  const Dims& shape() const { return shape_; }
  const Cuts& cuts(int axis) const { return cuts_[axis]; }
  int64_t cell_count() const { return cell_count_; }
  Box cell_box(int64_t cell) const;
  int owner(int64_t cell) const;
  // The cell that holds the point.
  int64_t cell_at(const Dims& point) const;
  // Elements of the largest cell (an upper bound where cuts are many), and the number of devices that own cells.
  int64_t largest_cell() const;
  int64_t device_count() const;
  // Whether one axis at most is cut and its interval i belongs to device i, as far as a rule says so (no list).
  bool owned_in_order() const;

  // Calls f(cell) for each cell that meets the box in at least one point, ascending, without visiting others.
  template <class F>
  void for_each_overlapping(const Box& box, F&& f) const;
  std::vector<int64_t> overlapping(const Box& box) const;
  // The non-empty cells of one device, ascending, in time proportional to what it owns.
  std::vector<int64_t> cells_of(int device) const;

  // The grid seen by a view of the store (shape `shape()`, C order) that this grid tiles: each cut axis is cut
  // where the view crosses our cuts, cells keep their owners. Nothing where that is no grid: two cut axes moved by
  // one axis of the view (a diagonal), rows that wrap, reshapes that mix a cut axis with others.
  std::optional<Grid> seen_through(const View& view, int64_t itemsize) const;
  // Cuts moved to the nearest multiple on each axis (1 leaves an axis as it is).
  Grid rounded(const Dims& multiples) const;

  uint64_t hash(uint64_t h) const;
  friend bool operator==(const Grid& a, const Grid& b);

 private:
  // Our axis that drives an axis of the owners' grid, or -1 and a fixed position there.
  struct OwnerAxis {
    int64_t count = 1;
    int64_t fixed = 0;
    int32_t from = -1;
    bool reversed = false;
    friend bool operator==(const OwnerAxis&, const OwnerAxis&) = default;
  };
  void number_cells();

  Dims shape_;
  std::vector<Cuts> cuts_;
  Dims cell_strides_;  // of an axis' position in the cell's number
  int64_t cell_count_ = 1;
  Owners owners_;
  SmallVec<OwnerAxis, 4> owner_axes_;  // of the owners' grid, outer first; axes with one position are left out
};

template <class F>
void Grid::for_each_overlapping(const Box& box, F&& f) const {
  const Box inside = intersect(box, Box::of(shape_));
  if (inside.empty()) return;
  Dims at(rank());
  int64_t cell = 0;
  for (int k = 0; k < rank(); ++k) {
    at[k] = cuts_[k].find(inside.lo[k]);
    cell += at[k] * cell_strides_[k];
  }
  for (;;) {
    f(cell);
    int k = rank() - 1;
    for (; k >= 0; --k) {  // the next position on axis k, past empty intervals; else back to the first and carry
      const int64_t end = cuts_[k].cut(at[k] + 1);
      const int64_t next = end < inside.hi[k] ? cuts_[k].find(end) : cuts_[k].find(inside.lo[k]);
      cell += (next - at[k]) * cell_strides_[k];
      at[k] = next;
      if (end < inside.hi[k]) break;
    }
    if (k < 0) return;
  }
}

}  // namespace tilewise::partition
