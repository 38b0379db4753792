// From a failed task to an exception in Python: where waits learn what failed, on this rank and on others.
#include <algorithm>
#include <utility>

#include "runtime/progress.h"
#include "runtime/session_state.h"

namespace tilewise::session {

void raise(State& s, const FailurePtr& failure) {
  failure->reported = true;
  std::string place;
  if (s.line_text && failure->line < s.lines.size()) place = s.line_text(s.lines[failure->line]);
  if (!place.empty()) place = " at " + place;
  throw Error(failure->kind, str(failure->operation, place, " failed: ", failure->reason));
}

void raise_if_poisoned(State& s, Engine& engine, StoreId store) {
  if (!Progress::failed() && !engine.failures().any()) return;
  engine.failures().look();
  if (engine.failures().fatal()) raise(s, engine.failures().fatal());
  if (const FailurePtr failure = engine.failures().of(store)) raise(s, failure);
}

// In a job of several ranks the others now wait for messages that will not come: this rank is lost.
std::vector<Event> apply(State& s, Engine& engine, const Record& record) {
  try {
    return engine.apply(record);
  } catch (const IssueFailed& failed) {
    if (s.link && &engine == s.global.get()) s.link->fail(failed.failure->operation + ": " + failed.failure->reason);
    raise(s, failed.failure);
  }
}

namespace {

// Keeps the notes of the log while other ranks may still report about old work.
struct Hold {
  explicit Hold(FailureLog& log) : log(log) { log.hold(1); }
  ~Hold() { log.hold(-1); }
  FailureLog& log;
};

}  // namespace

void settle_all(State& s) {
  auto held = lock_to_record(s);
  check_not_ended(s, held);
  drain_drops(s);
  FailureLog& failures = s.global->failures();
  failures.look();
  if (failures.fatal()) raise(s, failures.fatal());  // the others cannot answer
  Record record;
  record.kind = s.link && !s.spmd ? RecordKind::kSync : RecordKind::kFlush;
  record.inputs.resize(1);
  record.inputs[0].store = s.next_sync++;
  apply(s, *s.known, record);
  Progress::forget_conditions();  // what messages tell from here on, the reports may not
  Hold hold(failures);
  apply_global(s, record);
  const auto events = s.global->pending();
  held.unlock();
  agree(s);
  wait_unlocked(s, events);
  Link::Report elsewhere;
  if (s.link && !s.spmd)
    wait_in_slices(s, [&](std::chrono::milliseconds limit) {
      return s.link->all_reported(record.inputs[0].store, limit, &elsewhere);
    });
  agree(s);
  held = lock(s);
  s.known->failures().look();
  failures.look();
  for (FailurePtr& failure : elsewhere.failures) failures.adopt(std::move(failure));
  for (const FpEvent& event : elsewhere.conditions) s.global->adopt(event);
  const auto same = [](Event a, Event b) { return a.queue == b.queue && a.sequence == b.sequence; };
  const auto now = s.global->pending();
  if (std::equal(events.begin(), events.end(), now.begin(), now.end(), same)) Progress::forget_conditions();
}

}  // namespace tilewise::session
