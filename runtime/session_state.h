// The session's insides, shared by its source files: engines, locks, queues of dropped stores, counters.
//
// Made by session::start(), never destroyed. Everything is guarded by `lock` except the drop queue, which any thread may
// push to, and what only one thread sees.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "runtime/engine.h"
#include "runtime/session.h"
#include "runtime/stream_tap.h"

namespace tilewise::session {

// What the leader says to the workers, and how the job ends; null when the process runs alone.
class Link {
 public:
  virtual ~Link() = default;
  virtual void publish(std::vector<char> batch) = 0;           // leader; waits for credits
  virtual bool has_room(std::chrono::milliseconds limit) = 0;  // leader: whether it need not wait
  virtual bool next(std::vector<char>* batch) = 0;             // worker; false: the stream has ended
  // spmd: one text of each rank, the same number of times on every rank. False while some have not come.
  virtual void post(uint64_t serial, std::string_view mine) = 0;
  virtual bool all_posted(uint64_t serial, std::chrono::milliseconds limit, std::vector<std::string>* texts) = 0;
  virtual void abandon(const std::string& reason) = 0;  // spmd: the ranks differ, transfers are over
  // What failed on a worker, and the floating-point conditions it met.
  struct Report {
    std::vector<FailurePtr> failures;
    std::vector<FpEvent> conditions;
  };
  virtual void report(uint64_t serial, const Report& report) = 0;  // worker: all up to kSync `serial` is done
  // Leader: true when every worker has reported; then what all of them said.
  virtual bool all_reported(uint64_t serial, std::chrono::milliseconds limit, Report* reports) = 0;
  virtual void fail(const std::string& reason) = 0;            // this rank cannot go on
  virtual int finish(int status) = 0;                          // leader and workers; the job's status
};

// Set by a signal handler when the whole job was told to end (Ctrl-C): whoever dies from then on dies of that, and is
// not worth a word.
inline std::atomic<bool> told_to_end{false};

struct State {
  Role role;
  std::mutex lock;
  std::unique_ptr<Engine> known;    // small data that is a function of constants; the leader only
  std::unique_ptr<Engine> global;   // everything else
  std::unique_ptr<Queue> comm_queue;
  std::unique_ptr<comm::Transport> transport;
  std::unique_ptr<Link> link;
  std::vector<char> batch;          // serialised records not yet published
  int64_t min_tile = 0;             // TILEWISE_MIN_TILE
  StoreId next_known = 1, next_global = 1;
  bool child = false;               // started by a process that uses Tilewise: its stream is not the one to save
  std::thread::id starter = std::this_thread::get_id();
  bool spmd = false;                // every rank of the job runs the program
  std::unique_ptr<StreamTap> tap;   // null: the stream is neither saved nor compared
  std::vector<StoreId> undecided;   // spmd: stores dropped here, perhaps not yet on other ranks
  uint64_t agreed_at = 0, next_post = 1;  // spmd: records when the ranks last compared; number of the next comparison
  std::string diverged;             // spmd: how the ranks differ
  FpLog agreed_conditions;          // spmd: those of all ranks, the same on each
  uint64_t next_sync = 1;
  uint64_t recorded = 0;            // counts calls of lock_to_record
  StoreId first_own = 1;            // lower numbers were given before this process was forked
  std::atomic<Store*> dropped{nullptr};  // a stack; linked through Store::next_dropped
  std::map<std::string, double> counts;
  std::vector<int64_t> limits;      // bytes that each rank may hold
  int64_t room = 0;                 // bytes that may be born before somebody must count
  void (*reclaim)() = nullptr;      // drops what only Python's garbage collector can
  std::map<int, int64_t> peaks;     // bytes by memory space, between the last two synchronize()
  LineHook line_hook = nullptr;
  LineText line_text = nullptr;
  WatchHook watch_hook = nullptr;
  BlockingHooks blocking;
  std::map<std::pair<const void*, int>, uint32_t> line_numbers;
  struct RecentLine {
    SourceLine line;
    uint32_t number = 0;
  };
  RecentLine recent_lines[64];      // by a hash of the line: loops come back to few
  std::vector<Store*> free_stores;  // for plain operations
  std::vector<FpWarning> cast_warnings;  // met by constants
  std::vector<SourceLine> lines{{}};
  bool ended = false;
};

State& state();   // throws Error(kRuntime) before start()
bool started();

// Throws for an array that was made before this process was forked.
void check_own(const State& s, const Store& store);
// Takes the lock; gives up Python's lock while it has to wait.
std::unique_lock<std::mutex> lock(State& s);
// Waits with Python's lock given up, looking at signals now and then: what a signal's handler raises leaves from here. The
// session's lock must not be held. `come` waits at most so long and says whether that was enough.
void wait_in_slices(State& s, const std::function<bool(std::chrono::milliseconds)>& come);
void wait_unlocked(State& s, const std::vector<Event>& events);

// Appends the record to the batch for the workers and gives it to the engine of all devices.
std::vector<Event> apply_global(State& s, const Record& record);
// Gives the record to one engine; work that could not be issued raises here.
std::vector<Event> apply(State& s, Engine& engine, const Record& record);
// Takes the lock for recording: first waits until the workers can take more, and now and then until our own queues can.
std::unique_lock<std::mutex> lock_to_record(State& s);
// Called before anything is recorded that other ranks must hear. Once the job has ended, this raises in the program's first
// thread; others, which Python leaves behind as well, stay here for ever. `held` is the session's lock.
void check_not_ended(State& s, std::unique_lock<std::mutex>& held);
inline constexpr uint64_t kLookEvery = 64;  // records after which a rank looks whether its queues are far behind

// session_failures.cpp. Raises the failure, naming the operation and the Python line.
[[noreturn]] void raise(State& s, const FailurePtr& failure);
// Waits for all work of all ranks recorded so far and learns what failed. The session's lock must not be held.
void settle_all(State& s);
// session_spmd.cpp. Compares the streams of all ranks and learns of failures and drops; nothing but in spmd mode. All ranks
// call it at the same records. The session's lock must not be held.
void agree(State& s);
void agree_now_and_then(State& s);
// Raises if the store of the engine has no values, as far as is known.
void raise_if_poisoned(State& s, Engine& engine, StoreId store);
void publish(State& s);
// session_memory.cpp. Makes sure that what is about to be born can be held, or raises Error(kMemory); gives the lock up for
// a while if it must. `births` may name a store twice.
void make_room(State& s, std::unique_lock<std::mutex>& held, std::span<Store* const> births);
// Whether so many bytes can be born without counting what there is; then they are taken.
bool take_room(State& s, int64_t bytes);
// Turns dropped handles into drop records.
void drain_drops(State& s);
// The line that the next record is charged to.
uint32_t current_line(State& s);

// Joins the job of the environment; null if the process runs alone. runtime/link.cpp
std::unique_ptr<Link> join_job(State& s);

}  // namespace tilewise::session
