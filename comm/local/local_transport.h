// Ranks as threads of one process: a message is a copy from the sender's memory to the receiver's.
//
// Each rank has a mailbox under its own lock. A short message that comes before its receive is copied into the
// mailbox and its send is done; a long one leaves a reference to the sender's buffer and its send is done once the
// receive has copied. Copies run outside the locks.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "comm/match_table.h"
#include "comm/transport.h"

namespace tilewise::comm {

using RequestPtr = std::shared_ptr<Request::State>;

struct LocalMailbox {
  struct Posted {
    BufferView data;
    RequestPtr request;
  };
  struct Arrived {
    std::vector<char> copy;  // a short message
    BufferView data;         // a long one: the sender's buffer, with
    RequestPtr sender;       // the send to complete; null for a short one
    int from = 0;
  };

  std::mutex mutex;
  std::string aborted;  // the reason, once this rank has aborted
  MatchTable<Posted> posted;
  MatchTable<Arrived> arrived;
  Doorbell* doorbell = nullptr;  // null once the rank's transport is gone
};

// Shared by all ranks' ends, so that one end may go before the others.
struct LocalHub {
  explicit LocalHub(int size) : boxes(static_cast<size_t>(size)) {}
  std::vector<LocalMailbox> boxes;
};

class LocalTransport : public Transport {
 public:
  LocalTransport(std::shared_ptr<LocalHub> hub, int rank);
  ~LocalTransport() override;

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(hub_->boxes.size()); }
  uint32_t capabilities() const override { return kHostMemory | kAnyThread; }
  const char* name() const override { return "local"; }

  Request isend(int peer, uint64_t tag, BufferView data, StreamHandle stream) override;
  Request irecv(int peer, uint64_t tag, BufferView data, StreamHandle stream) override;
  void progress() override {}
  void abort(const std::string& reason) override;

 private:
  LocalMailbox& box(int rank) { return hub_->boxes[static_cast<size_t>(rank)]; }
  std::string abort_reason();  // empty while not aborted
  void withdraw(int peer, const std::string& reason);
  void ring(int rank);

  std::shared_ptr<LocalHub> hub_;
  const int rank_;
};

}  // namespace tilewise::comm
