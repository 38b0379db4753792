// Executes a stream of records on a job's devices. A deterministic function of the records and the job.
//
// The leader has two: one for known small data (its own host device), one for everything else (all devices; the same stream
// on every rank). Used from one thread at a time; waiting is the caller's business, so that locks can be given up first.
#pragma once

#include <map>
#include <string>

#include "runtime/failures.h"
#include "runtime/fp_events.h"
#include "runtime/lower_group.h"
#include "runtime/window.h"

namespace tilewise {

// Work could not be issued, for want of memory say; what it would have written has no values.
struct IssueFailed {
  FailurePtr failure;
};

class Engine {
 public:
  Engine(Job job, int64_t min_tile);

  // Any record. A kRead writes its destination on rank 0 when the events returned are done; other records return nothing.
  // Throws IssueFailed when work that the record closed could not be issued; the record itself is taken all the same, but
  // for a read.
  std::vector<Event> apply(const Record& record);
  // Takes a plain operation without a record if it joins the newest group; else does nothing. `in`, `out`: its stores.
  bool join_plain(const PlainOperation& operation, const StoreId* in, StoreId out, uint32_t line, uint8_t watch);
  // What a kDrop does.
  void drop(StoreId store);
  // Issues everything recorded.
  void flush();
  // The events after which everything issued is done.
  std::vector<Event> pending() const;
  // What to wait for before more is issued, because queues are far behind: what they hold is memory. Empty: go on.
  std::vector<Event> backlog() const;
  // Bytes that each rank holds for the stores there are, as far as the stream decides it: those not yet placed lie where
  // stores lie by default, and those that are dropped before they were placed will never be. A function of the stream.
  std::vector<int64_t> held_by_ranks();
  // Adds what each rank would hold of a new store.
  void add_held(const Dims& base_shape, int64_t base_itemsize, std::vector<int64_t>* held) const;
  // Looks at what queues report and throws the first failure that nobody has been told of.
  void check();
  FailureLog& failures() { return failures_; }
  bool read_everywhere = false;  // every rank wants the values of a kRead, into its own destination
  // What finished tasks met since the last call, each (operation, line) once.
  std::vector<FpEvent> take_fp_events();
  // What another rank's tasks met.
  void adopt(const FpEvent& event) { fp_met_.add(event); }
  StoreTable& stores() { return stores_; }
  const Job& job() const { return job_; }
  void count_into(std::map<std::string, double>* counters, const std::string& prefix) const;

 private:
  void add_held(const partition::Tiling& tiling, std::vector<int64_t>* held) const;
  void host_data(const Record& record);
  std::vector<Event> read(const Record& record);
  void call(const Record& record);
  template <class Describe, class Issue>
  void attempt(const Describe& describe, const Issue& issue);
  void look_at_reports();

  Job job_;
  StoreTable stores_;
  StepCounters steps_;
  ProgramCache programs_;
  Lowering lowering_;
  FailureLog failures_;
  FailurePtr refused_;  // by the record being applied
  Window window_;
  FpLog fp_met_;
  double records_ = 0, groups_ = 0, grouped_records_ = 0;
};

}  // namespace tilewise
