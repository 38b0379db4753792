// Bytes from rank to rank: the seam behind which local memory, MPI, UCX and NCCL stand.
//
// A message goes to the receive that its peer posted with the same tag; among equal (peer, tag) the order of
// posting counts, between different ones there is no order. Tags are any 64 bits. A message may have 0 bytes or
// more than 2^31, may be sent before its receive is posted, and thousands may be in flight. Sending to oneself
// works.
//
// Nothing here blocks. A transfer advances only inside calls on its transport (a sender too may have to be tested
// until the receiver has posted). All calls may come from any thread unless kAnyThread is missing. The caller
// keeps a buffer alive and untouched until its request is done; after abort() until the process ends or the
// transport is destroyed.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "comm/doorbell.h"
#include "runtime/base/buffer_view.h"

namespace tilewise::comm {

enum Capability : uint32_t {
  kHostMemory = 1,    // kHost and kPinned buffers
  kDeviceMemory = 2,  // kDevice buffers, without staging by the caller
  kStreamOrder = 4,   // honours the stream argument; without it a buffer must be ready when posted
  kAnyThread = 8,     // without it, only the thread that opened the transport may call it
};

// A posted transfer. Copies refer to the same transfer; an empty request counts as done.
class Request {
 public:
  struct State {
    std::atomic<bool> done{false};  // set last, after the two fields below
    size_t bytes = 0;
    std::string error;  // empty: it went well

    void complete(size_t moved) { bytes = moved, done.store(true, std::memory_order_release); }
    void fail(std::string reason) { error = std::move(reason), done.store(true, std::memory_order_release); }
  };

  Request() = default;
  explicit Request(std::shared_ptr<State> state) : state_(std::move(state)) {}

  // Over, well or not. Cheap; drives nothing.
  bool done() const { return !state_ || state_->done.load(std::memory_order_acquire); }
  bool failed() const { return done() && state_ && !state_->error.empty(); }
  // Bytes that came, which may be fewer than a receive's buffer holds. Valid once done.
  size_t bytes() const { return state_ ? state_->bytes : 0; }
  // Throws Error(kRuntime) with the reason when the transfer failed.
  void check() const;

 private:
  std::shared_ptr<State> state_;
};

class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;  // frees what it can; for an orderly end call shutdown() first

  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual uint32_t capabilities() const = 0;                  // bits of Capability
  virtual const char* name() const = 0;                       // "local", "mpi", ...
  virtual std::string description() const { return name(); }  // with the library's own name and version

  // Post a transfer. A receive's buffer must be as long as the message or longer; a longer message fails the
  // receive.
  virtual Request isend(int peer, uint64_t tag, BufferView data, StreamHandle stream = {}) = 0;
  virtual Request irecv(int peer, uint64_t tag, BufferView data, StreamHandle stream = {}) = 0;

  // Brackets around the posts of one exchange step, which some transports issue as a whole. They do not nest.
  virtual void begin_group() {}
  virtual void end_group() {}

  // Moves every posted transfer on as far as it goes without waiting. Costs nothing while none is posted.
  virtual void progress() = 0;

  // Fails whatever is posted here, and all later posts, with this reason. Peers are not told. Idempotent; the
  // first reason stays.
  virtual void abort(const std::string& reason) = 0;

  // Orderly end, called by every rank once its requests are done: flushes what was buffered. Idempotent.
  virtual void shutdown() {}

  // True when the request is done; drives the transport otherwise. Throws Error(kRuntime) when it failed.
  bool test(Request& request);

  // Rung when something may have moved: by the transport where it can know, by the control channel's notices.
  Doorbell& doorbell() { return doorbell_; }

  // Called for each large message to a peer whose bell the transport itself cannot ring: another road may. It must not
  // block. Set before transfers are posted.
  void set_notifier(std::function<void(int peer)> notifier) { notifier_ = std::move(notifier); }

 protected:
  std::function<void(int peer)> notifier_;

 private:
  Doorbell doorbell_;
};

// Wait without burning a core (see Backoff). Throw Error(kRuntime) when a transfer failed, the group only after
// all are over.
void wait(Transport& transport, Request& request);
void wait_all(Transport& transport, std::span<Request> requests);

}  // namespace tilewise::comm
