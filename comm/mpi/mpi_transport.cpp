#include "comm/mpi/mpi_transport.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "runtime/base/error.h"

namespace tilewise::comm {

namespace {
constexpr int kEnvelopeTag = 0;
constexpr size_t kMostFreeSlots = 256;
constexpr std::chrono::seconds kFlushAtMost{20};
}  // namespace

MpiTransport::MpiTransport(const MpiOptions& options)
    : owner_(getpid()),
      session_(open_session(options.program_calls_mpi)),
      bells_(share_bells(session_.comm)),
      state_(new State) {
  if (Doorbell::Words* own = bells_[static_cast<size_t>(session_.rank)]) doorbell().share(own);
  self_ = std::move(make_local(1)[0]);
  payload_tags_ = static_cast<uint64_t>(session_.largest_tag);
  if (options.most_tags > 0) payload_tags_ = std::min(payload_tags_, static_cast<uint64_t>(options.most_tags));
  payloads_sent_.resize(static_cast<size_t>(session_.size));
  for (size_t slot = 0; slot < kRingSlots; ++slot) post_ring_slot(slot);
}

MpiTransport::~MpiTransport() {
  // In a forked child the lock may be held for ever, by a thread that the child does not have.
  if (getpid() == owner_) abort("the transport was closed");
  // Without an orderly end MPI may still hold our memory, and finalising could wait for the dead: both are left as
  // they are.
  if (shut_down_) delete state_;
}

uint32_t MpiTransport::capabilities() const {
  const bool any_thread = session_.thread_level >= MPI_THREAD_SERIALIZED;
  return any_thread ? kHostMemory | kAnyThread : kHostMemory;
}

std::string MpiTransport::description() const {
  char text[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  // Open MPI goes on with how it was built, MPICH with its compilers.
  return std::string(text).substr(0, std::string_view(text).find_first_of(",\n"));
}

void MpiTransport::check_post(int peer, const BufferView& data) const {
  TW_CHECK(peer >= 0 && peer < session_.size, "peer ", peer, " of ", session_.size);
  TW_CHECK(data.kind != MemoryKind::kDevice, "the MPI transport moves host memory only");
}

// ---- Posting
// ------------------------------------------------------------------------------------------------------

Request MpiTransport::isend(int peer, uint64_t tag, BufferView data, StreamHandle) {
  check_post(peer, data);
  if (peer == session_.rank) {
    Request request = self_->isend(0, tag, data);
    doorbell().ring();
    return request;
  }
  const auto request = std::make_shared<Request::State>();
  std::lock_guard<std::mutex> lock(mutex_);
  if (!aborted_.empty()) {
    request->fail(aborted_);
  } else {
    begin_send(peer, tag, data, request);
  }
  update_active();
  return Request(request);
}

Request MpiTransport::irecv(int peer, uint64_t tag, BufferView data, StreamHandle) {
  check_post(peer, data);
  if (peer == session_.rank) {
    Request request = self_->irecv(0, tag, data);
    doorbell().ring();
    return request;
  }
  const auto request = std::make_shared<Request::State>();
  std::lock_guard<std::mutex> lock(mutex_);
  if (!aborted_.empty()) {
    request->fail(aborted_);
  } else if (const auto message = arrived_.take(peer, tag)) {
    match(peer, *message, {data, request});
  } else {
    posted_.add(peer, tag, {data, request});
  }
  update_active();
  return Request(request);
}

void MpiTransport::begin_send(int peer, uint64_t tag, BufferView data, const RequestPtr& request) {
  Envelope envelope{tag, data.bytes, 0};
  const bool is_short = data.bytes <= kShortBytes;
  if (!is_short)
    envelope.payload_tag = static_cast<int64_t>(1 + payloads_sent_[static_cast<size_t>(peer)]++ % payload_tags_);

  std::unique_ptr<Slot> slot = take_slot();
  std::memcpy(slot->data(), &envelope, sizeof envelope);
  if (is_short && data.bytes != 0) std::memcpy(slot->data() + sizeof envelope, data.data, data.bytes);
  const size_t slot_bytes = sizeof envelope + (is_short ? data.bytes : 0);
  MPI_Request part = MPI_REQUEST_NULL;
  int code =
      MPI_Isend(slot->data(), static_cast<int>(slot_bytes), MPI_BYTE, peer, kEnvelopeTag, session_.comm, &part);
  int done = 0;
  if (code == MPI_SUCCESS && is_short) code = MPI_Test(&part, &done, MPI_STATUS_IGNORE);
  if (is_short) wake(peer);
  if (done) {
    request->complete(data.bytes);
    if (free_slots_.size() < kMostFreeSlots) free_slots_.push_back(std::move(slot));
    return;
  }
  const auto transfer = std::make_shared<Transfer>();
  transfer->request = request;
  transfer->bytes = data.bytes;
  transfer->peer = peer;
  transfer->envelope = std::move(slot);
  ++transfer->open_parts;  // held open until all parts are posted
  add_part(transfer, part, code, "MPI_Isend");
  for (size_t at = 0; !is_short && at < data.bytes; at += kPartBytes) {
    const int count = static_cast<int>(std::min(kPartBytes, data.bytes - at));
    code = MPI_Isend(static_cast<char*>(data.data) + at, count, MPI_BYTE, peer,
                     static_cast<int>(envelope.payload_tag), session_.comm, &part);
    add_part(transfer, part, code, "MPI_Isend");
  }
  if (!is_short) wake(peer);
  if (!is_short && !bells_[static_cast<size_t>(peer)] && notifier_) notifier_(peer);
  end_part(*transfer);
}

// A message and its receive have met.
void MpiTransport::match(int peer, const ArrivedPtr& message, const Posted& receive) {
  const size_t bytes = message->envelope.bytes;
  const bool fits = bytes <= receive.data.bytes;
  std::string error;
  if (!fits)
    error =
        str("a message of ", bytes, " bytes from rank ", peer, " met a receive of ", receive.data.bytes, " bytes");
  if (message->envelope.payload_tag == 0) {
    if (fits && bytes != 0) std::memcpy(receive.data.data, message->payload.data(), bytes);
    fits ? receive.request->complete(bytes) : receive.request->fail(error);
    return;
  }
  std::shared_ptr<Transfer> transfer = message->fetched;
  if (transfer) {
    transfer->copy_to = receive.data;
  } else {
    // What does not fit must be received all the same, or it would stay in the way of later messages.
    fetch_earlier(peer, message);
    std::unique_ptr<char[]> discarded(fits ? nullptr : new char[bytes]);
    transfer = fetch(peer, bytes, message->envelope.payload_tag,
                     fits ? static_cast<char*>(receive.data.data) : discarded.get());
    transfer->memory = std::move(discarded);
  }
  if (!fits) transfer->error = error;
  transfer->request = receive.request;
  if (transfer->open_parts == 0) finish(*transfer);
}

// Takes `message` off the list of unfetched ones, and begins to fetch those before it that have the same payload
// tag.
void MpiTransport::fetch_earlier(int peer, const ArrivedPtr& message) {
  const auto tag = static_cast<uint64_t>(message->envelope.payload_tag);
  while (const auto earlier = unfetched_.take(peer, tag)) {
    if (*earlier == message) return;
    std::unique_ptr<char[]> memory(new char[(*earlier)->envelope.bytes]);
    (*earlier)->fetched = fetch(peer, (*earlier)->envelope.bytes, message->envelope.payload_tag, memory.get());
    (*earlier)->fetched->memory = std::move(memory);
  }
}

std::shared_ptr<MpiTransport::Transfer> MpiTransport::fetch(int peer, size_t bytes, int64_t payload_tag,
                                                            char* to) {
  const auto transfer = std::make_shared<Transfer>();
  transfer->bytes = bytes;
  transfer->peer = peer;
  for (size_t at = 0; at < bytes; at += kPartBytes) {
    const int count = static_cast<int>(std::min(kPartBytes, bytes - at));
    MPI_Request part = MPI_REQUEST_NULL;
    const int code =
        MPI_Irecv(to + at, count, MPI_BYTE, peer, static_cast<int>(payload_tag), session_.comm, &part);
    add_part(transfer, part, code, "MPI_Irecv");
  }
  wake(peer);  // the sender's turn
  return transfer;
}

void MpiTransport::add_part(const std::shared_ptr<Transfer>& transfer, MPI_Request request, int code,
                            const char* call) {
  if (code != MPI_SUCCESS) {
    transfer->error = str(mpi_error(code, call), " (with rank ", transfer->peer, ")");
    return;
  }
  ++transfer->open_parts;
  state_->requests.push_back(request);
  state_->transfers.push_back(transfer);
}

void MpiTransport::end_part(Transfer& transfer) {
  if (--transfer.open_parts == 0 && transfer.request) finish(transfer);
}

void MpiTransport::finish(Transfer& transfer) {
  if (transfer.envelope && free_slots_.size() < kMostFreeSlots)
    free_slots_.push_back(std::move(transfer.envelope));
  if (!transfer.error.empty()) {
    transfer.request->fail(transfer.error);
    return;
  }
  if (transfer.copy_to.data) std::memcpy(transfer.copy_to.data, transfer.memory.get(), transfer.bytes);
  transfer.request->complete(transfer.bytes);
}

std::unique_ptr<MpiTransport::Slot> MpiTransport::take_slot() {
  if (free_slots_.empty()) return std::unique_ptr<Slot>(new Slot);
  std::unique_ptr<Slot> slot = std::move(free_slots_.back());
  free_slots_.pop_back();
  return slot;
}

// ---- Progress
// -----------------------------------------------------------------------------------------------------

void MpiTransport::progress() {
  if (active_.load(std::memory_order_relaxed) == 0) return;
  std::string failure;
  {
    // Whoever holds the lock is making progress for us.
    std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock() || !aborted_.empty() || shut_down_) return;
    try {
      drain_ring();
      test_parts();
      update_active();
    } catch (const Error& error) {
      failure = error.what();
    }
  }
  if (!failure.empty()) abort(failure);  // MPI itself has failed: nothing more can arrive
}

void MpiTransport::update_active() {
  active_.store(posted_.size() + state_->requests.size(), std::memory_order_relaxed);
}

void MpiTransport::post_ring_slot(size_t slot) {
  check_mpi(MPI_Irecv(state_->ring[slot].data(), static_cast<int>(kSlotBytes), MPI_BYTE, MPI_ANY_SOURCE,
                      kEnvelopeTag, session_.comm, &state_->ring_requests[slot]),
            "MPI_Irecv");
}

// MPI fills posted receives in the order of posting, so the ring's head is always the oldest envelope.
void MpiTransport::drain_ring() {
  while (true) {
    const size_t head = state_->ring_head;
    int done = 0;
    MPI_Status status;
    check_mpi(MPI_Test(&state_->ring_requests[head], &done, &status), "MPI_Test");
    if (!done) return;
    handle_envelope(state_->ring[head].data(), status.MPI_SOURCE);
    post_ring_slot(head);
    state_->ring_head = (head + 1) % kRingSlots;
  }
}

void MpiTransport::handle_envelope(const char* data, int from) {
  Envelope envelope;
  std::memcpy(&envelope, data, sizeof envelope);
  const char* payload = data + sizeof envelope;
  const bool is_short = envelope.payload_tag == 0;
  const auto receive = posted_.take(from, envelope.tag);
  if (receive && is_short && envelope.bytes <= receive->data.bytes) {  // the common case, without a detour
    if (envelope.bytes != 0) std::memcpy(receive->data.data, payload, envelope.bytes);
    receive->request->complete(envelope.bytes);
    return;
  }
  const auto message = std::make_shared<Arrived>();
  message->envelope = envelope;
  if (is_short) {
    message->payload.assign(payload, payload + envelope.bytes);
  } else {
    unfetched_.add(from, static_cast<uint64_t>(envelope.payload_tag), message);
  }
  if (receive) {
    match(from, message, *receive);
  } else {
    arrived_.add(from, envelope.tag, message);
  }
}

void MpiTransport::test_parts() {
  std::vector<MPI_Request>& requests = state_->requests;
  std::vector<std::shared_ptr<Transfer>>& transfers = state_->transfers;
  if (requests.empty()) return;
  std::vector<int>& finished = finished_;
  std::vector<MPI_Status>& statuses = statuses_;
  if (finished.size() < requests.size()) finished.resize(requests.size()), statuses.resize(requests.size());
  int count = 0;
  const int code =
      MPI_Testsome(static_cast<int>(requests.size()), requests.data(), &count, finished.data(), statuses.data());
  if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) check_mpi(code, "MPI_Testsome");
  if (count == MPI_UNDEFINED || count == 0) return;
  for (int i = 0; i < count; ++i) {
    Transfer& transfer = *transfers[static_cast<size_t>(finished[static_cast<size_t>(i)])];
    const int error = code == MPI_ERR_IN_STATUS ? statuses[static_cast<size_t>(i)].MPI_ERROR : MPI_SUCCESS;
    if (error != MPI_SUCCESS)
      transfer.error = str(mpi_error(error, "MPI_Testsome"), " (with rank ", transfer.peer, ")");
    wake(transfer.peer);  // the other side may be done, too
    end_part(transfer);
  }
  // Close the gaps: finished requests have become null.
  size_t kept = 0;
  for (size_t i = 0; i < requests.size(); ++i) {
    if (requests[i] == MPI_REQUEST_NULL) continue;
    requests[kept] = requests[i];
    if (kept != i) transfers[kept] = std::move(transfers[i]);
    ++kept;
  }
  requests.resize(kept);
  transfers.resize(kept);
}

// ---- The end
// ------------------------------------------------------------------------------------------------------

void MpiTransport::abort(const std::string& why) {
  const std::string reason = why.empty() ? "the transport was aborted" : why;
  self_->abort(reason);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!aborted_.empty()) return;
    aborted_ = reason;
    posted_.take_if([](const Posted&) { return true; }, [&](Posted& receive) { receive.request->fail(reason); });
    for (const auto& transfer : state_->transfers)
      if (transfer->request && !transfer->request->done) transfer->request->fail(reason);
    active_ = 0;
  }
  doorbell().ring();
}

void MpiTransport::shutdown() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (shut_down_ || !aborted_.empty()) return;
  }
  flush_before_end();
  std::lock_guard<std::mutex> lock(mutex_);
  if (!aborted_.empty()) return;
  for (MPI_Request& request : state_->ring_requests) {
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);  // ends at once: cancelled, nobody sends any more
  }
  shut_down_ = true;
  close_session(session_);
}

// Waits, without a blocking MPI call, until all that was sent has arrived and every rank has come here.
void MpiTransport::flush_before_end() {
  const auto give_up = std::chrono::steady_clock::now() + kFlushAtMost;
  const auto wait_for = [&](auto&& reached) {
    wait_until(doorbell(), [&] {
      if (std::chrono::steady_clock::now() > give_up) abort("the other ranks did not end within 20 s of this one");
      std::lock_guard<std::mutex> lock(mutex_);
      return !aborted_.empty() || reached();
    });
  };
  wait_for([&] {
    drain_ring();
    test_parts();
    return state_->requests.empty();
  });
  MPI_Request barrier = MPI_REQUEST_NULL;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!aborted_.empty()) return;
    check_mpi(MPI_Ibarrier(session_.comm, &barrier), "MPI_Ibarrier");
  }
  wait_for([&] {
    int done = 0;
    drain_ring();
    check_mpi(MPI_Test(&barrier, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
  });
}

}  // namespace tilewise::comm

// The one way in. Not an exception across the border of two libraries: the text of the error is handed over
// instead.
extern "C" __attribute__((visibility("default"))) tilewise::comm::Transport* tilewise_mpi_open(
    const tilewise::comm::MpiOptions* options, std::string* error) {
  try {
    return new tilewise::comm::MpiTransport(*options);
  } catch (const std::exception& failure) {
    *error = failure.what();
    return nullptr;
  }
}
