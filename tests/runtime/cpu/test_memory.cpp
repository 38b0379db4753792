// Host memory: classes and waste, the limit, the bound of the cache, memory on its way between devices.

#include "runtime/cpu/memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <thread>

#include "runtime/base/error.h"

namespace tilewise::cpu {

namespace {

using namespace std::chrono_literals;

constexpr int64_t kMiB = 1 << 20;

TEST(HostMemory, SizesWasteLittle) {
  HostMemory host(1 << 30);
  auto queue = make_thread_queue("memory");
  DeviceMemory memory(host, *queue, 0);
  for (size_t bytes = 1; bytes < 100'000'000; bytes += 1 + bytes / 7) {
    BufferView view = memory.allocate(bytes);
    int64_t held = host.use().current;
    EXPECT_GE(held, static_cast<int64_t>(bytes));
    EXPECT_LE(held, static_cast<int64_t>(bytes + std::max<size_t>(64, bytes / (bytes <= 32768 ? 4 : 8)))) << bytes;
    static_cast<char*>(view.data)[bytes - 1] = 1;
    memory.release(view, {});
    EXPECT_EQ(host.use().current, 0);
  }
}

TEST(HostMemory, OverTheLimitIsAnError) {
  HostMemory host(100 * kMiB);
  auto queue = make_thread_queue("memory");
  DeviceMemory memory(host, *queue, 0);
  BufferView most = memory.allocate(60 * kMiB);
  try {
    memory.allocate(50 * kMiB);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kMemory);
    EXPECT_NE(std::string(error.what()).find("TILEWISE_HOST_MEMORY"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("100 MiB"), std::string::npos);
  }
  EXPECT_THROW(memory.allocate(size_t{1} << 60), Error);
  BufferView rest = memory.allocate(30 * kMiB);  // others are as usable as before
  memory.release(most, {});
  memory.release(rest, {});
  most = memory.allocate(99 * kMiB);
  memory.release(most, {});
  EXPECT_EQ(host.use().current, 0);
}

TEST(HostMemory, TheCacheIsBounded) {
  HostMemory host(800 * kMiB);
  auto queue = make_thread_queue("memory");
  DeviceMemory memory(host, *queue, 0);
  std::vector<BufferView> views;
  for (int i = 0; i < 200; ++i) views.push_back(memory.allocate(2 * kMiB));
  for (auto& view : views) memory.release(view, {});
  EXPECT_LE(host.use().cached, 100 * kMiB);
  EXPECT_GE(host.use().cached, 90 * kMiB);
}

TEST(HostMemory, WhatAnotherDeviceCachesMakesRoom) {
  HostMemory host(100 * kMiB);
  auto queue = make_thread_queue("memory");
  DeviceMemory first(host, *queue, 0), second(host, *queue, 1);
  std::atomic<bool> go{false};
  BufferView view = first.allocate(10 * kMiB), other = first.allocate(50 * kMiB);
  queue->submit([&] { while (!go) std::this_thread::sleep_for(1ms); }, {});
  first.release(view, {});  // in use until the task has run
  std::thread later([&] { std::this_thread::sleep_for(5ms), go = true; });
  view = second.allocate(48 * kMiB);
  EXPECT_TRUE(go);
  later.join();
  EXPECT_EQ(host.use().cached, 0);
  second.release(view, {});
  first.release(other, {});
}

TEST(HostMemory, SmallBlocksReturnToo) {
  HostMemory host(1 << 30);
  auto queue = make_thread_queue("memory");
  DeviceMemory memory(host, *queue, 0);
  std::vector<BufferView> views;
  for (int i = 0; i < 10'000; ++i) views.push_back(memory.allocate(1000));
  EXPECT_GE(host.use().current, 10'000'000);
  for (auto& view : views) memory.release(view, {});
  EXPECT_EQ(host.use().current, 0);
  EXPECT_LE(host.use().cached, kMiB);
}

// Everything handed out is filled with a mark of its own and still holds it when it is given back.
TEST(HostMemory, RandomUse) {
  HostMemory host(200 * kMiB);
  auto queue = make_thread_queue("memory");
  DeviceMemory first(host, *queue, 0), second(host, *queue, 1);
  std::mt19937 random(5);
  struct Held {
    BufferView view;
    char mark;
    DeviceMemory* memory;
  };
  std::vector<Held> held;
  for (int round = 0; round < 5000; ++round) {
    if (held.size() > 40 || (random() % 2 && !held.empty())) {
      size_t k = random() % held.size();
      auto* bytes = static_cast<char*>(held[k].view.data);
      for (size_t i = 0; i < held[k].view.bytes; i += 61) ASSERT_EQ(bytes[i], held[k].mark);
      std::vector<Event> after;
      if (random() % 4 == 0) after.push_back(queue->submit([] {}, {}));
      held[k].memory->release(held[k].view, after);
      held[k] = held.back();
      held.pop_back();
    } else {
      DeviceMemory* memory = random() % 2 ? &first : &second;
      size_t bytes = random() % (size_t{1} << (4 + random() % 18));
      held.push_back({memory->allocate(bytes), static_cast<char>(round), memory});
      std::memset(held.back().view.data, static_cast<char>(round), bytes);
    }
  }
  for (auto& [view, mark, memory] : held) memory->release(view, {});
  EXPECT_EQ(host.use().current, 0);
}

}  // namespace

}  // namespace tilewise::cpu
