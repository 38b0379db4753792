#include "comm/local/local_transport.h"

#include <cstring>

#include "comm/transports.h"
#include "runtime/base/error.h"

namespace tilewise::comm {

namespace {

// Shorter messages are copied twice rather than keeping their sender waiting.
constexpr size_t kCopyUpTo = 8192;

void copy_bytes(void* to, const void* from, size_t bytes) {
  if (bytes != 0) std::memcpy(to, from, bytes);
}

// Copies a message into a receive's buffer and ends the receive.
void deliver(const LocalMailbox::Posted& posted, const void* data, size_t bytes, int from) {
  if (bytes > posted.data.bytes) {
    posted.request->fail(
        str("a message of ", bytes, " bytes from rank ", from, " met a receive of ", posted.data.bytes, " bytes"));
    return;
  }
  copy_bytes(posted.data.data, data, bytes);
  posted.request->complete(bytes);
}

void check_post(const Transport& transport, int peer, const BufferView& data) {
  TW_CHECK(peer >= 0 && peer < transport.size(), "peer ", peer, " of ", transport.size());
  TW_CHECK(data.kind != MemoryKind::kDevice, "the local transport moves host memory only");
}

}  // namespace

LocalTransport::LocalTransport(std::shared_ptr<LocalHub> hub, int rank) : hub_(std::move(hub)), rank_(rank) {
  box(rank_).doorbell = &doorbell();
}

LocalTransport::~LocalTransport() {
  abort("the transport was closed");
  std::lock_guard<std::mutex> lock(box(rank_).mutex);
  box(rank_).doorbell = nullptr;
}

void LocalTransport::ring(int rank) {
  std::lock_guard<std::mutex> lock(box(rank).mutex);
  if (box(rank).doorbell) box(rank).doorbell->ring();
}

std::string LocalTransport::abort_reason() {
  std::lock_guard<std::mutex> lock(box(rank_).mutex);
  return box(rank_).aborted;
}

void LocalTransport::withdraw(int peer, const std::string& reason) {
  std::lock_guard<std::mutex> lock(box(peer).mutex);
  box(peer).arrived.take_if([&](const auto& message) { return message.sender && message.from == rank_; },
                            [&](auto& message) { message.sender->fail(reason); });
}

Request LocalTransport::isend(int peer, uint64_t tag, BufferView data, StreamHandle) {
  check_post(*this, peer, data);
  const auto request = std::make_shared<Request::State>();
  if (std::string reason = abort_reason(); !reason.empty()) {
    request->fail(std::move(reason));
    return Request(request);
  }
  std::optional<LocalMailbox::Posted> receive;
  {
    std::lock_guard<std::mutex> lock(box(peer).mutex);
    receive = box(peer).posted.take(rank_, tag);
    if (!receive) {
      LocalMailbox::Arrived message;
      message.from = rank_;
      if (data.bytes <= kCopyUpTo) {
        const auto* bytes = static_cast<const char*>(data.data);
        message.copy.assign(bytes, bytes + data.bytes);
        request->complete(data.bytes);
      } else {
        message.data = data;
        message.sender = request;
      }
      box(peer).arrived.add(rank_, tag, std::move(message));
    }
  }
  if (receive) {
    deliver(*receive, data.data, data.bytes, rank_);
    request->complete(data.bytes);
  } else if (std::string reason = abort_reason(); !reason.empty()) {
    withdraw(peer, reason);  // an abort that ran since the first look did not see this message
  }
  ring(peer);
  return Request(request);
}

Request LocalTransport::irecv(int peer, uint64_t tag, BufferView data, StreamHandle) {
  check_post(*this, peer, data);
  const auto request = std::make_shared<Request::State>();
  std::optional<LocalMailbox::Arrived> message;
  {
    LocalMailbox& mine = box(rank_);
    std::lock_guard<std::mutex> lock(mine.mutex);
    if (!mine.aborted.empty()) {
      request->fail(mine.aborted);
      return Request(request);
    }
    message = mine.arrived.take(peer, tag);
    if (!message) mine.posted.add(peer, tag, {data, request});
  }
  if (!message) return Request(request);
  if (message->sender) {
    deliver({data, request}, message->data.data, message->data.bytes, peer);
    message->sender->complete(message->data.bytes);
    ring(peer);
  } else {
    deliver({data, request}, message->copy.data(), message->copy.size(), peer);
  }
  return Request(request);
}

void LocalTransport::abort(const std::string& why) {
  const std::string reason = why.empty() ? "the transport was aborted" : why;
  {
    LocalMailbox& mine = box(rank_);
    std::lock_guard<std::mutex> lock(mine.mutex);
    if (!mine.aborted.empty()) return;
    mine.aborted = reason;
    mine.posted.take_if([](const auto&) { return true; }, [&](auto& receive) { receive.request->fail(reason); });
  }
  // Long messages still lie by reference in the peers' mailboxes: after this the caller may free them.
  for (int peer = 0; peer < size(); ++peer) withdraw(peer, reason);
  doorbell().ring();
}

std::vector<std::unique_ptr<Transport>> make_local(int size) {
  TW_CHECK(size >= 1, "a job has at least one rank");
  const auto hub = std::make_shared<LocalHub>(size);
  std::vector<std::unique_ptr<Transport>> ends;
  for (int rank = 0; rank < size; ++rank) ends.push_back(std::make_unique<LocalTransport>(hub, rank));
  return ends;
}

}  // namespace tilewise::comm
