// What went wrong, and which stores have no values because of it.
//
// Work fails after it was issued, on some queue. The log knows, for each piece of work still under way, where its tasks end
// on each queue and which stores it read and wrote: a failed task's place tells what it belonged to, and later work that
// read what it wrote has no values either. Nothing of this changes what is planned: tasks run on, over whatever the memory
// holds, so that every rank makes its sends. One log an engine; used from the engine's thread only.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/job.h"
#include "runtime/record.h"

namespace tilewise {

struct TaskFailure {
  ErrorKind kind = ErrorKind::kRuntime;
  std::string operation;        // "matmul", or those of a group: "multiply, add"
  uint32_t line = 0;            // of the record; 0 if unknown
  std::string reason;
  std::vector<StoreId> stores;  // those without values
  bool fatal = false;           // an exchange failed: nothing more can be trusted
  bool only_read = false;       // values did not reach the reader; the stores named have them still
  bool reported = false;        // somebody was told
};
using FailurePtr = std::shared_ptr<TaskFailure>;

// Kind and text of an exception.
void describe(const std::exception_ptr& error, TaskFailure* failure);

// What a worker tells the leader.
std::vector<char> encode(const std::vector<FailurePtr>& failures);
std::vector<FailurePtr> decode_failures(const char* data, size_t bytes);

// One piece of work: a group, a library call, data from the host, a read.
struct IssuedWork {
  RecordKind kind = RecordKind::kElementwise;
  uint16_t family = 0;                // of a call
  SmallVec<Opcode, 4> operations;     // of a group, the first few
  uint32_t line = 0;
  SmallVec<StoreId, 4> reads, writes;
  SmallVec<bool, 4> whole;            // the work writes all of writes[i]: what was there before does not matter
  SmallVec<uint64_t, 4> last;         // newest task on each queue once it was issued

  std::string name() const;
};

class FailureLog {
 public:
  explicit FailureLog(const Job& job) : job_(job) {}

  // False: all that was issued is done and well, so that the work just issued needs no note.
  bool wanted() const;
  // True: its operands have no values, so its results have none either.
  bool note(IssuedWork work);
  // Whether its operands have no values; then its results have none either, and there is no point in running it.
  bool spreads(const IssuedWork& work);
  // The work could not be issued, or not wholly.
  FailurePtr refuse(const IssuedWork& work, const std::exception_ptr& error);
  // The same where the work was issued all the same, over memory that holds nothing, for the sake of other ranks: nobody
  // has been told.
  void lack_memory(const IssuedWork& work, const std::exception_ptr& error);
  // Takes what queues report.
  void look();
  // Another rank's failure.
  void adopt(FailurePtr failure);

  // Why the store has no values; null: it has.
  FailurePtr of(StoreId store) const;
  // Why the last read of the store brought nothing; null: it did.
  FailurePtr take_failed_read(StoreId store);
  bool any() const { return !poisoned_.empty(); }
  const FailurePtr& fatal() const { return fatal_; }
  // Marks all as reported; the first that had not been, or null.
  FailurePtr take_unreported();
  // Failures found here since the last call, with the stores they reached.
  std::vector<FailurePtr> take_new();
  // While another rank may still report about old work, notes are kept.
  void hold(int more) { holds_ += more; }

 private:
  Queue& queue(int number) const;
  int queues() const { return job_.devices_per_rank() + (job_.comm_queue ? 1 : 0); }
  bool finished(const IssuedWork& work) const;
  void spread(const FailurePtr& failure, size_t first, bool overwritten);
  void poison(StoreId store, const FailurePtr& failure);

  const Job& job_;
  std::deque<IssuedWork> works_;
  std::unordered_map<StoreId, FailurePtr> poisoned_;
  std::vector<FailurePtr> unreported_, new_, failed_reads_;
  FailurePtr fatal_;
  int holds_ = 0;
};

}  // namespace tilewise
