#include "runtime/engine.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "runtime/dump.h"
#include "runtime/progress.h"

namespace tilewise {

using partition::Box;
using partition::Tiling;
using partition::TilingPtr;

namespace {

// One block to or from the leader's memory, on all cores of the device.
void copy_block(void* to, const void* from, size_t bytes, Parallel& parallel) {
  constexpr size_t kPiece = 1 << 20;
  parallel.run(static_cast<int64_t>((bytes + kPiece - 1) / kPiece), [&](int64_t i) {
    const size_t at = static_cast<size_t>(i) * kPiece;
    std::memcpy(static_cast<char*>(to) + at, static_cast<const char*>(from) + at, std::min(kPiece, bytes - at));
  });
}

// A family's plan, step by step.
class PlannedCall : public CallPlan {
 public:
  PlannedCall(Lowering& lowering, const Record& record)
      : l_(lowering), family_(family(record.family).name), origin_{kReduce, record.told_as, record.line},
        watch_(record.watch), step_(new_step()) {}

  int devices() const override { return l_.job.devices(); }
  int64_t min_tile() const override { return l_.min_tile; }
  const Tiling& tiling(StoreId id) const override {
    l_.ensure_placed(l_.stores.get(id));
    return *l_.stores.get(id).tiling;
  }
  void place(StoreId id, TilingPtr tiling) override { l_.place(l_.stores.get(id), std::move(tiling)); }
  StoreId temporary(const Dims& shape, int64_t itemsize, TilingPtr tiling) override {
    temporaries_.push_back(l_.temporary(shape, itemsize, std::move(tiling)));
    return temporaries_.back();
  }
  void add(Task task) override {
    for (const auto* operands : {&task.inputs, &task.outputs})
      for (const TaskOperand& operand : *operands) l_.ensure_placed(l_.stores.get(operand.store));
    if (fails_in_test(task.device))
      task.body = [](std::span<const Bound>, std::span<const Bound>, Parallel&) {
        throw Error(ErrorKind::kRuntime, "made to fail by a test");
      };
    StepTask step_task;
    if (watch_ && task.tells && l_.job.rank_of(task.device) == l_.job.rank) step_task.report = new_report();
    static_cast<Task&>(step_task) = std::move(task);
    step_->add(std::move(step_task));
  }
  void next_step() override {
    step_->issue(l_.next_tag++);
    step_ = new_step();
  }
  void finish() {
    next_step();
    for (StoreId id : temporaries_) l_.drop_temporary(id);
  }

 private:
  std::unique_ptr<StepBuilder> new_step() {
    return std::make_unique<StepBuilder>(l_.job, l_.stores, l_.counters);
  }
  // TILEWISE_TEST_FAIL=matmul:1 makes that family's tasks on device 1 fail.
  bool fails_in_test(int device) const {
    static const char* const wanted = std::getenv("TILEWISE_TEST_FAIL");
    return wanted && str(family_, ":", device) == wanted;
  }
  std::shared_ptr<FpReport> new_report() const {
    static const auto program = [] {
      auto made = std::make_shared<Program>();
      made->push({kReduce, DType::kFloat64}, DType::kFloat64);
      return made;
    }();
    std::shared_ptr<FpReport> report = std::move(l_.counters.spare);
    if (!report || report.use_count() > 1) {
      report = std::make_shared<FpReport>();
      report->program = program;
      report->flags.resize(1);
      report->lines.resize(1);
    }
    report->watch = watch_;
    report->lines[0] = origin_;
    return report;
  }

  Lowering& l_;
  const std::string& family_;
  const FpOrigin origin_;
  const uint8_t watch_;
  std::unique_ptr<StepBuilder> step_;
  std::vector<StoreId> temporaries_;
};

}  // namespace

namespace {

IssuedWork work_of(const Record& record) {
  IssuedWork work;
  work.kind = record.kind;
  work.family = record.family;
  work.line = record.line;
  for (const Ref& in : record.inputs) work.reads.push_back(in.store);
  for (const Ref& out : record.outputs) {
    work.writes.push_back(out.store);
    work.whole.push_back(false);
  }
  return work;
}

IssuedWork work_of(const Group& group, StoreTable& stores) {
  IssuedWork work;
  work.line = group.line;
  for (const Instr& instr : group.program.code)
    if (instr.op >= kFirstRow && work.operations.size() < 4 &&
        std::find(work.operations.begin(), work.operations.end(), instr.op) == work.operations.end())
      work.operations.push_back(instr.op);
  for (const Reduction& r : group.program.reductions)
    if (r.op >= kFirstRow && work.operations.size() < 4) work.operations.push_back(r.op);
  for (const GroupLoad& load : group.loads) work.reads.push_back(load.store);
  for (const GroupValue& v : group.values) {
    const partition::View& view = group.views[v.view];
    bool dense = true;
    for (int k = 0; k < view.rank(); ++k) dense = dense && (view.strides[k] != 0 || view.shape[k] == 1);
    work.writes.push_back(v.store);
    work.whole.push_back(dense && group.boxes[v.box].count() * view.itemsize >= stores.get(v.store).bytes());
  }
  for (const GroupReduction& r : group.reductions) {
    work.writes.push_back(r.store);
    work.whole.push_back(true);
  }
  return work;
}

}  // namespace

Engine::Engine(Job job, int64_t min_tile)
    : job_(std::move(job)),
      lowering_(job_, stores_, steps_, programs_, min_tile),
      failures_(job_),
      window_(stores_, [this](Group& group) {
        groups_ += 1;
        grouped_records_ += group.records;
        // From here on the stores are named by one group less: what nobody else needs is not even stored. They go at the
        // end, whatever happens.
        struct Leave {
          StoreTable& stores;
          std::vector<StoreState*> named;
          ~Leave() {
            for (StoreState* store : named) stores.release_if_unused(*store);
          }
        } leave{stores_, {}};
        // Those that go are told from those that stay by the last mention of each.
        for (StoreState* store : group.named)
          if (--store->open == 0) leave.named.push_back(store);
        attempt([&] { return work_of(group, stores_); }, [&] { GroupLowering(lowering_, group).issue(); });
        if (steps_.reports.size() > 256) look_at_reports();
      }) {}

std::vector<Event> Engine::apply(const Record& record) {
  records_ += 1;
  for (const Birth& birth : record.births) stores_.create(birth.store, birth.base_shape, birth.base_itemsize, record.line);
  switch (record.kind) {
    case RecordKind::kElementwise:
    case RecordKind::kReduce:
      window_.add(record);
      break;
    case RecordKind::kCall:
      window_.settle_reads(record.inputs, record.outputs);
      attempt([&] { return work_of(record); }, [&] { call(record); });
      break;
    case RecordKind::kHostData:
      window_.settle_reads({}, record.outputs);
      attempt([&] { return work_of(record); }, [&] { host_data(record); });
      break;
    case RecordKind::kDrop:
      drop(record.inputs[0].store);
      break;
    case RecordKind::kRead:
      window_.settle_reads(record.inputs, {});
      if (!refused_) {
        std::vector<Event> events;
        attempt([&] { return work_of(record); }, [&] { events = read(record); });
        if (!refused_) return events;
      }
      break;
    case RecordKind::kFlush:
    case RecordKind::kSync:
      flush();
      break;
  }
  if (refused_) throw IssueFailed{std::exchange(refused_, nullptr)};
  return {};
}

// Issues a piece of work. What cannot be issued leaves its outputs without values, and the rest goes on; the one that
// closed it is told at the end of its record. `describe` is asked only when somebody must know what the work was.
template <class Describe, class Issue>
void Engine::attempt(const Describe& describe, const Issue& issue) {
  const StoreId first_temporary = lowering_.next_temporary;
  if (failures_.any() && job_.size == 1 && failures_.spreads(describe())) return;
  try {
    issue();
  } catch (...) {
    for (StoreId id = first_temporary; id < lowering_.next_temporary; ++id)
      if (stores_.contains(id)) lowering_.drop_temporary(id);
    const FailurePtr failure = failures_.refuse(describe(), std::current_exception());
    if (!refused_) refused_ = failure;
    return;
  }
  const std::exception_ptr lacking = steps_.shortage.take();
  const bool lost = (lacking || failures_.wanted()) && failures_.note(describe());
  if (lacking && !lost) failures_.lack_memory(describe(), lacking);
}


bool Engine::join_plain(const PlainOperation& operation, const StoreId* in, StoreId out, uint32_t line, uint8_t watch) {
  if (!window_.join_plain(operation, in, out, line, watch)) return false;
  records_ += 1;
  return true;
}

void Engine::drop(StoreId id) {
  StoreState& store = stores_.get(id);
  store.dropped = true;
  stores_.release_if_unused(store);
}

void Engine::flush() { window_.flush(); }

void Engine::call(const Record& record) {
  const Family& called = family(record.family);
  PlannedCall plan(lowering_, record);
  called.plan(record, plan);
  for (const Ref& out : record.outputs) lowering_.ensure_placed(stores_.get(out.store));
  plan.finish();
  if (steps_.reports.size() > 256) look_at_reports();
}

// The leader's bytes go to the owners; small data comes with the record and every rank takes its own copy.
void Engine::host_data(const Record& record) {
  const Ref& out = record.outputs[0];
  StoreState& store = stores_.get(out.store);
  lowering_.ensure_placed(store);
  const bool everywhere = store.tiling->is_replicated();
  const size_t bytes = static_cast<size_t>(out.view.count()) * out.view.itemsize;
  if (bytes == 0) return;
  StepBuilder step(job_, stores_, steps_);
  StepTask task;
  task.device = job_.first_device(everywhere ? job_.rank : 0);
  task.everywhere = everywhere;
  task.outputs.push_back({out.store, out.view, Box::of(out.view.shape), false, true});
  task.cost = static_cast<double>(bytes) / 8;
  task.body = [data = record.data, bytes](std::span<const Bound>, std::span<const Bound> to, Parallel& parallel) {
    copy_block(to[0].base, data.get(), bytes, parallel);
  };
  step.add(std::move(task));
  step.issue(lowering_.next_tag++);
}

std::vector<Event> Engine::read(const Record& record) {
  const Ref& in = record.inputs[0];
  lowering_.ensure_placed(stores_.get(in.store));
  const size_t bytes = static_cast<size_t>(in.view.count()) * in.view.itemsize;
  if (bytes == 0) return {};
  StepBuilder step(job_, stores_, steps_);
  for (int rank = 0; rank < (read_everywhere ? job_.size : 1); ++rank) {
    StepTask task;
    task.device = job_.first_device(rank);
    task.inputs.push_back({in.store, in.view, Box::of(in.view.shape), false, true});
    task.cost = static_cast<double>(bytes) / 8;
    task.body = [target = record.destination, bytes](std::span<const Bound> from, std::span<const Bound>, Parallel& parallel) {
      if (!target) return;  // not the leader
      std::lock_guard lock(target->lock);
      if (!target->to) return;
      copy_block(target->to, from[0].base, bytes, parallel);
    };
    step.add(std::move(task));
  }
  return step.issue(lowering_.next_tag++);
}

// Folds the reports of finished tasks into fp_met_; the others stay.
void Engine::look_at_reports() {
  auto& reports = steps_.reports;
  auto unfinished = reports.begin();
  for (auto& report : reports) {
    if (!done(report->finished)) {
      *unfinished++ = std::move(report);
      continue;
    }
    for (size_t i = 0; i < report->flags.size(); ++i) {
      const uint8_t kinds = report->flags[i] & report->watch;
      if (!kinds) continue;
      const size_t instructions = report->program->code.size();
      FpOrigin origin{report->program->code[i % instructions].op};
      for (const FpOrigin& known : report->lines)
        if (known.op == origin.op) origin = known;
      if (i >= instructions) origin.told_as = static_cast<uint8_t>(kFpSubtract + i / instructions - 1);
      fp_met_.add({origin, kinds});
    }
  }
  reports.erase(unfinished, reports.end());
}

std::vector<FpEvent> Engine::take_fp_events() {
  look_at_reports();
  return fp_met_.take();
}

std::vector<Event> Engine::backlog() const {
  constexpr uint64_t kMost = 1024, kLeft = 512;  // tasks of one queue
  std::vector<Event> events;
  for (Event last : pending()) {
    const uint64_t finished = Progress::of(last.queue).finished();
    if (last.sequence > finished + kMost) events.push_back({last.queue, last.sequence - kLeft});
  }
  return events;
}

std::vector<Event> Engine::pending() const {
  std::vector<Event> events;
  for (Device* device : job_.local) events.push_back(device->queue().last());
  if (job_.comm_queue) events.push_back(job_.comm_queue->last());
  return events;
}

void Engine::add_held(const Tiling& tiling, std::vector<int64_t>* held) const {
  const auto bytes = [&](const Box& box) {
    return job_.local[0]->block_bytes(static_cast<size_t>(box.count() * tiling.base_itemsize()));
  };
  if (tiling.is_replicated()) {
    for (int64_t& rank : *held) rank += bytes(Box::of(tiling.base_shape()));
    return;
  }
  for (int64_t tile = 0; tile < tiling.tile_count(); ++tile)
    (*held)[static_cast<size_t>(job_.rank_of(tiling.owner(tile)))] += bytes(tiling.tile_box(tile));
}

void Engine::add_held(const Dims& base_shape, int64_t base_itemsize, std::vector<int64_t>* held) const {
  add_held(*lowering_.default_tiling(base_shape, base_itemsize), held);
}

std::vector<int64_t> Engine::held_by_ranks() {
  std::vector<int64_t> held(static_cast<size_t>(job_.size), 0);
  stores_.each([&](const StoreState& store) {
    if (store.tiling)
      add_held(*store.tiling, &held);
    else if (!store.dropped)
      add_held(store.base_shape, store.base_itemsize, &held);
  });
  return held;
}

void Engine::check() {
  failures_.look();
  if (const FailurePtr failure = failures_.take_unreported()) throw Error(failure->kind, failure->operation + ": " + failure->reason);
}

void Engine::count_into(std::map<std::string, double>* counters, const std::string& prefix) const {
  auto& c = *counters;
  c[prefix + "records"] = records_;
  c[prefix + "groups"] = groups_;
  c[prefix + "operations_grouped"] = grouped_records_;
  c[prefix + "tasks"] = steps_.tasks;
  c[prefix + "programs.new"] = programs_.misses;
  c[prefix + "programs.hits"] = programs_.hits;
  c[prefix + "bytes.local"] = steps_.local_bytes;
  c[prefix + "bytes.sent"] = steps_.sent_bytes;
  c[prefix + "messages"] = steps_.messages;
  c[prefix + "stores"] = static_cast<double>(stores_.size());
}

}  // namespace tilewise
