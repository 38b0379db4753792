// The control channel of a job: all that its ranks tell each other apart from bulk data.
//
// The ranks form a tree of sockets, rank 0 (the leader) at its root: Unix sockets within a host, TCP between
// hosts. Batches of the stream go down it, small messages from any rank to any rank along it, and news of a death
// floods it. One thread, asleep in epoll, reads, forwards and sends signs of life, so a rank whose program
// computes or holds Python's lock is not taken for dead. All members may be called from any thread. Handlers run
// in the control thread, one at a time: they must not block, may call send, broadcast, notify and fail, and may be
// called before the constructor returns.
//
// What a death means is the owner's decision: the channel tells every rank (on_failure), ends the waits of
// publish, next_batch and leave, and goes on among those who can still reach each other. After fork the child must
// not use or destroy it; its sockets there are closed, so that the child does not keep a dead rank looking alive.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "comm/bootstrap.h"
#include "comm/doorbell.h"

namespace tilewise::comm {

struct RankFailure {
  int rank = -1;
  std::string host;
  std::string reason;
  std::string text() const;  // "rank 2 on node7 failed: its connection closed"
};

struct ControlOptions {
  int rank = 0;
  int size = 1;
  Exchange exchange;                                // called twice, to find each other
  std::chrono::milliseconds timeout{60'000};        // silence after which a rank is taken for dead
  std::chrono::milliseconds connect_limit{60'000};  // for the tree to stand
  size_t credit_bytes = size_t{1} << 20;       // the leader runs ahead of the slowest worker by about this much
  int fan_out = 8;                             // children of a rank in the tree
  std::string interface = interface_of_job();  // names or subnets for TCP; empty: one that all ranks share
  bool unix_sockets = true;                    // false: TCP within a host too, which tests want
  std::string card;                            // one line that this rank tells all others at the start
  Doorbell* doorbell = nullptr;                // rung for each notice; must outlive the channel
};

struct ControlHandlers {
  std::function<void(int from, uint32_t kind, std::string_view bytes)> on_message;
  std::function<void(const RankFailure& failure)>
      on_failure;  // once for each dead rank; the own rank: taken for dead
};

// A batch as it came; copies share the bytes.
class Batch {
 public:
  Batch(std::shared_ptr<const std::string> frame, size_t start) : frame_(std::move(frame)), start_(start) {}
  std::string_view bytes() const { return std::string_view(*frame_).substr(start_); }

 private:
  std::shared_ptr<const std::string> frame_;
  size_t start_;
};

class ControlChannel {
 public:
  // Returns when the whole neighbourhood is connected. Throws Error(kRuntime) naming who is missing.
  ControlChannel(ControlOptions options, ControlHandlers handlers);
  ~ControlChannel();  // abrupt unless leave() came first: the others will take this rank for dead

  // Leader. Sends a batch to all workers, in the order of the calls. Blocks without spinning while the slowest
  // worker has more than credit_bytes to do; throws Error(kRuntime) once a rank has failed.
  void publish(std::string_view batch);
  // Waits for credit at most `limit`: true when a publish would not block. For callers that must look at signals
  // meanwhile.
  bool wait_for_credit(std::chrono::milliseconds limit);
  // After the last batch: workers get no more, and learn the status to exit with. Does not wait.
  void goodbye(int status);

  // Worker. The next batch; the one before counts as processed. Blocks without spinning. Nothing after goodbye.
  // Throws Error(kRuntime) once a rank has failed.
  std::optional<Batch> next_batch();
  int exit_status() const;  // from the leader's goodbye

  // Any rank to any rank, itself excluded; kinds are the caller's own. Messages of one rank to another keep their
  // order.
  void send(int to, uint32_t kind, std::string_view bytes);
  void broadcast(uint32_t kind, std::string_view bytes);
  void notify(int to);  // rings the other's doorbell: "something large is coming"

  // This rank cannot go on: tells the others why, as their on_failure.
  void fail(const std::string& reason);
  std::optional<RankFailure> first_failure() const;

  // The orderly end, on every rank after goodbye. Waits for the ranks below; true when all of them ended well in
  // time.
  bool leave(std::chrono::milliseconds limit);

  const std::string& host(int rank) const;
  const std::string& card(int rank) const;
  std::vector<int> ranks_on_host() const;  // those that share this host, in order, this one included
  std::vector<int> ranks_on_host_of(int rank) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilewise::comm
