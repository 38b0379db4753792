// A fused group under construction: which records have joined, and why one may not.
//
// The group iterates over `domain`. Everything is expressed in the frame, the index space of that domain: a statement over a
// part of it (r[1:] -= v[:-1]) is guarded by its box, and each operand is a view with the domain's shape whose offset may
// lie outside the store where no guard lets it be read. A value written by an earlier statement of the group is taken from
// its register when it is the same element of the frame; if a statement needs another element of it, the group must close.
//
// The hazards of NumPy's rule "the right side is read whole before anything is written" are decided here, from exact view
// overlap. A store that is read elsewhere than it is written is either read from a snapshot (small operand) or written to a
// second instance that replaces the first (`swaps`).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "partition/box.h"
#include "partition/view.h"
#include "runtime/fp_events.h"
#include "runtime/record.h"
#include "runtime/store_table.h"

namespace tilewise {

// Limits at which a group closes.
inline constexpr int kGroupInstructions = 160;
inline constexpr int kGroupGuards = 32;
inline constexpr int64_t kGuardedRow = 256, kGuardedRows = 64;  // many rows shorter than this are better not cut by guards
inline constexpr int64_t kWorthMoving = 4096;         // elements of a result that a later group had better make itself
inline constexpr int64_t kPhaseRowBytes = 128 << 10;  // of a row whose reduction is used in the same pass

// Views and boxes are named by their place in the group's lists: most operands of a group share one, and the same
// place means the same element of the frame.
struct GroupLoad {
  StoreId store = 0;
  uint16_t view = 0;
  uint16_t box = 0;       // where it may be read
  uint16_t value = 0;     // of its kLoad
  bool snapshot = false;  // must be copied before the group writes
};

// The current value, in the group, of elements it has written.
struct GroupValue {
  StoreId store = 0;
  uint16_t view = 0;
  uint16_t box = 0;
  uint16_t value = 0;
};

struct GroupReduction {
  StoreId store = 0;
  uint16_t view = 0;     // the output, stride 0 on reduced axes
  uint16_t value = 0;    // of its kReduce
};

class Group {
 public:
  // Empties the group for a new first record; memory is kept.
  void open(uint64_t serial, const Record& first);

  // Adds the record and returns null, or says why not (a few words for TILEWISE_DUMP=fuse) and leaves the group as it was. A
  // record that is alone in its group always joins.
  const char* join(const Record& record, StoreTable& stores);
  // The same for a plain operation, in two steps: false, or everything but the result, which write_plain() adds with a
  // mention of its store. Joins less than join() would: the caller makes a record then.
  bool join_plain(const PlainOperation& operation, StoreState* const* in, uint32_t line, uint8_t watch);
  void write_plain(const PlainOperation& operation, StoreState& out);
  // Whether the record must run after this group: it reads what the group writes, or writes what it reads or writes.
  bool conflicts(const Record& record) const;
  bool writes(StoreId store) const;
  bool reads(StoreId store) const;

  // The last record, if it only made a store that `next` writes to, and can leave the group; else null. A group that
  // begins with it stores its result once, not twice.
  const Record* last_made_for(const Record& next) const;
  void take_last_back();

  uint64_t serial = 0;
  Dims domain;
  std::vector<partition::View> views;  // of operands, in frame coordinates: all of the domain's shape
  std::vector<partition::Box> boxes;   // of statements; the first is the whole domain
  Program program;  // loads and arithmetic; stores are added when the group is issued
  std::vector<uint16_t> guards;        // boxes, by their place in the list
  std::vector<Scalar> params;
  std::vector<GroupLoad> loads;
  std::vector<GroupValue> values;
  std::vector<GroupReduction> reductions;
  std::vector<StoreId> swaps;
  SmallVec<int, 6> reduce_order;  // memory order of the reduced view, outer to inner; empty without reductions
  uint64_t phase_axis = 0;        // bit of the one axis whose reduced value may be used in the same pass; 0: none
  bool phases = false;            // it is used so: the axis must stay whole in each part
  // Pairs (outer, inner) of frame axes that the fixed tree takes as one: every operand must step over them as one.
  std::vector<std::pair<int, int>> merged;
  std::vector<StoreState*> named;  // one entry for each time a store is named
  uint32_t line = 0;              // of the first record
  uint8_t watch = 0;              // FpKind bits asked for; the same for all records of the group
  std::vector<FpOrigin> op_lines;  // which Python line brought which operation, for warnings
  int records = 0;

 private:
  struct Mark {  // sizes to fall back to
    size_t code = 0, params = 0, accesses = 0, guards = 0, loads = 0, swaps = 0, views = 0, boxes = 0, values = 0;
    bool phases = false;
  };
  Mark mark() const;
  void undo(const Mark& mark);
  void keep_if_maker(const Record& record, const Mark& before);
  const char* join_elementwise(const Record& record, StoreTable& stores);
  const char* join_reduce(const Record& record);
  std::optional<Dims> align(const Record& record) const;
  uint16_t to_frame(const partition::View& view, const Dims& shift);
  uint16_t frame_view(int64_t offset, DType dtype, int32_t itemsize, const Dims& strides);
  uint16_t box_at(const Dims& shift, const Dims& shape);
  partition::View part(uint16_t view, uint16_t box) const;
  const char* resolve(StoreId store, uint16_t view, uint16_t box, uint16_t* value);
  const char* check_write(StoreId store, uint16_t view, uint16_t box, StoreTable& stores);
  bool distinct(uint16_t view, uint16_t a, uint16_t b) const;
  const char* check_phases(StoreId store, uint16_t view, uint16_t value) const;
  void write(StoreId store, uint16_t view, uint16_t box, uint16_t value, bool fresh);
  uint8_t guard_of(uint16_t box);
  bool merges(const partition::View& view) const;
  bool short_rows(const SmallVec<int, 6>& order) const;
  bool guards_cut(const std::vector<std::pair<int, int>>& pairs) const;
  // Whether the group may write, or read, the store: no for certain, or perhaps.
  static uint64_t mark_of(StoreId store) { return uint64_t{1} << (store & 63); }
  uint64_t written_ = 0, read_ = 0;
  uint16_t constant(const Scalar& value);
  uint16_t recent_params_[4] = {kNone, kNone, kNone, kNone};  // values of plain operations' constants
  uint16_t dense_view_[kNumericDTypes];  // by type, of plain operations' results; kNone: not among the views yet
  uint16_t plain_result_ = 0;     // value of the plain operation that has just joined
  bool large_ = false;
  std::unique_ptr<Record> maker_;  // the last record, if it made one store over the whole domain and did nothing else
  Mark before_maker_;
};

}  // namespace tilewise
