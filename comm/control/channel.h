// Behind ControlChannel: the state of one rank's end, and the thread that serves it.
//
// mutex_ guards all state; the control thread gives it up before it calls a handler. Program threads write to
// sockets directly, which saves a change of threads; what a socket does not take is left to the control thread.
// Only the control thread reads, opens and closes links.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <thread>

#include "comm/control.h"
#include "comm/control/link.h"
#include "comm/control/tree.h"
#include "comm/control/wire_up.h"

namespace tilewise::comm {

class ControlChannel::Impl {
 public:
  using Clock = std::chrono::steady_clock;

  Impl(ControlOptions options, ControlHandlers handlers);
  ~Impl();

  // The interface of ControlChannel, which see. In control.cpp.
  void publish(std::string_view batch);
  bool wait_for_credit(std::chrono::milliseconds limit);
  void goodbye(int status);
  std::optional<Batch> next_batch();
  void send(int to, FrameType type, uint32_t kind, std::string_view bytes);
  void fail(const std::string& reason);
  bool leave(std::chrono::milliseconds limit);

  const ControlOptions options;
  const Tree tree;
  const pid_t owner;
  std::vector<std::string> hosts, host_ids, cards;

  int exit_status() {
    std::lock_guard<std::mutex> lock(mutex_);
    return exit_status_;
  }
  std::optional<RankFailure> first_failure() {
    std::lock_guard<std::mutex> lock(mutex_);
    return first_failure_;
  }

 private:
  // The control thread. In channel.cpp.
  void serve();
  void read_from(Link& link);
  void take(Link& link, const Frame& frame);
  void take_message(Link& link, const Frame& frame, const FrameHeader& header);
  void closed(Link& link);
  void tick(Clock::time_point now);
  void give_up(Link& link);
  void watch(Link& link, bool writing);

  // Under the lock.
  void send_on(Link& link, Frame frame);
  void send_below(const Frame& frame);
  void send_to_all_but(const Link* source, const Frame& frame);
  Link* link_to(int rank);
  bool is_child(const Link& link) const { return link.peer > tree.rank; }
  uint64_t processed_below() const;
  void report_processed();
  bool has_credit() const { return published_ - processed_below() < options.credit_bytes; }
  void throw_if_failed() const;
  bool all_below_left() const;

  // Records a death, passes it on, and calls the handler; without the lock.
  void note_failure(int rank, const std::string& reason, const Link* source);

  const ControlHandlers handlers_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;  // any of what follows
  std::deque<Link> links_;           // never moved once the thread runs
  std::deque<Frame> batches_;
  std::atomic<uint64_t> news_{0};  // batches and ends that came; polled before sleeping
  size_t current_bytes_ = 0;       // of the batch that the worker works on
  uint64_t published_ = 0;         // leader: bytes sent
  uint64_t processed_ = 0;         // worker: bytes done by this rank
  uint64_t reported_ = 0;          // worker: bytes that the parent knows to be done by all from here on down
  bool goodbye_ = false;
  int exit_status_ = 0;
  std::set<int> dead_;
  std::optional<RankFailure> first_failure_;

  Fd epoll_, wake_;
  bool stop_ = false;
  std::chrono::milliseconds tick_;
  Clock::time_point next_tick_;
  std::thread thread_;
};

}  // namespace tilewise::comm
