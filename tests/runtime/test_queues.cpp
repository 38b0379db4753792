// Queues of several kinds together: random graphs of tasks, the order they promise, failures, and the fork rule.

#include <gtest/gtest.h>

#include <atomic>
#include <ctime>
#include <random>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/device.h"

namespace tilewise {

namespace {

using namespace std::chrono_literals;

// Tasks on random queues that wait for random earlier tasks. Each notes when it began and ended on one counter.
void run_random_graph(uint32_t seed, Machine& machine, int tasks) {
  std::mt19937 random(seed);
  auto first = make_thread_queue("first"), second = make_thread_queue("second");
  std::vector<Queue*> queues{first.get(), second.get(), &machine.host().queue()};
  for (Device* device : machine.devices()) queues.push_back(&device->queue());

  std::atomic<int> clock{0};
  struct Times {
    int begin = -1, end = -1;
  };
  std::vector<Times> times(tasks);
  std::vector<Event> events;
  std::vector<std::vector<int>> before(tasks);
  std::vector<int> last_on(queues.size(), -1);
  for (int task = 0; task < tasks; ++task) {
    size_t q = random() % queues.size();
    std::vector<Event> after;
    for (int k = random() % 4; k > 0 && task > 0; --k) {
      int earlier = std::max(0, task - 1 - static_cast<int>(random() % 20));
      before[task].push_back(earlier);
      after.push_back(events[earlier]);
    }
    if (last_on[q] >= 0) before[task].push_back(last_on[q]);
    last_on[q] = task;
    bool slow = random() % 50 == 0, fails = random() % 20 == 0;
    auto body = [&, task, slow, fails] {
      times[task].begin = clock++;
      if (slow) std::this_thread::sleep_for(200us);
      times[task].end = clock++;
      if (fails) throw std::runtime_error("meant to fail");
    };
    bool cheap = random() % 2;
    if (q < 3) {
      events.push_back(queues[q]->submit(body, after));
    } else {
      events.push_back(machine.devices()[q - 3]->call([body](Parallel&) { body(); }, after, cheap ? 1 : 1e9));
    }
    if (random() % 100 == 0) wait(events.back());
  }
  for (Queue* queue : queues) wait(queue->last());
  for (int task = 0; task < tasks; ++task) {
    ASSERT_GE(times[task].end, 0);
    for (int earlier : before[task]) ASSERT_LT(times[earlier].end, times[task].begin) << earlier << " before " << task;
  }
  for (Queue* queue : queues) {
    EXPECT_TRUE(queue->idle());
    queue->take_failures();
  }
}

TEST(Queues, RandomGraphsKeepTheirOrder) {
  for (const char* devices : {"cpu:1", "cpu:2", "cpu:3", "cpu:7"}) {
    Machine& machine = make_machine(devices, 0, 1);
    for (uint32_t seed = 0; seed < 20; ++seed) run_random_graph(seed, machine, 400);
  }
}

TEST(Queues, AThreadQueueKeepsTheContract) {
  auto queue = make_thread_queue("a name that is too long for the system");
  EXPECT_TRUE(queue->idle());
  std::vector<int> order;
  std::thread::id ran;
  for (int i = 0; i < 100; ++i) queue->submit([&, i] { order.push_back(i), ran = std::this_thread::get_id(); }, {});
  Event bad = queue->submit([] { throw Error(ErrorKind::kRuntime, "lost"); }, {});
  Event last = queue->submit([&] { order.push_back(100); }, {});
  wait(last);
  EXPECT_NE(ran, std::this_thread::get_id());
  EXPECT_EQ(order.size(), 101u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  auto failures = queue->take_failures();
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_EQ(failures[0].event.sequence, bad.sequence);
}

TEST(Queues, AThreadQueueFinishesItsTasksBeforeItGoes) {
  int ran = 0;
  Event last;
  {
    auto queue = make_thread_queue("short");
    for (int i = 0; i < 50; ++i) last = queue->submit([&] { std::this_thread::sleep_for(50us); ++ran; }, {});
  }
  EXPECT_EQ(ran, 50);
  EXPECT_TRUE(done(last));
  wait(last);
}

TEST(Queues, AnIdleMachineUsesNoProcessorTime) {
  Machine& machine = make_machine("cpu:7", 0, 1);
  auto other = make_thread_queue("other");
  for (Device* device : machine.devices()) device->call([](Parallel& p) { p.run(10, [](int64_t) {}); }, {}, 1e9);
  for (Device* device : machine.devices()) wait(other->submit([] {}, std::vector{device->queue().last()}));
  std::this_thread::sleep_for(10ms);
  std::clock_t before = std::clock();  // of all threads
  std::this_thread::sleep_for(2s);
  EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, 0.01 * 2);
}

TEST(Queues, AChildAfterForkMakesAMachineOfItsOwn) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the thread sanitizer forbids threads in a child";
#endif
  Machine& parent = make_machine("cpu:2", 0, 1);
  Device& device = *parent.devices()[0];
  std::atomic<bool> go{false};
  BufferView buffer = device.allocate(1000);
  Event finished = device.queue().submit([] {}, {});
  wait(finished);
  Event unfinished = device.queue().submit([&] { while (!go) std::this_thread::sleep_for(1ms); }, {});
  pid_t child = fork();
  if (child == 0) {
    after_fork_child();
    int status = 0;
    wait(finished);
    try {
      wait(unfinished);
      status |= 1;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kRuntime) status |= 2;
    }
    device.release(buffer);
    std::atomic<int> sum{0};
    Machine& own = make_machine("cpu:2", 0, 1);
    wait(own.devices()[1]->call([&](Parallel& p) { p.run(100, [&](int64_t i) { sum += static_cast<int>(i); }); }, {}, 1e9));
    if (sum != 4950 || &machine() != &own) status |= 4;
    _exit(status);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  go = true;
  wait(unfinished);
  device.release(buffer);
}

}  // namespace

}  // namespace tilewise
