// A step: tasks on devices with the boxes each reads and writes. Everything that runs is lowered to steps.
//
// A plan function is called on every rank with the same record and adds the same tasks in the same order; each rank keeps
// its own part. From the boxes follow the copies and messages: a task's input is read in place where its device holds
// it, else fetched into a dense buffer; an output is written in place where the device owns it, else written to a dense
// buffer and sent to the owners. All tasks of one step read what was there before the step.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "partition/box.h"
#include "partition/tiling.h"
#include "partition/view.h"
#include "runtime/device.h"
#include "runtime/record.h"

namespace tilewise {

// A bound operand: the element at the corner of its region and the byte strides for each axis of its view.
struct Bound {
  char* base = nullptr;
  Dims strides;
  Dims shape;  // of the region
};

struct TaskOperand {
  StoreId store = 0;
  partition::View view;
  partition::Box region;    // in the view's index space
  bool snapshot = false;    // copied before anything of the step is written
  bool contiguous = false;  // ask for a dense C-ordered block, at the price of a copy
};

// Positions [lo, hi) of the first axis, all of the others.
inline partition::Box rows_of(const Dims& shape, int64_t lo, int64_t hi) {
  partition::Box box = partition::Box::of(shape);
  box.lo[0] = lo;
  box.hi[0] = hi;
  return box;
}
inline TaskOperand rows(const Ref& ref, int64_t lo, int64_t hi, bool contiguous = false) {
  return {ref.store, ref.view, rows_of(ref.view.shape, lo, hi), false, contiguous};
}

struct Task {
  int device = 0;  // of the job: see CallPlan::devices()
  std::vector<TaskOperand> inputs, outputs;
  // Runs on the device's queue; in and out are bound in order.
  std::function<void(std::span<const Bound> in, std::span<const Bound> out, Parallel& parallel)> body;
  bool tells = false;  // the body's floating-point conditions, by the processor's flags, are the record's
  bool everywhere = false;  // every rank runs this task itself; its outputs are replicated stores
  double cost = 0;  // rough element operations, for the choice to run inline
};

// What a family's plan function sees: the same on every rank.
class CallPlan {
 public:
  virtual ~CallPlan() = default;
  virtual int devices() const = 0;            // of the whole job
  virtual int64_t min_tile() const = 0;
  virtual const partition::Tiling& tiling(StoreId store) const = 0;
  // Gives a store born by this record its tiling (before the first task that writes it). Without it: the default.
  virtual void place(StoreId store, std::shared_ptr<const partition::Tiling> tiling) = 0;
  // A store of the plan's own, gone at its end.
  virtual StoreId temporary(const Dims& shape, int64_t itemsize, std::shared_ptr<const partition::Tiling> tiling) = 0;
  virtual void add(Task task) = 0;
  // Ends a step: later tasks see what earlier ones wrote.
  virtual void next_step() = 0;
};

}  // namespace tilewise
