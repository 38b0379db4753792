// Ranks as MPI processes. Loaded with dlopen; see transports.h for how it is opened.
//
// MPI's tags have 16 to 31 bits, ours 64, so matching is our own. Every message begins with an envelope (tag,
// length) on MPI tag 0. A short message lies in the envelope, within MPI's eager limit. A long one follows in
// parts of at most 1 GiB on an MPI tag that the envelope names; the receiver posts the parts straight into the
// buffer of the matching receive. Envelopes come in order, by MPI's rule, into a ring of posted receives, and are
// matched in order.
//
// Payload tags come round again, and MPI matches equal tags in order. So before a payload is received, those with
// its tag that were sent earlier and have no receive yet are fetched into memory of our own (only after 2^31
// messages, with Open MPI). No MPI call is made while nothing is posted; all are made under one lock, and none of
// them blocks.
#pragma once

#include <mpi.h>
#include <sys/types.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "comm/match_table.h"
#include "comm/mpi/bells.h"
#include "comm/mpi/session.h"
#include "comm/transports.h"

namespace tilewise::comm {

class MpiTransport : public Transport {
 public:
  explicit MpiTransport(const MpiOptions& options);
  ~MpiTransport() override;

  int rank() const override { return session_.rank; }
  int size() const override { return session_.size; }
  uint32_t capabilities() const override;
  const char* name() const override { return "mpi"; }
  std::string description() const override;

  Request isend(int peer, uint64_t tag, BufferView data, StreamHandle stream) override;
  Request irecv(int peer, uint64_t tag, BufferView data, StreamHandle stream) override;
  void progress() override;
  void abort(const std::string& reason) override;
  void shutdown() override;

 private:
  using RequestPtr = std::shared_ptr<Request::State>;

  struct Envelope {
    uint64_t tag = 0;
    uint64_t bytes = 0;
    int64_t payload_tag = 0;  // 0: the message lies behind the envelope
  };
  // Open MPI's shared memory sends up to 4,096 bytes eagerly, its own header included.
  static constexpr size_t kSlotBytes = 4000;
  static constexpr size_t kShortBytes = kSlotBytes - sizeof(Envelope);
  static constexpr size_t kRingSlots = 32;
  static constexpr size_t kPartBytes = size_t{1} << 30;
  using Slot = std::array<char, kSlotBytes>;

  struct Posted {
    BufferView data;
    RequestPtr request;
  };
  // One of our transfers while MPI works on it: over when all its parts are.
  struct Transfer {
    RequestPtr request;  // null while fetched ahead of its receive
    size_t bytes = 0;
    int open_parts = 0;
    int peer = -1;
    std::string error;
    std::unique_ptr<Slot> envelope;  // of a send
    std::unique_ptr<char[]> memory;  // of a message fetched ahead, or one too long for its receive
    BufferView copy_to;              // where a message fetched ahead goes in the end
  };
  // A message without a receive.
  struct Arrived {
    Envelope envelope;
    std::vector<char> payload;          // of a short message
    std::shared_ptr<Transfer> fetched;  // of a long message that was fetched ahead
  };
  using ArrivedPtr = std::shared_ptr<Arrived>;
  // What MPI may still write to or read from: never freed before an orderly end.
  struct State {
    std::vector<MPI_Request> requests;                 // parts in flight,
    std::vector<std::shared_ptr<Transfer>> transfers;  // and whose they are
    std::array<Slot, kRingSlots> ring;
    std::array<MPI_Request, kRingSlots> ring_requests;
    size_t ring_head = 0;
  };

  void check_post(int peer, const BufferView& data) const;
  void begin_send(int peer, uint64_t tag, BufferView data, const RequestPtr& request);
  void match(int peer, const ArrivedPtr& message, const Posted& receive);
  void fetch_earlier(int peer, const ArrivedPtr& message);
  std::shared_ptr<Transfer> fetch(int peer, size_t bytes, int64_t payload_tag, char* to);
  void add_part(const std::shared_ptr<Transfer>& transfer, MPI_Request request, int code, const char* call);
  void end_part(Transfer& transfer);
  void finish(Transfer& transfer);
  void post_ring_slot(size_t slot);
  void drain_ring();
  void handle_envelope(const char* data, int from);
  void test_parts();
  void update_active();
  std::unique_ptr<Slot> take_slot();
  void flush_before_end();
  // MPI has something new for this peer: it may be asleep.
  void wake(int peer) {
    if (Doorbell::Words* bell = bells_[static_cast<size_t>(peer)]) Doorbell::ring(*bell);
  }

  const pid_t owner_;
  MpiSession session_;
  std::vector<Doorbell::Words*> bells_;  // by rank; null on other hosts
  std::unique_ptr<Transport> self_;  // messages to oneself never reach MPI
  uint64_t payload_tags_ = 0;        // how many MPI tags payloads may use

  std::mutex mutex_;               // all below, and every MPI call
  std::atomic<size_t> active_{0};  // receives, sends and parts that await something
  std::string aborted_;
  bool shut_down_ = false;
  State* state_;
  MatchTable<Posted> posted_;
  MatchTable<ArrivedPtr> arrived_;
  MatchTable<ArrivedPtr> unfetched_;     // long messages again, by (peer, payload tag)
  std::vector<uint64_t> payloads_sent_;  // to each peer
  std::vector<std::unique_ptr<Slot>> free_slots_;
  std::vector<int> finished_;  // of test_parts, kept for their memory
  std::vector<MPI_Status> statuses_;
};

}  // namespace tilewise::comm
