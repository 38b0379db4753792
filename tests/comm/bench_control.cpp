// What the control channel costs: ranks as threads of one process, joined by real sockets.
//
//   bench_control [ranks]
//
// Round trip: the leader publishes a small batch, every worker answers with a message, the leader has them all.
// Rate: small batches in a row. Throughput: large ones.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "comm/control.h"
#include "comm/transports.h"
#include "runtime/base/park.h"

using namespace tilewise;
using namespace tilewise::comm;

namespace {

constexpr int kTrips = 2000, kSmall = 20'000, kLarge = 400;
constexpr size_t kSmallBytes = 200, kLargeBytes = 1 << 20;

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void lead(ControlChannel& channel, int workers, std::atomic<int>& answers) {
  const std::string small(kSmallBytes, 's'), large(kLargeBytes, 'l');
  double start = seconds();
  for (int trip = 0; trip < kTrips; ++trip) {
    channel.publish(small);
    for (Poll poll; answers < (trip + 1) * workers;)
      if (!poll.again()) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  std::printf("%d ranks: round trip %.1f us", workers + 1, (seconds() - start) / kTrips * 1e6);
  start = seconds();
  for (int i = 0; i < kSmall; ++i) channel.publish(small);
  std::printf(", small batch %.2f us", (seconds() - start) / kSmall * 1e6);
  start = seconds();
  for (int i = 0; i < kLarge; ++i) channel.publish(large);
  channel.goodbye(0);
  channel.leave(std::chrono::seconds(60));
  std::printf(", large batches %.0f MB/s to each worker\n",
              kLarge * static_cast<double>(kLargeBytes) / (seconds() - start) / 1e6);
}

void follow(ControlChannel& channel) {
  for (int count = 0; channel.next_batch(); ++count)
    if (count < kTrips) channel.send(0, 1, "done");
  channel.leave(std::chrono::seconds(60));
}

}  // namespace

int main(int argc, char** argv) {
  const int size = argc > 1 ? std::atoi(argv[1]) : 4;
  auto ends = make_local(size);
  std::atomic<int> answers{0};
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < size; ++rank) {
    ranks.emplace_back([&, rank] {
      ControlOptions options;
      options.rank = rank;
      options.size = size;
      options.exchange = exchange_over(*ends[static_cast<size_t>(rank)]);
      ControlChannel channel(std::move(options), {[&](int, uint32_t, std::string_view) { ++answers; }, {}});
      rank == 0 ? lead(channel, size - 1, answers) : follow(channel);
    });
  }
  for (auto& rank : ranks) rank.join();
}
