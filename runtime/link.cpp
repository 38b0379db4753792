// Joining a job: which rank this is, the channel between ranks, the machine's share of this rank.
//
// A process that runs alone needs a machine and nothing else. What a rank's death means is decided here: it is reported
// once, transfers in flight are ended, and every wait that needs the dead rank raises.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <map>
#include <sstream>
#include <thread>

#include "comm/bootstrap.h"
#include "comm/control.h"
#include "runtime/base/env.h"
#include "runtime/base/error.h"
#include "runtime/session_state.h"

namespace tilewise::session {

namespace {

using std::chrono::milliseconds;

// Others may have work left for any time; a death ends the wait. So this is no limit but a number that clocks can add.
constexpr std::chrono::hours kLeaveLimit{24 * 365};
constexpr uint32_t kReport = 0, kPost = 1;  // kinds of messages

class JobLink : public Link {
 public:
  JobLink(comm::Transport& transport, int rank, int size, const HostOffer& offer)
      : transport_(transport), rank_(rank), size_(size) {
    comm::ControlOptions options;
    options.rank = rank;
    options.size = size;
    options.exchange = comm::exchange_over(transport);
    options.timeout = milliseconds(static_cast<int64_t>(settings().timeout * 1000));
    options.card = str(offer.memory_limit, " ", offer.mask);
    options.doorbell = &transport.doorbell();
    comm::ControlHandlers handlers;
    handlers.on_message = [this](int from, uint32_t kind, std::string_view bytes) {
      kind == kReport ? take_report(bytes) : take_post(from, bytes);
    };
    handlers.on_failure = [this](const comm::RankFailure& failure) { rank_died(failure); };
    channel_ = std::make_unique<comm::ControlChannel>(std::move(options), std::move(handlers));
    transport_.set_notifier([this](int peer) { channel_->notify(peer); });
  }
  ~JobLink() override { transport_.set_notifier({}); }

  std::vector<int> ranks_here() const { return channel_->ranks_on_host(); }
  // Ranks that share a host get equal parts of its memory.
  int64_t memory_limit_of(int rank) const {
    return offer_of(rank).memory_limit / static_cast<int64_t>(channel_->ranks_on_host_of(rank).size());
  }
  HostOffer offer_of(int rank) const {
    HostOffer offer;
    std::istringstream card(channel_->card(rank));
    card >> offer.memory_limit >> std::ws;
    std::getline(card, offer.mask);
    return offer;
  }

  void publish(std::vector<char> batch) override { channel_->publish({batch.data(), batch.size()}); }

  bool next(std::vector<char>* batch) override {
    const auto next = channel_->next_batch();
    if (!next) return false;
    batch->assign(next->bytes().begin(), next->bytes().end());
    return true;
  }

  bool has_room(milliseconds limit) override { return channel_->wait_for_credit(limit); }

  void report(uint64_t serial, const Report& report) override {
    std::vector<uint64_t> words{serial, report.conditions.size()};
    for (const FpEvent& event : report.conditions) words.push_back(event.packed());
    std::string message(reinterpret_cast<const char*>(words.data()), words.size() * 8);
    const std::vector<char> bytes = encode(report.failures);
    channel_->send(0, kReport, message.append(bytes.data(), bytes.size()));
  }

  bool all_reported(uint64_t serial, milliseconds limit, Report* reports) override {
    std::unique_lock lock(reports_lock_);
    const auto all = [&] { return reports_[serial].count == size_ - 1; };
    reports_came_.wait_for(lock, limit, [&] { return all() || lost_; });
    if (!all() && lost_) throw Error(ErrorKind::kRuntime, channel_->first_failure()->text());
    if (!all()) return false;
    *reports = std::move(reports_[serial].all);
    reports_.erase(reports_.begin(), reports_.upper_bound(serial));
    return true;
  }

  void post(uint64_t serial, std::string_view mine) override {
    std::string message(reinterpret_cast<const char*>(&serial), sizeof serial);
    channel_->broadcast(kPost, message.append(mine));
    take_post(rank_, message);
  }

  bool all_posted(uint64_t serial, milliseconds limit, std::vector<std::string>* texts) override {
    std::unique_lock lock(reports_lock_);
    auto& posts = posts_[serial];
    const auto all = [&] { return static_cast<int>(posts.size()) == size_; };
    reports_came_.wait_for(lock, limit, [&] { return all() || lost_; });
    if (!all() && lost_) throw Error(ErrorKind::kRuntime, channel_->first_failure()->text());
    if (!all()) return false;
    for (auto& [rank, text] : posts) texts->push_back(std::move(text));
    posts_.erase(serial);
    return true;
  }

  void abandon(const std::string& reason) override {
    abandoned_ = true;
    transport_.abort(reason);
  }

  void fail(const std::string& reason) override { channel_->fail(reason); }

  int finish(int status) override {
    if (rank_ == 0) channel_->goodbye(status);
    if (rank_ != 0 && settings().mode == Mode::kSpmd) wait_for_goodbye();
    channel_->leave(kLeaveLimit);
    if (const auto failure = channel_->first_failure()) {
      tell(*failure);
      return 1;
    }
    if (!abandoned_) transport_.shutdown();
    return rank_ == 0 ? status : channel_->exit_status();
  }

 private:
  // One rank prints who died, before it leaves: the control thread may be later than the thread that ends the process.
  void tell(const comm::RankFailure& failure) {
    if (told_to_end.load() || rank_ != (failure.rank == 0 ? 1 : 0)) return;
    std::call_once(told_, [&] {
      std::fprintf(stderr, "tilewise: %s\n", failure.text().c_str());
      // mpirun may end the job, and its reading of our output, as soon as a rank leaves with an error.
      std::this_thread::sleep_for(milliseconds(200));
    });
  }

  void rank_died(const comm::RankFailure& failure) {
    transport_.abort(failure.text());
    transport_.doorbell().ring();
    {
      std::lock_guard lock(reports_lock_);
      lost_ = true;
      reports_came_.notify_all();
    }
    tell(failure);
  }

  // Nobody publishes in spmd mode: what comes is the end.
  void wait_for_goodbye() {
    try {
      channel_->next_batch();
    } catch (const Error&) {  // a rank died: finish() says so
    }
  }

  void take_post(int from, std::string_view bytes) {
    uint64_t serial;
    std::memcpy(&serial, bytes.data(), sizeof serial);
    std::lock_guard lock(reports_lock_);
    posts_[serial][from] = bytes.substr(sizeof serial);
    reports_came_.notify_all();
  }

  void take_report(std::string_view bytes) {
    const auto word = [&] {
      uint64_t value;
      std::memcpy(&value, bytes.data(), sizeof value);
      bytes.remove_prefix(sizeof value);
      return value;
    };
    const uint64_t serial = word();
    std::lock_guard lock(reports_lock_);
    Reports& reports = reports_[serial];
    for (uint64_t left = word(); left > 0; --left) reports.all.conditions.push_back(FpEvent::unpacked(word()));
    for (FailurePtr& failure : decode_failures(bytes.data(), bytes.size())) reports.all.failures.push_back(std::move(failure));
    reports.count += 1;
    reports_came_.notify_all();
  }

  struct Reports {
    int count = 0;
    Report all;
  };
  comm::Transport& transport_;
  int rank_, size_;
  std::mutex reports_lock_;
  std::condition_variable reports_came_;
  std::map<uint64_t, Reports> reports_;  // by the serial of the kSync record
  std::map<uint64_t, std::map<int, std::string>> posts_;  // by serial and rank
  std::atomic<bool> abandoned_{false};
  std::once_flag told_;                  // this rank has printed who died
  bool lost_ = false;                    // a rank died
  std::unique_ptr<comm::ControlChannel> channel_;
};

}  // namespace

std::unique_ptr<Link> join_job(State& s) {
  const comm::JobPlace place = comm::find_job_place();
  s.role = Role{};
  s.child = !comm::claim_process(place);
  if (!s.child && !place.alone()) s.transport = comm::open_transport(place);
  if (!s.transport || s.transport->size() == 1) {
    make_machine(settings().devices, 0, 1);
    s.limits = {machine().memory_use(0).limit};
    return nullptr;
  }
  s.role.rank = s.transport->rank();
  s.role.size = s.transport->size();
  s.role.leader = s.role.rank == 0;
  auto link = std::make_unique<JobLink>(*s.transport, s.role.rank, s.role.size, host_offer());
  const auto here = link->ranks_here();
  const auto at = std::find(here.begin(), here.end(), s.role.rank) - here.begin();
  std::vector<std::string> masks;
  for (int rank : here) masks.push_back(link->offer_of(rank).mask);
  make_machine(settings().devices, static_cast<int>(at), static_cast<int>(here.size()), masks);
  for (int rank = 0; rank < s.role.size; ++rank) s.limits.push_back(link->memory_limit_of(rank));
  return link;
}

}  // namespace tilewise::session
