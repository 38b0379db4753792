// The control thread: reads, forwards, answers, and notices who has gone silent.
#include "comm/control/channel.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "runtime/base/error.h"

namespace tilewise::comm {

namespace {

constexpr std::chrono::milliseconds kShortestTick{5}, kLongestTick{1000};
// Signs of life in a quiet time: several within the silence that counts as death, and not more often than needed.
constexpr std::chrono::milliseconds kLongestQuiet{5000};

std::string with_host(const std::string& host, const std::string& reason) { return host + "\n" + reason; }

// A thread that takes none of the program's signals.
std::thread start_quiet_thread(std::function<void()> body) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::move(body));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_setname_np(thread.native_handle(), "tw-control");
  return thread;
}

}  // namespace

ControlChannel::Impl::Impl(ControlOptions given, ControlHandlers handlers)
    : options(std::move(given)),
      tree{options.rank, options.size, options.fan_out},
      owner(getpid()),
      handlers_(std::move(handlers)) {
  TW_CHECK(options.rank >= 0 && options.rank < options.size && options.fan_out > 0 && options.credit_bytes > 0,
           "bad options");
  Wiring wiring = wire_up(options, tree);
  hosts = std::move(wiring.hosts);
  host_ids = std::move(wiring.host_ids);
  cards = std::move(wiring.cards);
  if (wiring.links.empty()) return;  // alone: nothing to serve

  tick_ = std::clamp(options.timeout / 8, kShortestTick, kLongestTick);
  next_tick_ = Clock::now() + tick_;
  epoll_ = Fd(epoll_create1(EPOLL_CLOEXEC));
  wake_ = Fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!epoll_ || !wake_) throw_errno("epoll");
  epoll_event event{};
  event.events = EPOLLIN;
  epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event);
  for (auto& [peer, fd] : wiring.links) {
    Link& link = links_.emplace_back(peer, std::move(fd));
    event.data.ptr = &link;
    epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, link.fd(), &event);
  }
  thread_ = start_quiet_thread([this] { serve(); });
}

ControlChannel::Impl::~Impl() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_.get(), &one, sizeof one);
  thread_.join();
}

void ControlChannel::Impl::serve() {
  epoll_event events[32];
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_tick_ - Clock::now()).count();
    const int count = epoll_wait(epoll_.get(), events, 32, static_cast<int>(std::max<int64_t>(left, 0)));
    for (int i = 0; i < count; ++i) {
      auto* link = static_cast<Link*>(events[i].data.ptr);
      if (!link || !link->open()) continue;  // the wake-up; or closed just before
      if (events[i].events & EPOLLOUT) {
        std::lock_guard<std::mutex> lock(mutex_);
        if (!link->flush()) watch(*link, /*writing=*/false);
        changed_.notify_all();
      }
      if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) read_from(*link);
    }
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (stop_) return;
    }
    if (const auto now = Clock::now(); now >= next_tick_) tick(now);
  }
}

void ControlChannel::Impl::watch(Link& link, bool writing) {
  epoll_event event{};
  event.events = writing ? EPOLLIN | EPOLLOUT : EPOLLIN;
  event.data.ptr = &link;
  if (link.open()) epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, link.fd(), &event);
}

void ControlChannel::Impl::read_from(Link& link) {
  const auto use = [&](const Frame& frame) {
    if (!link.given_up) take(link, frame);
  };
  if (!link.read(use)) closed(link);
}

void ControlChannel::Impl::take(Link& link, const Frame& frame) {
  const FrameHeader header = header_of(frame);
  switch (header.type) {
    case FrameType::kBatch:
    case FrameType::kGoodbye: {
      std::lock_guard<std::mutex> lock(mutex_);
      send_below(frame);  // before anybody here works on it
      if (header.type == FrameType::kBatch) {
        batches_.push_back(frame);
      } else {
        goodbye_ = true;
        exit_status_ = static_cast<int>(header.kind);
      }
      news_.fetch_add(1, std::memory_order_release);
      changed_.notify_all();
      return;
    }
    case FrameType::kProcessed: {
      std::lock_guard<std::mutex> lock(mutex_);
      std::memcpy(&link.processed, bytes_of(frame).data(), sizeof link.processed);
      if (tree.rank != 0) report_processed();
      changed_.notify_all();
      return;
    }
    case FrameType::kFarewell: {
      std::lock_guard<std::mutex> lock(mutex_);
      link.farewell_came = goodbye_;  // before the leader's goodbye nobody has a reason to go
      changed_.notify_all();
      return;
    }
    case FrameType::kFailure: {
      const std::string_view text = bytes_of(frame);
      note_failure(header.from, std::string(text.substr(text.find('\n') + 1)), &link);
      return;
    }
    case FrameType::kMessage:
    case FrameType::kNotice: take_message(link, frame, header); return;
    case FrameType::kAlive: return;
  }
}

void ControlChannel::Impl::take_message(Link& link, const Frame& frame, const FrameHeader& header) {
  if (header.to != tree.rank) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (header.to == kEveryone) {
      send_to_all_but(&link, frame);
    } else {
      if (Link* next = link_to(header.to)) send_on(*next, frame);
      return;
    }
  }
  if (header.type == FrameType::kNotice) {
    if (options.doorbell) options.doorbell->ring();
  } else if (handlers_.on_message) {
    handlers_.on_message(header.from, header.kind, bytes_of(frame));
  }
}

void ControlChannel::Impl::closed(Link& link) {
  bool expected;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, link.fd(), nullptr);
    link.close();
    expected = link.given_up || (is_child(link) ? link.farewell_came : link.farewell_sent);
    changed_.notify_all();
  }
  if (!expected) note_failure(link.peer, "its connection closed", nullptr);
}

void ControlChannel::Impl::note_failure(int rank, const std::string& reason, const Link* source) {
  const RankFailure failure{rank, hosts[static_cast<size_t>(rank)], reason};
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!dead_.insert(rank).second) return;
    if (!first_failure_) first_failure_ = failure;
    FrameHeader header;
    header.type = FrameType::kFailure;
    header.from = rank;
    send_to_all_but(source, make_frame(header, with_host(failure.host, reason)));
    news_.fetch_add(1, std::memory_order_release);
    changed_.notify_all();
  }
  if (options.doorbell) options.doorbell->ring();
  if (handlers_.on_failure) handlers_.on_failure(failure);
}

void ControlChannel::Impl::tick(Clock::time_point now) {
  // When this process itself stood still (a debugger, a suspended machine), the others' words lie unread: nobody
  // is judged.
  const bool slept = now - next_tick_ > options.timeout / 2;
  next_tick_ = now + tick_;
  const auto quiet = std::min(options.timeout / 4, kLongestQuiet);
  for (Link& link : links_) {
    if (!link.open() || link.given_up) continue;
    if (slept) link.last_read = now;
    if (now - link.last_read > options.timeout) {
      give_up(link);
      continue;
    }
    std::lock_guard<std::mutex> lock(mutex_);
    if (now - link.last_write >= quiet && !link.farewell_sent) send_on(link, make_frame({}));
  }
}

void ControlChannel::Impl::give_up(Link& link) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    link.given_up = true;
    link.drop_unsent();
  }
  note_failure(link.peer, str("no sign of life for ", options.timeout.count() / 1000.0, " s"), nullptr);
  std::lock_guard<std::mutex> lock(mutex_);
  link.finish_writing();
}

// ---- Under the lock
// -----------------------------------------------------------------------------------------------

void ControlChannel::Impl::send_on(Link& link, Frame frame) {
  const bool was_waiting = !link.all_sent();
  if (link.send(std::move(frame)) && !was_waiting) watch(link, /*writing=*/true);
}

void ControlChannel::Impl::send_below(const Frame& frame) {
  for (Link& link : links_)
    if (is_child(link)) send_on(link, frame);
}

void ControlChannel::Impl::send_to_all_but(const Link* source, const Frame& frame) {
  for (Link& link : links_)
    if (&link != source) send_on(link, frame);
}

Link* ControlChannel::Impl::link_to(int rank) {
  const int next = tree.next_hop(rank);
  for (Link& link : links_)
    if (link.peer == next) return &link;
  return nullptr;
}

uint64_t ControlChannel::Impl::processed_below() const {
  uint64_t least = ~uint64_t{0};
  for (const Link& link : links_)
    if (is_child(link)) least = std::min(least, link.processed);
  return least == ~uint64_t{0} ? published_ : least;
}

void ControlChannel::Impl::report_processed() {
  uint64_t done = processed_;
  for (const Link& link : links_)
    if (is_child(link)) done = std::min(done, link.processed);
  // Each level holds back less than its part of a quarter of the credit, so the leader never waits for what is
  // done.
  const uint64_t worth_a_word = options.credit_bytes / (4 * static_cast<size_t>(tree.depth() + 1));
  if (done - reported_ <= worth_a_word) return;
  reported_ = done;
  FrameHeader header;
  header.type = FrameType::kProcessed;
  header.from = tree.rank;
  send_on(links_.front(), make_frame(header, {reinterpret_cast<const char*>(&done), sizeof done}));
}

}  // namespace tilewise::comm
