// What the CPU back end costs: tasks through a queue, inline work, loops, copies. Prints one table.

#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

#include "runtime/base/error.h"
#include "runtime/cpu/copy.h"
#include "runtime/cpu/device.h"

namespace tilewise {

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Median over rounds of the seconds that one call of `work` takes.
template <class Work>
double median(int rounds, int calls, const Work& work) {
  std::vector<double> seconds;
  for (int round = 0; round < rounds; ++round) {
    double begin = now();
    for (int i = 0; i < calls; ++i) work();
    seconds.push_back((now() - begin) / calls);
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[rounds / 2];
}

void row(const char* what, double value, const char* unit) { std::printf("%-58s %10.3f %s\n", what, value, unit); }

void touch_all(const Launch& launch, Parallel&) { launch.operands[0].base[0] += 1; }

void bench_inline(Device& device) {
  Interpreter stub;
  stub.run = touch_all;
  install_interpreter(stub);
  auto program = std::make_shared<Program>();
  program->code.resize(3);
  program->accesses.push_back({DType::kInt8, 1, true});
  std::shared_ptr<const void> keep = program;
  char byte = 0;
  Operand operand{&byte, {1}};
  Launch launch;
  launch.program = program.get();
  launch.extents = {1};
  launch.origin = {0};
  launch.operands = &operand;
  SerialParallel serial;
  double direct = median(301, 2000, [&] { interpreter().run(launch, serial); });
  double inlined = median(301, 2000, [&] { device.run(launch, nullptr, {}); });
  row("interpreter called directly", direct * 1e9, "ns");
  row("the same through run(), inline", inlined * 1e9, "ns");
  int64_t from = 1, to = 0;
  std::vector<CopyPiece> piece{{{1}, {8}, {8}, 0, 0, 8}};
  row("copy of 8 bytes, inline",
      1e9 * median(301, 2000, [&] { device.copy({&to, 8}, {&from, 8}, piece, {}); }), "ns");
  row("allocate and release 1,000 bytes",
      1e9 * median(301, 2000, [&] { device.release(device.allocate(1000)); }), "ns");
  row("allocate and release 8 MB, reused",
      1e9 * median(301, 2000, [&] { device.release(device.allocate(8'000'000)); }), "ns");
}

void bench_tasks(Device& device) {
  row("empty task and wait", 1e6 * median(21, 1000, [&] { wait(device.queue().submit([] {}, {})); }), "us");
  row("empty task, 1,000 in flight", 1e6 * median(21, 1, [&] {
        for (int i = 0; i < 1000; ++i) device.queue().submit([] {}, {});
        wait(device.queue().last());
      }) / 1000, "us");
  row("empty task and wait, workers parked", 1e6 * (median(101, 1, [&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        wait(device.queue().submit([] {}, {}));
      }) - median(101, 1, [&] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); })), "us");
  auto other = make_thread_queue("bench");
  row("empty task of a thread queue and wait", 1e6 * median(21, 1000, [&] { wait(other->submit([] {}, {})); }), "us");
}

void bench_loops(Device& device) {
  auto in_task = [&](const std::function<void(Parallel&)>& body) { wait(device.call(body, {}, 1e9)); };
  double loop = 0, task = 0;
  in_task([&](Parallel& parallel) {
    std::function<void(int64_t)> nothing = [](int64_t) {};
    loop = median(101, 100, [&] { parallel.run(parallel.width(), nothing); });
    task = median(101, 100, [&] { parallel.run(1000, nothing); });
  });
  row("loop with an empty piece for each core", loop * 1e6, "us");
  row("loop with 1,000 empty pieces", task * 1e6, "us");
  constexpr int64_t kCount = 1 << 14;
  std::vector<double> values(2 * kCount, 1.0), sums(64);
  auto work = [&](int64_t piece) {
    double sum = 0;
    for (int64_t i = 0; i < kCount; ++i) sum = sum * 0.999 + values[(piece & 1) * kCount + i];
    sums[8 * (piece & 1)] = sum;
  };
  double alone = median(101, 20, [&] { work(0); work(1); });
  double together = 0;
  in_task([&](Parallel& parallel) {
    std::function<void(int64_t)> body = work;
    together = median(101, 20, [&] { parallel.run(2, body); });
  });
  row("two pieces of work, one after the other", alone * 1e6, "us");
  row("the same as a loop", together * 1e6, "us");
}

void bench_copies(Device& device) {
  SerialParallel serial;
  constexpr int64_t kBytes = 256 << 20;
  BufferView from = device.allocate(kBytes), to = device.allocate(kBytes);
  std::memset(from.data, 1, kBytes);
  auto gigabytes = [&](const CopyPiece& piece) {
    std::vector<CopyPiece> pieces{piece};
    return static_cast<double>(count_of(piece.shape) * piece.itemsize) / 1e9 / median(5, 1, [&] { wait(device.copy(to, from, pieces, {})); });
  };
  std::memset(to.data, 1, kBytes);
  row("memcpy of 256 MiB, one core", kBytes / 1e9 / median(5, 1, [&] { std::memcpy(to.data, from.data, kBytes); }), "GB/s");
  row("copy of 256 MiB, all cores", gigabytes({{kBytes}, {1}, {1}, 0, 0, 1}), "GB/s");
  for (int64_t size : {1, 2, 4, 8, 16}) {
    int64_t n = 4096, m = kBytes / size / n;
    row(str("transposed, items of ", size, " bytes").c_str(),
        gigabytes({{n, m}, {m * size, size}, {size, n * size}, 0, 0, size}), "GB/s");
  }
  row("every second item of 4 bytes", gigabytes({{kBytes / 8}, {4}, {8}, 0, 0, 4}), "GB/s");
  row("reversed, items of 8 bytes", gigabytes({{kBytes / 8}, {8}, {-8}, 0, kBytes - 8, 8}), "GB/s");
  row("one item of 8 bytes repeated", gigabytes({{kBytes / 8}, {8}, {0}, 0, 0, 8}), "GB/s");
  row("rows of 24 bytes from rows of 32", gigabytes({{kBytes / 32, 3}, {24, 8}, {32, 8}, 0, 0, 8}), "GB/s");
  int64_t side = 64, plane = side * side;
  row("a cube of 64, axes reversed, items of 8 bytes (from cache)",
      gigabytes({{side, side, side}, {8 * plane, 8 * side, 8}, {8, 8 * side, 8 * plane}, 0, 0, 8}), "GB/s");
  device.release(from);
  device.release(to);
  row("allocate and touch 256 MiB anew", kBytes / 1e9 / median(5, 1, [&] {
        BufferView fresh = device.allocate(kBytes + (4 << 20));
        wait(device.copy(fresh, fresh, {{{kBytes / 8 - 1}, {8}, {0}, 8, 0, 8}}, {}));
        device.release(fresh);
        device.release(device.allocate(size_t{2} << 30));  // pushes the other out of the cache
      }), "GB/s");
}

}  // namespace

}  // namespace tilewise

int main(int argc, char** argv) {
  using namespace tilewise;
  Machine& machine = make_machine(argc > 1 ? argv[1] : "cpu:1", 0, 1);
  std::printf("%s", machine.describe().c_str());
  Device& device = *machine.devices()[0];
  bench_inline(device);
  bench_tasks(device);
  bench_loops(device);
  bench_copies(device);
}
