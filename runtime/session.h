// The process's one runtime: who leads, where records go, and how Python waits.
//
// start() is called once, at import or by a worker's main. On the leader the ops functions record into it; on a worker
// run_worker() executes the leader's stream until it ends. All functions below are safe from several threads; waits
// call `blocking` hooks so that the GIL is released around them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tilewise::session {

struct Role {
  int rank = 0, size = 1;
  bool leader = true;  // runs the program: rank 0, in spmd mode every rank
};

// Joins the job found in the environment (or runs alone), makes the machine and the engines.
Role start();
const Role& role();
// A worker's life: executes the leader's stream; returns the exit status the leader sent.
int run_worker();
// Ends the job: workers are told the status and leave. Idempotent; called from Python's atexit and from workers.
void shutdown(int status);

// In the child after fork: the next record starts a runtime alone. Arrays made before the fork raise when used.
void forked();

// Waits for all recorded work; raises what failed.
void synchronize();
// Issues what is recorded without waiting.
void flush();

// The Python line that records are charged to. The hook fills file and line when a record needs them; null outside Python.
struct SourceLine {
  const void* code = nullptr;  // identity of the code object, kept alive by the hook
  int line = 0;
};
using LineHook = SourceLine (*)();
using LineText = std::string (*)(SourceLine);  // "prog.py:12"
void set_line_hooks(LineHook hook, LineText text);
// Collects Python's garbage, where memory is short.
void set_reclaim_hook(void (*hook)());
// Called around every wait: release and take the GIL, poll signals.
struct BlockingHooks {
  void* (*enter)() = nullptr;
  void (*leave)(void*) = nullptr;
};
void set_blocking_hooks(BlockingHooks hooks);

// Runs a saved stream (TILEWISE_SAVE_STREAM) again; what its reads gave, in order.
struct ReplayedRead {
  std::string dtype;
  std::vector<int64_t> shape;
  uint64_t hash = 0;
};
std::vector<ReplayedRead> replay(const std::string& path);

// What happened so far, for tilewise.report(): numbers by dotted name ("operations", "tasks", "bytes.local", ...). Peaks of
// memory are those since the last synchronize() but one, so that two of them measure what lies between.
std::map<std::string, double> counters();
void count(const std::string& name, double amount = 1);  // "fallback.numpy.sort"

// Floating-point conditions met by work that has finished, for NumPy's warnings.
struct FpWarning {
  std::string operation;  // NumPy's name
  uint8_t kinds = 0;      // FpKind bits
  SourceLine line;
};
std::vector<FpWarning> take_fp_warnings();
// What a constant meets when it is cast while an operation is recorded: told with the conditions of finished work.
void note_cast(uint8_t kinds);
// Which kinds are not ignored at this moment (NumPy's errstate): FpKind bits, asked for each record.
using WatchHook = uint8_t (*)();
void set_watch_hook(WatchHook hook);

// Human text for `tilewise info`.
std::string describe();

}  // namespace tilewise::session
