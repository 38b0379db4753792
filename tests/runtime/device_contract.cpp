#include "tests/runtime/device_contract.h"

#include <atomic>
#include <numeric>
#include <thread>

#include "runtime/base/error.h"

namespace tilewise {

namespace {

using namespace std::chrono_literals;

CopyPiece whole(size_t bytes) { return {{static_cast<int64_t>(bytes)}, {1}, {1}, 0, 0, 1}; }

constexpr double kDear = 1e9;  // nanoseconds: never in the caller

}  // namespace

Event DeviceContract::write(BufferView to, const std::vector<int64_t>& values) {
  BufferView host{const_cast<int64_t*>(values.data()), values.size() * 8, MemoryKind::kHost, -1};
  Event event = device.copy(to, host, {whole(host.bytes)}, {});
  wait(event);
  return event;
}

std::vector<int64_t> DeviceContract::read(BufferView from) {
  std::vector<int64_t> values(from.bytes / 8);
  BufferView host{values.data(), from.bytes, MemoryKind::kHost, -1};
  wait(device.copy(host, from, {whole(from.bytes)}, {}));
  return values;
}

void DeviceContract::settle() {
  wait(device.queue().last());
  device.queue().take_failures();
}

TEST_P(DeviceContract, HasANameAndCores) {
  EXPECT_FALSE(device.info().name.empty());
  EXPECT_FALSE(device.info().detail.empty());
  EXPECT_GE(device.info().width, 1);
}

TEST_P(DeviceContract, NoEventIsDone) {
  EXPECT_TRUE(done(Event{}));
  wait(Event{});
}

TEST_P(DeviceContract, TasksRunInTheOrderOfSubmission) {
  std::vector<int> order;
  Event last;
  for (int i = 0; i < 1000; ++i) last = device.queue().submit([&order, i] { order.push_back(i); }, {});
  wait(last);
  EXPECT_TRUE(done(last));
  EXPECT_TRUE(device.queue().idle());
  std::vector<int> expected(1000);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

TEST_P(DeviceContract, EventsAreDoneInOrder) {
  std::atomic<bool> go{false};
  Event first = device.queue().submit([&] { while (!go) std::this_thread::sleep_for(1ms); }, {});
  Event second = device.queue().submit([] {}, {});
  EXPECT_FALSE(done(first));
  EXPECT_FALSE(done(second));
  EXPECT_FALSE(device.queue().idle());
  go = true;
  wait(second);
  EXPECT_TRUE(done(first));
  EXPECT_EQ(device.queue().last().sequence, second.sequence);
}

TEST_P(DeviceContract, WaitsForEventsOfOtherQueues) {
  auto other = make_thread_queue("other");
  std::atomic<bool> go{false};
  int64_t value = 0;
  Event first = other->submit([&] { while (!go) std::this_thread::sleep_for(1ms); value = 7; }, {});
  int64_t seen = -1;
  // Cheap, but what it waits for is not done: it must not run in the caller.
  Event second = device.call([&](Parallel&) { seen = value; }, std::vector{first}, 1);
  Event third = device.call([&](Parallel&) { seen *= 2; }, {}, 1);
  EXPECT_FALSE(done(second));
  go = true;
  wait(third);
  EXPECT_EQ(seen, 14);
}

TEST_P(DeviceContract, AnotherQueueWaitsForTheDevice) {
  auto other = make_thread_queue("other");
  std::vector<int> order;
  Event first = device.call([&](Parallel&) { std::this_thread::sleep_for(2ms); order.push_back(1); }, {}, kDear);
  Event second = other->submit([&] { order.push_back(2); }, std::vector{first});
  Event third = device.call([&](Parallel&) { order.push_back(3); }, std::vector{second}, kDear);
  wait(third);
  EXPECT_EQ(order, (std::vector{1, 2, 3}));
}

TEST_P(DeviceContract, SubmittingDoesNotWait) {
  std::atomic<bool> go{false};
  Event last = device.queue().submit([&] { while (!go) std::this_thread::sleep_for(1ms); }, {});
  for (int i = 0; i < 100; ++i) last = device.call([](Parallel&) {}, {}, kDear);
  EXPECT_FALSE(done(last));
  go = true;
  wait(last);
}

TEST_P(DeviceContract, CallsGetTheCores) {
  for (double cost : {1.0, kDear}) {
    for (int64_t count : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> seen(count);
      wait(device.call(
          [&](Parallel& parallel) {
            EXPECT_GE(parallel.width(), 1);
            EXPECT_LE(parallel.width(), std::max(2, device.info().width));
            parallel.run(count, [&](int64_t i) { ++seen[i]; });
          },
          {}, cost));
      for (auto& times : seen) EXPECT_EQ(times, 1);
    }
  }
  EXPECT_TRUE(device.queue().take_failures().empty());
}

TEST_P(DeviceContract, FailuresAreKeptUnderTheirEvent) {
  for (double cost : {1.0, kDear}) {
    settle();
    Event bad = device.call([](Parallel&) { throw Error(ErrorKind::kLinAlg, "singular"); }, {}, cost);
    int runs = 0;
    Event good = device.call([&](Parallel&) { ++runs; }, {}, cost);
    wait(good);
    EXPECT_EQ(runs, 1);
    std::vector<Failure> failures = device.queue().take_failures();
    ASSERT_EQ(failures.size(), 1u);
    EXPECT_EQ(failures[0].event.queue, bad.queue);
    EXPECT_EQ(failures[0].event.sequence, bad.sequence);
    try {
      std::rethrow_exception(failures[0].error);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kLinAlg);
    }
    EXPECT_TRUE(device.queue().take_failures().empty());
  }
}

TEST_P(DeviceContract, AFailureInsideALoopReachesTheCall) {
  wait(device.call(
      [](Parallel& parallel) {
        parallel.run(100, [](int64_t i) {
          if (i == 37) throw std::runtime_error("37");
        });
      },
      {}, kDear));
  EXPECT_EQ(device.queue().take_failures().size(), 1u);
}

TEST_P(DeviceContract, MemoryIsAlignedAndDistinct) {
  std::vector<BufferView> views;
  for (size_t bytes : {0, 1, 63, 64, 65, 1000, 4096, 32768, 32769, 300000, 3 << 20, 40 << 20}) {
    BufferView view = device.allocate(bytes);
    EXPECT_NE(view.data, nullptr);
    EXPECT_EQ(view.bytes, bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(view.data) % 64, 0u);
    for (const BufferView& other : views) {
      if (bytes && other.bytes) {
        auto a = static_cast<char*>(view.data), b = static_cast<char*>(other.data);
        EXPECT_TRUE(a + bytes <= b || b + other.bytes <= a);
      }
    }
    views.push_back(view);
  }
  for (const BufferView& view : views) device.release(view);
}

TEST_P(DeviceContract, MemoryIsCounted) {
  settle();
  int space = device.info().memory_space;
  machine.reset_peaks();
  MemoryUse before = machine.memory_use(space);
  EXPECT_EQ(before.peak, before.current);
  constexpr int64_t kBytes = 5 << 20;
  BufferView a = device.allocate(kBytes), b = device.allocate(kBytes);
  MemoryUse both = machine.memory_use(space);
  EXPECT_GE(both.current, before.current + 2 * kBytes);
  EXPECT_LE(both.current, before.current + 2 * kBytes + kBytes / 8);
  device.release(a);
  device.release(b);
  MemoryUse after = machine.memory_use(space);
  EXPECT_EQ(after.current, before.current);
  EXPECT_EQ(after.peak, both.current);
  machine.reset_peaks();
  EXPECT_EQ(machine.memory_use(space).peak, before.current);
}

// Work may be issued over it, whatever its size; it counts for nothing and goes when the work has run.
TEST_P(DeviceContract, HollowMemoryHoldsNothing) {
  const MemoryUse before = machine.memory_use(device.info().memory_space);
  for (size_t bytes : {0, 8, 5000, 300 << 20}) {
    BufferView hollow = device.allocate_hollow(bytes);
    EXPECT_EQ(hollow.bytes, bytes);
    Event event = device.call(
        [hollow](Parallel& parallel) {
          parallel.run(64, [&](int64_t i) {
            for (size_t at = static_cast<size_t>(i) * 4096; at + 8 <= hollow.bytes; at += 64 * 4096)
              *reinterpret_cast<volatile int64_t*>(static_cast<char*>(hollow.data) + at) = i;
          });
        },
        {}, kDear);
    EXPECT_EQ(machine.memory_use(device.info().memory_space).current, before.current);
    device.release(hollow, std::vector{event});
  }
  settle();
  EXPECT_GE(device.block_bytes(1000), 1000);
  EXPECT_EQ(device.block_bytes(0), 0);
}

TEST_P(DeviceContract, MemoryIsReused) {
  for (size_t bytes : {100, 50'000, 5'000'000}) {
    BufferView first = device.allocate(bytes);
    device.release(first);
    BufferView second = device.allocate(bytes);
    EXPECT_EQ(first.data, second.data) << bytes;
    device.release(second);
  }
}

TEST_P(DeviceContract, MemoryThatAnotherQueueUsesIsNotReused) {
  auto other = make_thread_queue("other");
  for (size_t bytes : {104, 800'000}) {
    BufferView first = device.allocate(bytes);
    std::atomic<bool> go{false};
    Event use = other->submit([&] { while (!go) std::this_thread::sleep_for(1ms); }, {});
    device.release(first, std::vector{use});
    BufferView second = device.allocate(bytes);
    EXPECT_NE(first.data, second.data);
    go = true;
    wait(use);
    device.release(second);
  }
}

// The device's own events need no waiting for: its work is in order.
TEST_P(DeviceContract, MemoryThatTheDeviceItselfUsesIsReused) {
  std::atomic<bool> go{false};
  BufferView first = device.allocate(800'000);
  Event use = device.queue().submit([&] { while (!go) std::this_thread::sleep_for(1ms); }, {});
  device.release(first, std::vector{use});
  BufferView second = device.allocate(800'000);
  EXPECT_EQ(first.data, second.data);
  EXPECT_FALSE(done(use));
  go = true;
  wait(use);
  device.release(second);
}

// A program that runs far ahead of another queue reuses memory all the same, and never too early.
TEST_P(DeviceContract, RunningAheadDoesNotTakeMemoryWithoutBound) {
  auto other = make_thread_queue("other");
  constexpr size_t kBytes = 1 << 20;
  settle();
  machine.reset_peaks();
  MemoryUse before = machine.memory_use(device.info().memory_space);
  std::atomic<bool> go{false};
  std::atomic<int> wrong{0};
  other->submit([&] { while (!go) std::this_thread::sleep_for(1ms); }, {});
  for (int round = 0; round < 50; ++round) {
    BufferView buffer = device.allocate(kBytes);
    auto* data = static_cast<std::atomic<int>*>(buffer.data);
    Event written = device.call([data, round](Parallel&) { data->store(round); }, {}, kDear);
    Event read = other->submit([data, round, &wrong] { wrong += data->load() != round; }, std::vector{written});
    device.release(buffer, std::vector{read});
  }
  MemoryUse after = machine.memory_use(device.info().memory_space);
  EXPECT_LT(after.cached - before.cached, static_cast<int64_t>(8 * kBytes));
  go = true;
  wait(other->last());
  settle();
  EXPECT_EQ(wrong, 0);
}

// Work submitted before the release still reads the old contents, although its memory is already given out again.
TEST_P(DeviceContract, MemoryIsStreamOrdered) {
  constexpr size_t kCount = 10'000;
  std::vector<int64_t> values(kCount), result(kCount);
  for (int64_t round = 1; round <= 20; ++round) {
    std::fill(values.begin(), values.end(), round);
    BufferView a = device.allocate(kCount * 8);
    write(a, values);
    device.queue().submit([] { std::this_thread::sleep_for(100us); }, {});
    BufferView out{result.data(), kCount * 8, MemoryKind::kHost, -1};
    Event copied = device.copy(out, a, {whole(a.bytes)}, {});
    device.release(a);
    BufferView b = device.allocate(kCount * 8);
    Event overwritten = device.copy(b, {values.data(), 8, MemoryKind::kHost, -1},
                                    {{{static_cast<int64_t>(kCount)}, {8}, {0}, 0, 0, 8}}, {});
    wait(copied);
    EXPECT_EQ(result, values);
    wait(overwritten);
    device.release(b);
  }
}

TEST_P(DeviceContract, CopiesPieces) {
  BufferView a = device.allocate(12 * 8), b = device.allocate(12 * 8);
  std::vector<int64_t> values(12);
  std::iota(values.begin(), values.end(), 0);
  write(a, values);
  write(b, std::vector<int64_t>(12, -1));
  // b as (4, 3) gets a as (3, 4) transposed, but for b's first row, which gets a[11] three times.
  std::vector<CopyPiece> pieces = {{{3, 3}, {24, 8}, {8, 32}, 24, 8, 8}, {{3}, {8}, {0}, 0, 88, 8}};
  wait(device.copy(b, a, pieces, {}));
  EXPECT_EQ(read(b), (std::vector<int64_t>{11, 11, 11, 1, 5, 9, 2, 6, 10, 3, 7, 11}));
  wait(device.copy(b, a, {}, {}));
  device.release(a);
  device.release(b);
}

TEST_P(DeviceContract, ManyShortTasksAndWaits) {
  int64_t sum = 0;
  for (int64_t i = 0; i < 2000; ++i) {
    Event event = device.queue().submit([&sum, i] { sum += i; }, {});
    if (i % 3 == 0) wait(event);
  }
  wait(device.queue().last());
  EXPECT_EQ(sum, 2000 * 1999 / 2);
}

TEST_P(DeviceContract, ManyThreadsMayWait) {
  std::atomic<bool> go{false};
  Event event = device.queue().submit([&] { while (!go) std::this_thread::sleep_for(1ms); }, {});
  std::atomic<int> awake{0};
  std::vector<std::thread> waiters;
  for (int i = 0; i < 8; ++i) waiters.emplace_back([&] { wait(event); ++awake; });
  std::this_thread::sleep_for(2ms);
  EXPECT_EQ(awake, 0);
  go = true;
  for (auto& waiter : waiters) waiter.join();
  EXPECT_EQ(awake, 8);
}

}  // namespace tilewise
