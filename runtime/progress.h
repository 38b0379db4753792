// How far a queue has come. Every queue of every kind of device owns one; events are looked up here by queue number.
//
// A Progress is made with its queue and never freed, so an event may outlive its queue. The tasks of a queue finish in
// order, so one counter is enough. Whoever finishes a task calls advance(); a listener (the pool of the CPU workers)
// is told, since a task of its own may have waited for that. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "runtime/device.h"

namespace tilewise {

// Told after each advance() of any queue, on the thread that finished the task. Never removed.
class ProgressListener {
 public:
  virtual ~ProgressListener() = default;
  virtual void progressed() = 0;

 private:
  friend class Progress;
  ProgressListener* next_ = nullptr;
};

class Progress {
 public:
  // Takes the next free queue number.
  static Progress& make();
  static Progress& of(int queue);
  static void listen(ProgressListener& listener);
  // In the child after fork: no thread is left that could finish anything. Waiting for what is unfinished then throws.
  static void abandon_all();
  static int generation();  // counts forks: what was made under another number belongs to the parent

  // Whether a task of any queue has ever failed, here or, as messages tell, on another rank: from then on waits look closer.
  static bool failed();
  static void note_failure();
  // The same for floating-point conditions that somebody asked for; until a report has told the leader what they were.
  static bool met_conditions();          // by a task of this process
  static bool told_of_conditions();      // by another rank
  static void note_conditions();
  static void note_told_of_conditions();
  static void forget_conditions();

  int id() const { return id_; }
  uint64_t finished() const { return finished_.load(std::memory_order_acquire); }
  bool reached(uint64_t sequence) const { return finished() >= sequence; }

  void advance(uint64_t sequence);
  // For work done inside submit(): nobody holds its event yet, so there is nobody to wake.
  void advance_unseen(uint64_t sequence) { finished_.store(sequence, std::memory_order_release); }

  void wait(uint64_t sequence);
  bool wait_for(uint64_t sequence, std::chrono::milliseconds limit);  // true when it has come

 private:
  explicit Progress(int id);

  alignas(64) std::atomic<uint64_t> finished_{0};
  std::atomic<uint32_t> bell_{0};      // rung for sleepers
  std::atomic<uint32_t> sleepers_{0};
  int id_;
  int generation_;  // of forks
};

// Notes conditions if a task's flags, one an instruction, have bits that are watched.
inline void note_conditions(const uint8_t* flags, size_t count, uint8_t watch) {
  uint8_t all = 0;
  for (size_t i = 0; i < count; ++i) all |= flags[i];
  if (all & watch) Progress::note_conditions();
}

// True when every event has happened.
bool all_done(std::span<const Event> events);

}  // namespace tilewise
