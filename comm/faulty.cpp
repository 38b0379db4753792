#include "comm/faulty.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace tilewise::comm {

namespace {

class FaultyTransport : public Transport {
 public:
  using Clock = std::chrono::steady_clock;

  FaultyTransport(std::unique_ptr<Transport> inner, const Faults& faults)
      : inner_(std::move(inner)),
        faults_(faults),
        dice_(faults.seed * 1'000'003 + static_cast<uint64_t>(inner_->rank())) {}

  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  uint32_t capabilities() const override { return inner_->capabilities(); }
  const char* name() const override { return "faulty"; }
  std::string description() const override { return "faulty " + inner_->description(); }

  Request isend(int peer, uint64_t tag, BufferView data, StreamHandle stream) override;
  Request irecv(int peer, uint64_t tag, BufferView data, StreamHandle stream) override {
    return inner_->irecv(peer, tag, data, stream);
  }
  void progress() override;
  void abort(const std::string& reason) override;
  void shutdown() override;

 private:
  struct Send {
    int peer;
    uint64_t tag;
    BufferView data;
    StreamHandle stream;
    std::shared_ptr<Request::State> outer;  // what the caller holds
    std::vector<Request> inner;             // once passed on: one, or two of a duplicated message
  };
  using Key = std::pair<int, uint64_t>;

  bool happens(double chance) { return std::uniform_real_distribution<>()(dice_) < chance; }
  void pass_on(Send send);

  const std::unique_ptr<Transport> inner_;
  const Faults faults_;
  std::mutex mutex_;
  std::mt19937_64 dice_;
  std::multimap<Clock::time_point, Send>
      held_;                                   // by the time of their release; equal times in the order of posting
  std::map<Key, Clock::time_point> releases_;  // the last of each (peer, tag), which later ones must not overtake
  std::vector<Send> passed_;                   // until the inner sends are done
  std::string aborted_;
};

Request FaultyTransport::isend(int peer, uint64_t tag, BufferView data, StreamHandle stream) {
  Send send{peer, tag, data, stream, std::make_shared<Request::State>(), {}};
  Request request(send.outer);
  std::lock_guard<std::mutex> lock(mutex_);
  if (!aborted_.empty()) {
    send.outer->fail(aborted_);
  } else if (happens(faults_.drop)) {
    send.outer->complete(data.bytes);
  } else {
    Clock::time_point release = Clock::now();
    if (happens(faults_.delay))
      release += std::chrono::microseconds(
          std::uniform_int_distribution<int64_t>(0, faults_.longest_delay.count())(dice_));
    Clock::time_point& last = releases_[{peer, tag}];
    last = release = std::max(release, last);
    held_.emplace(release, std::move(send));
  }
  return request;
}

void FaultyTransport::pass_on(Send send) {
  const int copies = happens(faults_.duplicate) ? 2 : 1;
  for (int copy = 0; copy < copies; ++copy)
    send.inner.push_back(inner_->isend(send.peer, send.tag, send.data, send.stream));
  passed_.push_back(std::move(send));
}

void FaultyTransport::progress() {
  std::lock_guard<std::mutex> lock(mutex_);
  while (!held_.empty() && held_.begin()->first <= Clock::now()) {
    Send send = std::move(held_.begin()->second);
    if (releases_[{send.peer, send.tag}] == held_.begin()->first) releases_.erase({send.peer, send.tag});
    held_.erase(held_.begin());
    pass_on(std::move(send));
  }
  inner_->progress();
  std::erase_if(passed_, [](Send& send) {
    if (!std::all_of(send.inner.begin(), send.inner.end(), [](const Request& request) { return request.done(); }))
      return false;
    try {
      send.inner.front().check();
      send.outer->complete(send.data.bytes);
    } catch (const std::exception& error) {
      send.outer->fail(error.what());
    }
    return true;
  });
}

void FaultyTransport::abort(const std::string& reason) {
  inner_->abort(reason);
  progress();  // hands on what the abort did to the inner requests
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (aborted_.empty()) aborted_ = reason.empty() ? "the transport was aborted" : reason;
    for (auto& [when, send] : held_) send.outer->fail(aborted_);
    held_.clear();
  }
  doorbell().ring();
}

void FaultyTransport::shutdown() {
  wait_until(doorbell(), [&] {
    progress();
    std::lock_guard<std::mutex> lock(mutex_);
    return held_.empty() && passed_.empty();
  });
  inner_->shutdown();
}

}  // namespace

std::unique_ptr<Transport> make_faulty(std::unique_ptr<Transport> inner, const Faults& faults) {
  return std::make_unique<FaultyTransport>(std::move(inner), faults);
}

}  // namespace tilewise::comm
