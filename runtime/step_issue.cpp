// The second half of StepBuilder: what was bound is enqueued, in the order that step_builder.h describes.
#include <algorithm>
#include <cstring>

#include "runtime/dump.h"
#include "runtime/fp_parallel.h"
#include "runtime/progress.h"
#include "runtime/run_program.h"
#include "runtime/step_builder.h"

namespace tilewise {

using partition::View;

namespace {

// Adds an event to wait for, unless it is of the waiting queue itself, which is in order anyway.
void wait_for(std::vector<Event>* after, Event event, const Device* device) {
  if (event.queue >= 0 && event.queue != const_cast<Device*>(device)->queue().id()) after->push_back(event);
}

// What a copy into an instance must wait for: its readers on other queues, and its last writer.
void before_write(std::vector<Event>* after, const Instance& instance, const Device* device) {
  wait_for(after, instance.written, device);
  for (Event reader : instance.readers) wait_for(after, reader, device);
}

// A message ends with a word that says whether the sender knows of a failed task, its own or one it was told of: so a value
// never arrives before the news that it may be none. The same for floating-point conditions, of which the leader must hear.
// (Host memory; a device's message will need the word beside it.)
enum Told : uint64_t { kToldFailed = 1, kToldConditions = 2 };

size_t message_bytes(int64_t bytes) { return (static_cast<size_t>(bytes) + 7) / 8 * 8 + 8; }

void tell(const BufferView& message, bool leader) {
  uint64_t word = 0;
  if (Progress::failed()) word |= kToldFailed;
  if (!leader && (Progress::met_conditions() || Progress::told_of_conditions())) word |= kToldConditions;
  std::memcpy(static_cast<char*>(message.data) + message.bytes - 8, &word, 8);
}

void hear(const BufferView& message) {
  uint64_t word;
  std::memcpy(&word, static_cast<const char*>(message.data) + message.bytes - 8, 8);
  if (word & kToldFailed) Progress::note_failure();
  if (word & kToldConditions) Progress::note_told_of_conditions();
}

// The messages of one exchange: posted by whoever comes first to where that may be done, the engine or the queue's thread.
struct Exchange {
  struct Transfer {
    int peer;
    bool out;
    BufferView buffer;
  };
  comm::Transport* transport;
  uint64_t tag;
  std::vector<Transfer> transfers;
  std::vector<comm::Request> requests;

  void post() {
    transport->begin_group();
    for (const Transfer& t : transfers) {
      if (t.out) tell(t.buffer, transport->rank() == 0);
      requests.push_back(t.out ? transport->isend(t.peer, tag, t.buffer) : transport->irecv(t.peer, tag, t.buffer));
    }
    transport->end_group();
  }
  // Done and well, without waiting.
  bool all_over() {
    transport->progress();
    for (const comm::Request& request : requests)
      if (!request.done() || request.failed()) return false;
    learn();
    return true;
  }
  void finish() {
    if (requests.empty()) post();
    comm::wait_all(*transport, requests);
    learn();
  }
  void learn() const {
    for (const Transfer& t : transfers)
      if (!t.out) hear(t.buffer);
  }
};

}  // namespace

// What had no memory when it was made gets some before it is written, if there is some now.
void StepBuilder::fill_hollow() {
  for (const StepTask& task : tasks_) {
    for (const TaskOperand& out : task.outputs) {
      for (Instance& instance : stores_.get(out.store).instances) {
        if (!instance.hollow) continue;
        const BufferView old = instance.buffer;
        instance.buffer = allocate(instance.device, static_cast<int64_t>(old.bytes), &instance.hollow);
        std::vector<Event> after = instance.readers;
        after.push_back(instance.written);
        instance.device->release(old, after);
        instance.written = instance.device->queue().last();
        instance.readers.clear();
      }
    }
  }
}

// Second instances start as copies of what the step does not write; the rest is copied over too where that is simpler than
// finding it out: the written box is most of the tile, so one copy of the tile's complement is at most half of it.
void StepBuilder::make_second_instances() {
  for (Swap& swap : swaps_) {
    StoreState& store = stores_.get(swap.store);
    // The boxes of the store that tasks of this step write, as views.
    for (Instance& first : store.instances) {
      Instance second = first;
      second.buffer = allocate(first.device, static_cast<int64_t>(first.buffer.bytes), &second.hollow);
      second.readers.clear();
      std::vector<Event> after;
      wait_for(&after, first.written, first.device);
      std::vector<partition::Box> rest{first.place.box};
      for (const StepTask& task : tasks_) {
        for (const TaskOperand& out : task.outputs) {
          if (out.store != swap.store) continue;
          const auto covered = written_box(out, first.place);
          if (!covered) continue;
          std::vector<partition::Box> left;
          for (const partition::Box& box : rest)
            for (partition::Box& piece : partition::subtract(box, *covered)) left.push_back(std::move(piece));
          rest = std::move(left);
        }
      }
      std::vector<CopyPiece> pieces;
      const Dims shape = first.place.box.shape();
      const Dims strides = c_strides(shape, store.base_itemsize);
      for (const partition::Box& box : rest) {
        if (box.empty()) continue;
        CopyPiece piece{box.shape(), strides, strides, 0, 0, store.base_itemsize};
        for (int k = 0; k < box.rank(); ++k) piece.from_offset += (box.lo[k] - first.place.box.lo[k]) * strides[k];
        piece.to_offset = piece.from_offset;
        pieces.push_back(piece);
      }
      if (!pieces.empty()) second.written = first.device->copy(second.buffer, first.buffer, std::move(pieces), after);
      swap.second.push_back(second);
    }
  }
}

// The box of the instance, in base axes, that the output covers completely; nothing if it leaves gaps.
std::optional<partition::Box> StepBuilder::written_box(const TaskOperand& out, const partition::InstanceBox& place) {
  const partition::Box box =
      partition::intersect(partition::footprint(out.view, out.region, place.form), place.box);
  if (box.empty()) return std::nullopt;
  int64_t covered = 0;
  for (const auto& piece : partition::pieces(out.view, out.region, place)) covered += piece.bytes();
  if (covered != box.count() * place.form.itemsize) return std::nullopt;
  return box;
}

void StepBuilder::end_swaps() {
  for (Swap& swap : swaps_) {
    StoreState& store = stores_.get(swap.store);
    for (size_t i = 0; i < store.instances.size(); ++i) {
      std::swap(store.instances[i], swap.second[i]);
      Instance& old = swap.second[i];
      std::vector<Event> after = old.readers;
      after.push_back(old.written);
      old.device->release(old.buffer, after);
    }
  }
  swaps_.clear();
}

StepBuilder::~StepBuilder() {
  for (Lent& lent : lent_) lent.device->release(lent.buffer, last_);
  for (Swap& swap : swaps_)
    for (Instance& second : swap.second) second.device->release(second.buffer, last_);
}

Event StepBuilder::pack(Messages& send, Event* newest) {
  for (auto& [peer, message] : send) {
    (void)peer;
    message.buffer = allocate(job_.local[0], static_cast<int64_t>(message_bytes(message.bytes)));
    for (Part& part : message.parts) {
      std::vector<Event> after;
      if (part.instance) wait_for(&after, part.instance->written, part.device);
      wait_for(&after, job_.local[0]->queue().last(), part.device);  // earlier users of the message's memory
      *newest = part.device->copy(message.buffer, part.memory, std::move(part.pieces), after);
      if (part.instance) part.instance->readers.push_back(*newest);
      last_.push_back(*newest);
    }
  }
  return *newest;
}

Event StepBuilder::exchange(uint64_t tag, Messages& send, Messages& receive) {
  if (send.empty() && receive.empty()) return {};
  Event packed;
  pack(send, &packed);
  std::vector<Event> after = last_;
  std::vector<Exchange::Transfer> transfers;
  auto whole = [](const Message& message) {
    return BufferView{message.buffer.data, message_bytes(message.bytes), message.buffer.kind, message.buffer.device};
  };
  for (auto& [peer, message] : receive) {
    message.buffer = allocate(job_.local[0], static_cast<int64_t>(message_bytes(message.bytes)));
    transfers.push_back({peer, false, whole(message)});
  }
  for (auto& [peer, message] : send) {
    transfers.push_back({peer, true, whole(message)});
    counters_.sent_bytes += static_cast<double>(message.bytes);
    counters_.messages += 1;
  }
  // The receive buffers were just allocated in stream order: earlier work of that queue may still use the memory.
  after.push_back(job_.local[0]->queue().last());
  auto step = std::make_shared<Exchange>(Exchange{job_.transport, tag, std::move(transfers), {}});
  // Nothing to wait for: what is sent goes at once, without a change of threads; often what is received has come, too.
  if (job_.comm_queue->idle() && all_done(after)) {
    step->post();
    if (step->all_over()) return {};
  }
  return job_.comm_queue->submit([step] { step->finish(); }, after);
}

void StepBuilder::unpack(Messages& receive, Event arrived) {
  for (auto& [peer, message] : receive) {
    (void)peer;
    for (Part& part : message.parts) {
      std::vector<Event> after{arrived};
      if (part.instance) before_write(&after, *part.instance, part.device);
      const Event event = part.device->copy(part.memory, message.buffer, std::move(part.pieces), after);
      if (part.instance) written(*part.instance, event);
      last_.push_back(event);
    }
  }
}

void StepBuilder::run_task(StepTask& task, Bind& bind) {
  Device* device = job_.device(task.device);
  std::vector<Event> after;
  std::vector<Bound> bound;
  auto address = [&](const Place& place, const TaskOperand& operand) {
    char* base = static_cast<char*>(place.instance ? place.instance->buffer.data : place.buffer.data) + place.offset;
    // An operand of guarded instructions is there in a part of the task's box only; its base is that of the whole box.
    if (task.run && task.run->accesses[static_cast<int>(bound.size())] >= 0)
      for (int k = 0; k < task.run->origin.size(); ++k)
        base -= (operand.region.lo[k] - task.run->origin[k]) * place.strides[k];
    bound.push_back({base, place.strides, operand.region.shape()});
  };
  for (size_t i = 0; i < task.inputs.size(); ++i) {
    if (Instance* instance = bind.inputs[i].instance) wait_for(&after, instance->written, device);
    address(bind.inputs[i], task.inputs[i]);
  }
  for (size_t i = 0; i < task.outputs.size(); ++i) {
    if (Instance* instance = bind.outputs[i].instance) before_write(&after, *instance, device);
    address(bind.outputs[i], task.outputs[i]);
  }
  Event event;
  if (task.run) {
    LaunchParts parts;
    const Launch launch = make_launch(*task.run, bound, &parts);
    // What the launch points to lives as long as the task.
    auto keep = std::make_shared<ProgramRun>(*task.run);
    event = device->run(launch, keep, after);
  } else {
    const size_t inputs = task.inputs.size();
    event = device->call(
        [body = std::move(task.body), bound = std::move(bound), inputs, report = task.report,
         tells = task.tells](Parallel& parallel) {
          const auto in = std::span(bound).first(inputs), out = std::span(bound).subspan(inputs);
          if (report && tells) {
            WatchingParallel watching(parallel, report->flags[0]);
            body(in, out, watching);
          } else {
            body(in, out, parallel);
          }
          if (report) note_conditions(report->flags.data(), report->flags.size(), report->watch);
        },
        after, task.cost);
  }
  if (const auto& report = task.run ? task.run->report : task.report) {
    report->finished = event;
    if (!task.run && task.tells && done(event) && !report->flags[0]) counters_.spare = report;
    else counters_.reports.push_back(report);
  }
  counters_.tasks += 1;
  for (Place& place : bind.inputs)
    if (place.instance && place.instance->device != device) place.instance->readers.push_back(event);
  for (Place& place : bind.outputs) {
    if (!place.instance) continue;
    if (place.instance->device == device)
      written(*place.instance, event);
    else
      place.instance->written = event;
  }
  last_.push_back(event);
}

std::vector<Event> StepBuilder::issue(uint64_t tag) {
  // 1. Where everything lies. Second instances first: outputs are bound to them.
  fill_hollow();
  make_second_instances();
  binds_.resize(tasks_.size());
  for (size_t t = 0; t < tasks_.size(); ++t) {
    StepTask& task = tasks_[t];
    Bind& bind = binds_[t];
    bind.inputs.resize(task.inputs.size());
    bind.outputs.resize(task.outputs.size());
    for (size_t i = 0; i < task.inputs.size(); ++i) bind_input(task, task.inputs[i], &bind.inputs[i]);
    for (size_t i = 0; i < task.outputs.size(); ++i) bind_output(task, task.outputs[i], &bind.outputs[i]);
  }

  // 2. What is read before anything is written: messages and copies between our own devices.
  const Event arrived = exchange(2 * tag, send_, receive_);
  for (LocalCopy& copy : fetches_) {
    std::vector<Event> after;
    wait_for(&after, copy.from_instance->written, copy.device);
    const Event event = copy.device->copy(copy.to, copy.from, std::move(copy.pieces), after);
    if (copy.from_instance->device != copy.device) copy.from_instance->readers.push_back(event);
    last_.push_back(event);
  }

  // 3. Tasks, those that need no message first.
  auto needs_message = [](const Bind& bind) {
    return std::any_of(bind.inputs.begin(), bind.inputs.end(), [](const Place& p) { return p.remote; });
  };
  for (int late = 0; late < 2; ++late) {
    if (late) unpack(receive_, arrived);
    for (size_t t = 0; t < tasks_.size(); ++t)
      if (job_.device(tasks_[t].device) && needs_message(binds_[t]) == static_cast<bool>(late))
        run_task(tasks_[t], binds_[t]);
  }

  // 4. Results for other owners.
  for (LocalCopy& copy : deliveries_) {
    std::vector<Event> after(last_);
    before_write(&after, *copy.to_instance, copy.device);
    const Event event = copy.device->copy(copy.to, copy.from, std::move(copy.pieces), after);
    written(*copy.to_instance, event);
    last_.push_back(event);
  }
  const Event delivered = exchange(2 * tag + 1, send_after_, receive_after_);
  unpack(receive_after_, delivered);

  // 5. The end: second instances take over, buffers go back.
  end_swaps();
  if (arrived.queue >= 0) last_.push_back(arrived);
  if (delivered.queue >= 0) last_.push_back(delivered);
  for (Messages* messages : {&send_, &receive_, &send_after_, &receive_after_})
    for (auto& [peer, message] : *messages) job_.local[0]->release(message.buffer, last_);
  for (Lent& lent : lent_) lent.device->release(lent.buffer, last_);
  lent_.clear();
  return last_;
}

}  // namespace tilewise
