// Joining a job: which rank this is, the channel between ranks, the machine's share of this rank.
//
// A process that runs alone needs a machine and nothing else. What a rank's death means is decided here: it is reported
// once, transfers in flight are ended, and every wait that needs the dead rank raises.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "comm/bootstrap.h"
#include "comm/control.h"
#include "runtime/base/env.h"
#include "runtime/base/error.h"
#include "runtime/session_state.h"

namespace tilewise::session {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLeaveLimit{10'000};

class JobLink : public Link {
 public:
  JobLink(comm::Transport& transport, int rank, int size) : transport_(transport), rank_(rank) {
    comm::ControlOptions options;
    options.rank = rank;
    options.size = size;
    options.exchange = comm::exchange_over(transport);
    options.timeout = milliseconds(static_cast<int64_t>(settings().timeout * 1000));
    options.doorbell = &transport.doorbell();
    comm::ControlHandlers handlers;
    handlers.on_message = [](int, uint32_t, std::string_view) {};
    handlers.on_failure = [this](const comm::RankFailure& failure) { rank_died(failure); };
    channel_ = std::make_unique<comm::ControlChannel>(std::move(options), std::move(handlers));
  }

  std::vector<int> ranks_here() const { return channel_->ranks_on_host(); }

  void publish(std::vector<char> batch) override { channel_->publish({batch.data(), batch.size()}); }

  bool next(std::vector<char>* batch) override {
    const auto next = channel_->next_batch();
    if (!next) return false;
    batch->assign(next->bytes().begin(), next->bytes().end());
    return true;
  }

  void fail(const std::string& reason) override { channel_->fail(reason); }

  int finish(int status) override {
    if (rank_ == 0) channel_->goodbye(status);
    channel_->leave(kLeaveLimit);
    if (channel_->first_failure()) return 1;
    transport_.shutdown();
    return rank_ == 0 ? status : channel_->exit_status();
  }

 private:
  void rank_died(const comm::RankFailure& failure) {
    if (rank_ == 0) std::fprintf(stderr, "tilewise: %s\n", failure.text().c_str());
    transport_.abort(failure.text());
    transport_.doorbell().ring();
  }

  comm::Transport& transport_;
  int rank_;
  std::unique_ptr<comm::ControlChannel> channel_;
};

}  // namespace

std::unique_ptr<Link> join_job(State& s) {
  const comm::JobPlace place = comm::find_job_place();
  s.role = Role{};
  if (comm::claim_process(place) && !place.alone()) s.transport = comm::open_transport(place);
  if (!s.transport || s.transport->size() == 1) {
    make_machine(settings().devices, 0, 1);
    return nullptr;
  }
  s.role.rank = s.transport->rank();
  s.role.size = s.transport->size();
  s.role.leader = s.role.rank == 0;
  auto link = std::make_unique<JobLink>(*s.transport, s.role.rank, s.role.size);
  const auto here = link->ranks_here();
  const auto at = std::find(here.begin(), here.end(), s.role.rank) - here.begin();
  make_machine(settings().devices, static_cast<int>(at), static_cast<int>(here.size()));
  return link;
}

}  // namespace tilewise::session
