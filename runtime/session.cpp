#include "runtime/session.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "runtime/base/env.h"
#include "runtime/dump.h"
#include "runtime/progress.h"
#include "runtime/session_state.h"
#include "runtime/stream.h"

namespace tilewise {

// May run in any thread, even inside a call of ours: the store is only queued.
void Store::dropped(Store* store) {
  if (!store->born || !session::started()) {
    delete store;
    return;
  }
  auto& head = session::state().dropped;
  store->next_dropped = head.load(std::memory_order_relaxed);
  while (!head.compare_exchange_weak(store->next_dropped, store, std::memory_order_release)) {
  }
}

namespace session {

namespace {
constexpr size_t kBatch = 16 << 10;  // bytes of records that are worth sending

State* the_state = nullptr;
State* parents_state = nullptr;  // in a forked child: what the parent had, never used but for its hooks and numbers

// A forked child goes on with the hooks of its parent, and with numbers that its parent has not given.
void continue_after_fork(State& s) {
  if (!parents_state) return;
  s.first_own = std::max(parents_state->next_known, parents_state->next_global);
  s.next_known = s.next_global = s.first_own;
  s.line_hook = parents_state->line_hook;
  s.line_text = parents_state->line_text;
  s.watch_hook = parents_state->watch_hook;
  s.reclaim = parents_state->reclaim;
  s.blocking = parents_state->blocking;
}
}  // namespace

State& state() {
  if (!the_state) {
    if (!parents_state) throw Error(ErrorKind::kRuntime, "tilewise has not been started");
    start();
  }
  return *the_state;
}

void forked() {
  if (!the_state) return;
  after_fork_child();
  parents_state = std::exchange(the_state, nullptr);
}

void check_own(const State& s, const Store& store) {
  if (store.born && store.id < s.first_own) {
    throw Error(ErrorKind::kRuntime, "this array was made before the process forked: pass it to the child as an argument "
                                     "(pickled), or start processes with 'spawn'");
  }
}

bool started() { return the_state != nullptr; }

Role start() {
  if (the_state) return the_state->role;
  auto s = std::make_unique<State>();
  dump_stages = stages_of(settings().dump);
  s->link = join_job(*s);
  s->spmd = s->link && settings().mode == Mode::kSpmd;
  s->role.leader = s->role.rank == 0 || s->spmd;
  const bool saves = !settings().save_stream.empty() && s->role.rank == 0 && !s->child && !parents_state;
  if (saves || s->spmd) s->tap = std::make_unique<StreamTap>(saves ? settings().save_stream : "");
  Machine& m = machine();
  Job job;
  job.rank = s->role.rank;
  job.size = s->role.size;
  job.local.assign(m.devices().begin(), m.devices().end());
  job.transport = s->transport.get();
  if (job.size > 1) {
    s->comm_queue = make_thread_queue("exchange");
    job.comm_queue = s->comm_queue.get();
  }
  s->min_tile = settings().min_tile;
  s->global = std::make_unique<Engine>(job, s->min_tile);
  s->global->read_everywhere = s->spmd;
  Job alone;
  alone.local = {&m.host()};
  s->known = std::make_unique<Engine>(alone, std::numeric_limits<int64_t>::max());
  continue_after_fork(*s);
  the_state = s.release();
  return the_state->role;
}

const Role& role() { return state().role; }

std::unique_lock<std::mutex> lock(State& s) {
  std::unique_lock<std::mutex> held(s.lock, std::try_to_lock);
  if (held.owns_lock()) return held;
  void* python = s.blocking.enter ? s.blocking.enter() : nullptr;
  held.lock();
  if (s.blocking.leave) s.blocking.leave(python);
  return held;
}

void wait_unlocked(State& s, const std::vector<Event>& events) {
  size_t at = 0;
  while (at < events.size() && done(events[at])) ++at;
  if (at == events.size()) return;
  wait_in_slices(s, [&](std::chrono::milliseconds limit) {
    while (at < events.size() && wait_for(events[at], limit)) ++at;
    return at == events.size();
  });
}

void wait_in_slices(State& s, const std::function<bool(std::chrono::milliseconds)>& come) {
  constexpr std::chrono::milliseconds kSlice{100};
  for (bool here = false; !here;) {
    void* python = s.blocking.enter ? s.blocking.enter() : nullptr;
    try {
      here = come(kSlice);
    } catch (...) {
      if (s.blocking.leave) s.blocking.leave(python);
      throw;
    }
    if (s.blocking.leave) s.blocking.leave(python);
  }
}

// A full batch goes out before more is recorded, so that an interrupted wait for the workers leaves nothing half recorded. So
// does all that is recorded before we wait for our own queues: they may wait for messages from ranks that have yet to hear.
std::unique_lock<std::mutex> lock_to_record(State& s) {
  auto held = lock(s);
  std::vector<Event> backlog;
  if (++s.recorded % kLookEvery == 0) backlog = s.global->backlog();
  while (s.batch.size() >= kBatch || (!backlog.empty() && !s.batch.empty())) {
    if (s.link->has_room(std::chrono::milliseconds(0))) {
      publish(s);
      break;
    }
    held.unlock();
    wait_in_slices(s, [&](std::chrono::milliseconds limit) { return s.link->has_room(limit); });
    held = lock(s);
  }
  if (!backlog.empty()) {
    held.unlock();
    wait_unlocked(s, backlog);
    held = lock(s);
  }
  return held;
}

void check_not_ended(State& s, std::unique_lock<std::mutex>& held) {
  if (!s.ended || !s.link) return;
  held.unlock();
  if (std::this_thread::get_id() == s.starter)
    throw Error(ErrorKind::kRuntime, "the job has ended: the arrays that its ranks shared are gone");
  if (s.blocking.enter) s.blocking.enter();
  while (true) std::this_thread::sleep_for(std::chrono::hours(1));
}

void publish(State& s) {
  if (!s.link || s.batch.empty()) return;
  if (!s.ended) s.link->publish(std::move(s.batch));  // after the end only drops come, which nobody misses
  s.batch.clear();
}

std::vector<Event> apply_global(State& s, const Record& record) {
  dump(Stage::kStream, [&] { return print(record); });
  if (s.link && !s.spmd) {
    encode(record, &s.batch);
    if (s.batch.size() >= 64 * kBatch || record.kind == RecordKind::kRead || record.kind >= RecordKind::kFlush) publish(s);
  }
  return apply(s, *s.global, record);
}

void flush() {
  State& s = state();
  auto held = lock_to_record(s);
  check_not_ended(s, held);
  drain_drops(s);
  Record record;
  record.kind = RecordKind::kFlush;
  apply(s, *s.known, record);
  apply_global(s, record);
}

void synchronize() {
  State& s = state();
  settle_all(s);
  auto held = lock(s);
  for (Engine* engine : {s.global.get(), s.known.get()})
    if (const FailurePtr failure = engine->failures().take_unreported()) raise(s, failure);
  for (Device* device : s.global->job().local) {
    const int space = device->info().memory_space;
    s.peaks[space] = machine().memory_use(space).peak;
  }
  machine().reset_peaks();
}

namespace {

// A worker has reached a kSync record.
void report(State& s, uint64_t serial) {
  for (const Event& event : s.global->pending()) wait(event);
  FailureLog& failures = s.global->failures();
  failures.look();
  Progress::forget_conditions();  // no message of before is under way any more
  s.link->report(serial, {failures.take_new(), s.global->take_fp_events()});
  if (failures.fatal()) s.link->fail(failures.fatal()->reason);
}

}  // namespace

int run_worker() {
  State& s = state();
  // Told to end, a worker leaves that to the leader, which may have something to say; but not for long.
  std::signal(SIGTERM, [](int) {
    told_to_end.store(true);
    alarm(3);
  });
  try {
    std::vector<char> batch;
    uint64_t records = 0;
    while (s.link->next(&batch)) {
      const char* at = batch.data();
      const char* end = at + batch.size();
      while (at < end) {
        const Record record = decode(&at, end);
        s.global->apply(record);
        if (record.kind == RecordKind::kSync) report(s, record.inputs[0].store);
        if (++records % kLookEvery == 0)
          for (const Event& event : s.global->backlog()) wait(event);
      }
    }
    s.global->flush();
    for (const Event& event : s.global->pending()) wait(event);
  } catch (const IssueFailed& failed) {
    s.link->fail(failed.failure->operation + ": " + failed.failure->reason);
  } catch (const std::exception& failure) {
    s.link->fail(failure.what());
  }
  s.ended = true;
  return s.link->finish(0);
}

void shutdown(int status) {
  if (!the_state || the_state->ended) return;
  State& s = *the_state;
  if (s.tap) s.tap->flush();
  if (s.link) {
    auto held = lock(s);
    try {
      publish(s);
    } catch (const Error&) {  // a rank died: finish() says so
    }
    s.ended = true;
    held.unlock();
    s.link->finish(status);
    return;
  }
  s.ended = true;
}

void set_line_hooks(LineHook hook, LineText text) {
  state().line_hook = hook;
  state().line_text = text;
}

void set_watch_hook(WatchHook hook) { state().watch_hook = hook; }

void note_cast(uint8_t kinds) {
  State& s = state();
  if (s.watch_hook) kinds &= s.watch_hook();
  if (!kinds) return;
  auto held = lock(s);
  s.cast_warnings.push_back({"cast", kinds, s.lines.at(current_line(s))});
}

std::vector<FpWarning> take_fp_warnings() {
  State& s = state();
  auto held = lock(s);
  std::vector<FpWarning> warnings = std::exchange(s.cast_warnings, {});
  const auto add = [&](const std::vector<FpEvent>& events) {
    for (const FpEvent& event : events)
      warnings.push_back({fp_operation(event.origin), event.kinds, s.lines.at(event.origin.line)});
  };
  add(s.known->take_fp_events());
  add(s.spmd ? s.agreed_conditions.take() : s.global->take_fp_events());
  return warnings;
}

void set_blocking_hooks(BlockingHooks hooks) { state().blocking = hooks; }

std::map<std::string, double> counters() {
  State& s = state();
  auto held = lock(s);
  auto all = s.counts;
  s.global->count_into(&all, "");
  s.known->count_into(&all, "known.");
  for (Device* device : s.global->job().local) {
    const MemoryUse use = machine().memory_use(device->info().memory_space);
    const auto before = s.peaks.find(device->info().memory_space);
    const int64_t peak = std::max(use.peak, before == s.peaks.end() ? 0 : before->second);
    all["memory." + device->info().name + ".peak"] = static_cast<double>(peak);
    all["memory." + device->info().name + ".current"] = static_cast<double>(use.current);
  }
  return all;
}

void count(const std::string& name, double amount) {
  State& s = state();
  auto held = lock(s);
  s.counts[name] += amount;
}

std::string describe() { return machine().describe(); }

}  // namespace session
}  // namespace tilewise
