// The CPU back end under the device contract, and what is its own: inline work, launches, its machine.

#include "tests/runtime/device_contract.h"

#include <cstring>
#include <map>
#include <thread>

#include "runtime/base/env.h"
#include "runtime/base/error.h"

namespace tilewise {

namespace {

Machine& cpus(int count) {
  static std::map<int, Machine*> made;
  Machine*& machine = made[count];
  if (!machine) machine = &make_machine(str("cpu:", count), 0, 1);
  return *machine;
}

INSTANTIATE_TEST_SUITE_P(
    Cpu, DeviceContract,
    ::testing::Values(
        DeviceCase{"cpu1", [] () -> Device& { return *cpus(1).devices()[0]; }, []() -> Machine& { return cpus(1); }},
        DeviceCase{"cpu3_last", []() -> Device& { return *cpus(3).devices()[2]; }, []() -> Machine& { return cpus(3); }},
        DeviceCase{"cpu7_mid", []() -> Device& { return *cpus(7).devices()[4]; }, []() -> Machine& { return cpus(7); }},
        DeviceCase{"host", []() -> Device& { return cpus(3).host(); }, []() -> Machine& { return cpus(3); }}),
    case_name);

// Adds params[0] to every int64 of a contiguous operand.
void add_param(const Launch& launch, Parallel& parallel) {
  auto* values = reinterpret_cast<int64_t*>(launch.operands[0].base);
  int64_t n = count_of(launch.extents);
  constexpr int64_t kPiece = 1 << 14;
  parallel.run((n + kPiece - 1) / kPiece, [&](int64_t piece) {
    for (int64_t i = piece * kPiece; i < std::min(n, (piece + 1) * kPiece); ++i) {
      values[i] += launch.params[0].as<int64_t>();
    }
  });
}

class CpuDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    Interpreter stub;
    stub.run = add_param;
    install_interpreter(stub);
    auto made = std::make_shared<Program>();
    made->code.resize(3);
    made->accesses.push_back({DType::kInt64, 8, true});
    made->params.push_back(DType::kInt64);
    program = made;
  }

  Event add(Device& device, BufferView values, int64_t value, std::span<const Event> after = {}) {
    Operand operand{static_cast<char*>(values.data), {8}};
    Scalar param = Scalar::of(DType::kInt64, value);
    Launch launch;
    launch.program = program.get();
    launch.extents = {static_cast<int64_t>(values.bytes / 8)};
    launch.origin = {0};
    launch.operands = &operand;
    launch.params = &param;
    Event event = device.run(launch, program, after);
    operand = {};  // what launch points to is the device's no longer
    param = {};
    return event;
  }

  std::shared_ptr<const Program> program;
};

TEST_F(CpuDevice, RunsLaunchesInOrder) {
  for (int count : {1, 3, 7}) {
    for (Device* device : cpus(count).devices()) {
      for (size_t bytes : {80, 800'000}) {
        BufferView values = device->allocate(bytes);
        std::memset(values.data, 0, bytes);
        for (int i = 1; i <= 10; ++i) add(*device, values, i);
        wait(device->queue().last());
        auto* numbers = static_cast<int64_t*>(values.data);
        EXPECT_EQ(std::count(numbers, numbers + bytes / 8, 55), static_cast<int64_t>(bytes / 8));
        device->release(values);
      }
    }
  }
}

TEST_F(CpuDevice, SmallWorkRunsInTheCallerWhenNothingIsBeforeIt) {
  Device& device = *cpus(1).devices()[0];
  wait(device.queue().last());
  std::thread::id ran;
  Event event = device.call([&](Parallel&) { ran = std::this_thread::get_id(); }, {}, 1);
  EXPECT_TRUE(done(event));
  EXPECT_EQ(ran, std::this_thread::get_id());

  std::atomic<bool> go{false};
  device.queue().submit([&] { while (!go) std::this_thread::yield(); }, {});
  event = device.call([&](Parallel&) { ran = std::this_thread::get_id(); }, {}, 1);
  EXPECT_FALSE(done(event));
  go = true;
  wait(event);
  EXPECT_NE(ran, std::this_thread::get_id());
}

TEST_F(CpuDevice, TheHostRunsAnythingInTheCaller) {
  Device& host = cpus(3).host();
  std::thread::id ran;
  Event event = host.call([&](Parallel& parallel) { EXPECT_EQ(parallel.width(), 1); ran = std::this_thread::get_id(); },
                          {}, 1e12);
  EXPECT_TRUE(done(event));
  EXPECT_EQ(ran, std::this_thread::get_id());
}

TEST_F(CpuDevice, ProgramsAreKeptAliveUntilTheyRan) {
  Device& device = *cpus(1).devices()[0];
  std::atomic<bool> go{false};
  device.queue().submit([&] { while (!go) std::this_thread::yield(); }, {});
  BufferView values = device.allocate(8);
  *static_cast<int64_t*>(values.data) = 1;
  add(device, values, 2);
  std::weak_ptr<const Program> watched = program;
  program.reset();
  EXPECT_FALSE(watched.expired());
  go = true;
  wait(device.queue().last());
  EXPECT_TRUE(watched.expired());
  EXPECT_EQ(*static_cast<int64_t*>(values.data), 3);
  device.release(values);
}

TEST(CpuMachine, DealsCoresToDevices) {
  for (int count : {1, 2, 3, 7, 64}) {
    Machine& machine = cpus(count);
    ASSERT_EQ(machine.devices().size(), static_cast<size_t>(count));
    for (int k = 0; k < count; ++k) {
      EXPECT_EQ(machine.devices()[k]->info().name, str("cpu:", k));
      EXPECT_EQ(machine.devices()[k]->info().memory_space, machine.host().info().memory_space);
    }
    EXPECT_EQ(machine.host().info().name, "host");
    EXPECT_NE(machine.describe().find("cpu:0"), std::string::npos);
  }
}

TEST(CpuMachine, TheMemoryLimitIsDividedAmongLocalRanks) {
  const Settings before = settings();
  Settings limited = before;
  ASSERT_TRUE(parse_memory("64MiB", limited.host_memory));
  replace_settings(limited);
  Machine& alone = make_machine("cpu:2", 0, 1);
  Machine& one_of_two = make_machine("cpu:2", 1, 2);
  replace_settings(before);
  alone.devices()[1]->release(alone.devices()[1]->allocate(48 << 20));
  EXPECT_THROW(one_of_two.devices()[1]->allocate(48 << 20), Error);
  EXPECT_THROW(alone.devices()[0]->allocate(size_t{1} << 40), Error);
}

TEST(CpuMachine, MalformedDevicesAreNamed) {
  for (const char* text : {"gpu", "cpu:", "cpu:0", "cpu:-1", "cpu:x", "cpu:3x", "cpu:99999", "cuda", "CPU"}) {
    try {
      make_machine(text, 0, 1);
      FAIL() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kValue);
      std::string message = error.what();
      EXPECT_NE(message.find("TILEWISE_DEVICES"), std::string::npos) << message;
      EXPECT_NE(message.find(text), std::string::npos) << message;
      EXPECT_NE(message.find("cpu:N"), std::string::npos) << message;
      EXPECT_EQ(message.find('\n'), std::string::npos);
    }
  }
}

}  // namespace

}  // namespace tilewise
