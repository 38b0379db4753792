// Lowers one step of tasks to work on queues: fetches, messages, kernels, and results sent to their owners.
//
// Every rank adds the tasks that concern it (its own, and those of others that read from or write to its tiles) in an order
// that is the same for any two ranks that share a task. Messages between two ranks are aggregated: one each way before
// the kernels (what tasks read) and one after (what tasks wrote for others). Both sides list the pieces in the same order.
//
// Order on each device's queue: packing of what others need; fetches from this process's devices; kernels that need nothing
// from other ranks; unpacking of messages; the other kernels. So kernels run while messages travel, and everything
// fetched was read before any kernel of the step wrote.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "partition/pieces.h"
#include "runtime/fp_events.h"
#include "runtime/job.h"
#include "runtime/shortage.h"
#include "runtime/step.h"
#include "runtime/store_table.h"

namespace tilewise {

// What the instructions of a group's tasks met: FpKind bits, filled in while they run.
struct FpReport {
  std::shared_ptr<const Program> program;
  std::vector<uint8_t> flags;  // one an instruction; where moments are among them, as many for each part (launch.h)
  int parts() const { return static_cast<int>(flags.size() / program->code.size()); }
  uint8_t watch = 0;
  std::vector<FpOrigin> lines;
  Event finished;
};

// A run of a scalar program as a task: operand i of the task is access accesses[i] of the program (inputs first).
struct ProgramRun {
  std::shared_ptr<const Program> program;
  std::shared_ptr<const std::vector<Scalar>> params;
  Dims origin;                         // of the task's box in the frame
  Dims extents;
  SmallVec<int, 8> accesses;           // one an operand; -1 - r for the output that takes reduction r's nodes
  std::vector<ReduceTarget> reductions;
  std::vector<partition::Box> guards;  // of the program, relative to the task's box; operands are their parts in it
  std::shared_ptr<FpReport> report;    // null: nobody asks
  bool fixed_axes = false;             // the program reads frame coordinates or reduces: axes stay as they are
};

struct StepTask : Task {
  std::optional<ProgramRun> run;     // instead of body
  std::shared_ptr<FpReport> report;  // of a body that joins states; null: nobody asks
};

// What the engine learns from its steps.
struct StepCounters {
  Shortage shortage;
  std::vector<std::shared_ptr<FpReport>> reports;  // of tasks enqueued since the engine last looked
  std::shared_ptr<FpReport> spare;                 // of a task that has run and met nothing, to be used again
  double tasks = 0, local_bytes = 0, sent_bytes = 0, messages = 0;
};

class StepBuilder {
 public:
  StepBuilder(Job& job, StoreTable& stores, StepCounters& counters) : job_(job), stores_(stores), counters_(counters) {}
  ~StepBuilder();  // gives back what a step that could not be issued had borrowed
  StepBuilder(const StepBuilder&) = delete;

  void add(StepTask task);
  // Outputs to this store go to second instances, which replace the first ones at the end of the step.
  void swap(StoreId store);
  // Lowers and enqueues everything added; `tag` is the step's number, the same on every rank. Returns the events after
  // which this rank's part is done.
  std::vector<Event> issue(uint64_t tag);

 private:
  struct Place {                   // where an operand of one of our tasks lies
    Instance* instance = nullptr;  // in place; else
    BufferView buffer;             // a dense block of the region, extent 1 on broadcast axes
    int64_t offset = 0;
    Dims strides;
    bool remote = false;           // some of it comes from another rank
  };
  struct Bind {
    std::vector<Place> inputs, outputs;
  };
  struct Part {  // one packing or unpacking copy of a message
    Device* device = nullptr;
    Instance* instance = nullptr;  // the other side; null: a task's buffer
    BufferView memory;
    std::vector<CopyPiece> pieces;
  };
  struct Message {
    int64_t bytes = 0;
    std::vector<Part> parts;
    BufferView buffer;
  };
  using Messages = std::map<int, Message>;  // by peer rank

  void bind_input(const StepTask& task, const TaskOperand& operand, Place* place);
  void bind_output(const StepTask& task, const TaskOperand& operand, Place* place);
  void scatter(const StepTask& task, const TaskOperand& operand, const Place* place);
  void deliver(const StepTask& task, const TaskOperand& operand, const Place* place, Instance* to, int rank,
               const partition::InstanceBox& box);
  Instance* readable(StoreState& store, const Device* device, const partition::View& view, const partition::Box& region,
                     bool contiguous, Place* place);
  Event pack(Messages& send, Event* newest);
  Event exchange(uint64_t tag, Messages& send, Messages& receive);
  void unpack(Messages& receive, Event arrived);
  void run_task(StepTask& task, Bind& bind);
  BufferView allocate(Device* device, int64_t bytes, bool* hollow = nullptr) {
    return counters_.shortage.allocate(job_, *device, bytes, hollow);
  }
  void fill_hollow();
  void make_second_instances();
  std::optional<partition::Box> written_box(const TaskOperand& out, const partition::InstanceBox& place);
  void end_swaps();
  static std::vector<Instance*> in_order(StoreState& store, const partition::Box& box);
  Instance* instance_for_write(StoreState& store, Instance* instance);
  void written(Instance& instance, Event event);

  Job& job_;
  StoreTable& stores_;
  StepCounters& counters_;
  std::vector<StepTask> tasks_;
  std::vector<Bind> binds_;
  struct Swap {
    StoreId store;
    std::vector<Instance> second;  // beside the store's instances, in the same order
  };
  std::vector<Swap> swaps_;
  Messages send_, receive_;              // what tasks read
  Messages send_after_, receive_after_;  // what tasks wrote for others
  struct LocalCopy {
    Device* device;
    BufferView to, from;
    Instance* to_instance;
    Instance* from_instance;
    std::vector<CopyPiece> pieces;
  };
  std::vector<LocalCopy> fetches_, deliveries_;
  struct Lent {
    Device* device;
    BufferView buffer;
  };
  std::vector<Lent> lent_;  // buffers of this step, given back at its end
  std::vector<Event> last_;  // events that the lent buffers must outlive
};

}  // namespace tilewise
