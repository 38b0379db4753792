// What the program's threads call; the control thread's side is in control/channel.cpp.
#include "comm/control.h"

#include <unistd.h>

#include "comm/control/channel.h"
#include "runtime/base/error.h"
#include "runtime/base/park.h"

namespace tilewise::comm {

std::string RankFailure::text() const { return str("rank ", rank, " on ", host, " failed: ", reason); }

// ---- The stream
// ---------------------------------------------------------------------------------------------------

void ControlChannel::Impl::publish(std::string_view batch) {
  TW_CHECK(tree.rank == 0, "only the leader publishes");
  FrameHeader header;
  header.type = FrameType::kBatch;
  const Frame frame = make_frame(header, batch);
  std::unique_lock<std::mutex> lock(mutex_);
  TW_CHECK(!goodbye_, "a batch after goodbye");
  changed_.wait(lock, [&] { return first_failure_ || has_credit(); });
  throw_if_failed();
  published_ += frame->size();
  send_below(frame);
}

bool ControlChannel::Impl::wait_for_credit(std::chrono::milliseconds limit) {
  TW_CHECK(tree.rank == 0, "only the leader needs credit");
  std::unique_lock<std::mutex> lock(mutex_);
  const bool came = changed_.wait_for(lock, limit, [&] { return first_failure_ || has_credit(); });
  throw_if_failed();
  return came;
}

void ControlChannel::Impl::goodbye(int status) {
  TW_CHECK(tree.rank == 0, "only the leader says goodbye");
  FrameHeader header;
  header.type = FrameType::kGoodbye;
  header.kind = static_cast<uint32_t>(status);
  std::lock_guard<std::mutex> lock(mutex_);
  if (goodbye_) return;
  goodbye_ = true;
  exit_status_ = status;
  send_below(make_frame(header));
}

std::optional<Batch> ControlChannel::Impl::next_batch() {
  TW_CHECK(tree.rank != 0, "the leader takes no batches");
  std::unique_lock<std::mutex> lock(mutex_);
  processed_ += std::exchange(current_bytes_, 0);
  report_processed();
  const auto ready = [&] { return first_failure_ || !batches_.empty() || goodbye_; };
  if (!ready()) {
    // The next batch is often near: a short poll saves a sleep and a wake-up.
    const uint64_t seen = news_.load(std::memory_order_acquire);
    lock.unlock();
    for (Poll poll; news_.load(std::memory_order_acquire) == seen && poll.again();) {
    }
    lock.lock();
    changed_.wait(lock, ready);
  }
  throw_if_failed();
  if (batches_.empty()) return std::nullopt;
  Frame frame = std::move(batches_.front());
  batches_.pop_front();
  current_bytes_ = frame->size();
  return Batch(std::move(frame), sizeof(FrameHeader));
}

void ControlChannel::Impl::throw_if_failed() const {
  if (first_failure_) throw Error(ErrorKind::kRuntime, first_failure_->text());
}

// ---- Messages
// -----------------------------------------------------------------------------------------------------

void ControlChannel::Impl::send(int to, FrameType type, uint32_t kind, std::string_view bytes) {
  TW_CHECK(to == kEveryone || (to >= 0 && to < tree.size && to != tree.rank), "a message to rank ", to, " of ",
           tree.size);
  FrameHeader header;
  header.type = type;
  header.kind = kind;
  header.from = tree.rank;
  header.to = to;
  const Frame frame = make_frame(header, bytes);
  std::lock_guard<std::mutex> lock(mutex_);
  if (to == kEveryone) {
    send_to_all_but(nullptr, frame);
  } else if (Link* next = link_to(to)) {
    send_on(*next, frame);
  }
}

void ControlChannel::Impl::fail(const std::string& reason) {
  FrameHeader header;
  header.type = FrameType::kFailure;
  header.from = tree.rank;
  const RankFailure failure{tree.rank, hosts[static_cast<size_t>(tree.rank)], reason};
  std::lock_guard<std::mutex> lock(mutex_);
  // Who stops because another rank died has no news.
  if (first_failure_ || !dead_.insert(tree.rank).second) return;
  first_failure_ = failure;
  send_to_all_but(nullptr, make_frame(header, failure.host + "\n" + reason));
  news_.fetch_add(1, std::memory_order_release);
  changed_.notify_all();
}

// ---- The end
// ------------------------------------------------------------------------------------------------------

bool ControlChannel::Impl::all_below_left() const {
  for (const Link& link : links_)
    if (is_child(link) && !link.farewell_came) return false;
  return true;
}

bool ControlChannel::Impl::leave(std::chrono::milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  std::unique_lock<std::mutex> lock(mutex_);
  if (links_.empty()) return true;
  changed_.wait_until(lock, deadline, [&] { return first_failure_ || all_below_left(); });
  const bool well = !first_failure_ && all_below_left() && goodbye_;
  if (!well || tree.rank == 0) return well;

  FrameHeader header;
  header.type = FrameType::kFarewell;
  header.from = tree.rank;
  Link& parent = links_.front();
  send_on(parent, make_frame(header));
  parent.farewell_sent = true;
  parent.finish_writing();
  return changed_.wait_until(lock, deadline, [&] { return !parent.open(); });
}

// ---- The public face
// ----------------------------------------------------------------------------------------------

ControlChannel::ControlChannel(ControlOptions options, ControlHandlers handlers)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(handlers))) {}

ControlChannel::~ControlChannel() {
  // In a forked child there is no control thread to join, and the locks may be held for ever.
  if (impl_->owner != getpid()) [[maybe_unused]]
    Impl* leaked = impl_.release();
}

void ControlChannel::publish(std::string_view batch) { impl_->publish(batch); }
bool ControlChannel::wait_for_credit(std::chrono::milliseconds limit) { return impl_->wait_for_credit(limit); }
void ControlChannel::goodbye(int status) { impl_->goodbye(status); }
std::optional<Batch> ControlChannel::next_batch() { return impl_->next_batch(); }
int ControlChannel::exit_status() const { return impl_->exit_status(); }

void ControlChannel::send(int to, uint32_t kind, std::string_view bytes) {
  impl_->send(to, FrameType::kMessage, kind, bytes);
}
void ControlChannel::broadcast(uint32_t kind, std::string_view bytes) {
  impl_->send(kEveryone, FrameType::kMessage, kind, bytes);
}
void ControlChannel::notify(int to) { impl_->send(to, FrameType::kNotice, 0, {}); }

void ControlChannel::fail(const std::string& reason) { impl_->fail(reason); }
std::optional<RankFailure> ControlChannel::first_failure() const { return impl_->first_failure(); }
bool ControlChannel::leave(std::chrono::milliseconds limit) { return impl_->leave(limit); }

const std::string& ControlChannel::host(int rank) const { return impl_->hosts[static_cast<size_t>(rank)]; }

const std::string& ControlChannel::card(int rank) const { return impl_->cards[static_cast<size_t>(rank)]; }

std::vector<int> ControlChannel::ranks_on_host() const { return ranks_on_host_of(impl_->options.rank); }

std::vector<int> ControlChannel::ranks_on_host_of(int of) const {
  std::vector<int> ranks;
  for (int rank = 0; rank < impl_->options.size; ++rank)
    if (impl_->host_ids[static_cast<size_t>(rank)] == impl_->host_ids[static_cast<size_t>(of)])
      ranks.push_back(rank);
  return ranks;
}

}  // namespace tilewise::comm
