// Times of the SIMD interpreter on programs like those of scaling/programs: nanoseconds an element and GB/s.
//
//   bench_simd [cores] [name...]
#include <atomic>
#include <chrono>
#include <ctime>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "ops/interp_simd.h"
#include "ops/op_table.h"
#include "ops/opcode.h"
#include "runtime/launch.h"

namespace tilewise::ops {
namespace {

// Threads that spin for work: a bench measures kernels, not wake-ups.
class Spinning final : public Parallel {
 public:
  explicit Spinning(int width) : width_(width) {
    for (int i = 1; i < width; ++i) threads_.emplace_back([this] { serve(); });
  }
  ~Spinning() {
    stop_ = true;
    for (std::thread& t : threads_) t.join();
  }
  int width() const override { return width_; }
  void run(int64_t count, const std::function<void(int64_t)>& body) override {
    body_ = &body;
    done_ = 0;
    count_ = count;
    next_ = 0;
    ++round_;
    work();
    while (done_ < width_ - 1) {
    }
  }

 private:
  void work() {
    for (int64_t i; (i = next_++) < count_;) (*body_)(i);
  }
  void serve() {
    int64_t seen = 0;
    while (!stop_) {
      if (round_ == seen) continue;
      seen = round_;
      work();
      ++done_;
    }
  }
  int width_;
  std::vector<std::thread> threads_;
  std::atomic<bool> stop_{false};
  std::atomic<int64_t> round_{0}, next_{1 << 30}, done_{0}, count_{0};
  const std::function<void(int64_t)>* body_ = nullptr;
};

constexpr DType f32 = DType::kFloat32, f64 = DType::kFloat64, c128 = DType::kComplex128;

// A program under construction, with short names.
struct Build {
  Program p;
  std::vector<Scalar> params;

  uint16_t load(DType t) {
    p.accesses.push_back({t, itemsize(t), false});
    return p.push({kLoad, t, static_cast<uint16_t>(p.accesses.size() - 1), kNone, kNone}, t);
  }
  uint16_t constant(DType t, double v) {
    params.push_back(t == f32 ? Scalar::of(t, static_cast<float>(v)) : Scalar::of(t, v));
    p.params.push_back(t);
    return p.push({kParam, t, static_cast<uint16_t>(params.size() - 1), kNone, kNone}, t);
  }
  uint16_t row(Opcode op, uint16_t a, uint16_t b = kNone, uint16_t c = kNone) {
    const DType t = p.type[op_info(op).select ? b : a];
    return p.push({op, t, a, b, c}, op_info(op).result_type(t));
  }
  uint16_t cast(uint16_t a, DType to) {
    return p.push({kCast, p.type[a], a, kNone, static_cast<uint16_t>(to)}, to);
  }
  void store(uint16_t a) {
    const DType t = p.type[a];
    p.accesses.push_back({t, itemsize(t), true});
    p.push({kStore, t, a, static_cast<uint16_t>(p.accesses.size() - 1), kNone}, t);
  }
  uint16_t reduce(uint16_t a, Reduction r) {
    p.reductions.push_back(r);
    const DType t = p.type[a];
    return p.push({kReduce, t, a, static_cast<uint16_t>(p.reductions.size() - 1), kNone}, reduced_type(r, t));
  }
};

// Processor time with one core, so that a busy machine matters less; else wall time.
double now(const Parallel& parallel) {
  if (parallel.width() > 1)
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Runs a program over dense arrays (or broadcast ones) and prints its time.
void measure(const std::string& name, const Build& b, const Dims& extents, const std::vector<uint64_t>& broadcasts,
             Parallel& parallel, bool flags = false) {
  const int rank = extents.size();
  std::vector<std::vector<char>> memory;
  std::vector<Operand> operands;
  double bytes = 0;
  for (size_t a = 0; a < b.p.accesses.size(); ++a) {
    const Access& access = b.p.accesses[a];
    Dims shape = extents;
    for (int k = 0; k < rank; ++k)
      if (a < broadcasts.size() && broadcasts[a] >> k & 1) shape[k] = 1;
    Dims strides = c_strides(shape, access.itemsize);
    for (int k = 0; k < rank; ++k)
      if (shape[k] == 1) strides[k] = 0;
    const int64_t n = count_of(shape);
    memory.emplace_back(n * access.itemsize + 128);
    char* base = memory.back().data() + (64 - reinterpret_cast<uintptr_t>(memory.back().data()) % 64);
    for (int64_t i = 0; i < n; ++i) {
      const double v = 1 + (i * 7919 % 10007) * 0.0001;
      if (access.dtype == f32) reinterpret_cast<float*>(base)[i] = static_cast<float>(v);
      if (access.dtype == f64) reinterpret_cast<double*>(base)[i] = v;
      if (access.dtype == c128) reinterpret_cast<double*>(base)[2 * i] = v - 1, reinterpret_cast<double*>(base)[2 * i + 1] = 1 - v / 2;
    }
    operands.push_back({base, strides});
    bytes += static_cast<double>(n) * access.itemsize;
  }
  std::vector<std::vector<char>> states;
  std::vector<ReduceTarget> targets;
  for (const Instr& in : b.p.code) {
    if (in.op != kReduce) continue;
    bool used = false;
    for (const Instr& other : b.p.code)
      if (other.op >= kFirstRow && (other.a == &in - b.p.code.data() || other.b == &in - b.p.code.data())) used = true;
    const int axis = 63 - __builtin_clzll(b.p.reductions[in.b].axes);
    states.emplace_back(count_of(extents) / extents[axis] * state_bytes(b.p.reductions[in.b], in.dtype));
    targets.push_back({used ? nullptr : states.back().data(), 0, extents[axis], extents[axis]});
  }
  std::vector<uint8_t> seen(b.p.code.size());
  Launch launch;
  launch.program = &b.p;
  launch.extents = extents;
  launch.origin = Dims(rank, 0);
  launch.operands = operands.data();
  launch.params = b.params.data();
  launch.reductions = targets.data();
  launch.fp_flags = flags ? seen.data() : nullptr;
  using Clock = std::chrono::steady_clock;
  const double elements = static_cast<double>(count_of(extents));
  const int inner = elements < 1e5 ? 2000 : 1;
  double best = 1e9;
  const auto start = Clock::now();
  for (int rep = 0; rep < 200 && (rep < 5 || Clock::now() - start < std::chrono::milliseconds(400)); ++rep) {
    const double t0 = now(parallel);
    for (int i = 0; i < inner; ++i) run_simd(launch, parallel);
    best = std::min(best, (now(parallel) - t0) / inner);
  }
  std::printf("%-34s %10.3f us  %8.4f ns/element  %6.1f GB/s  %5.2f ns/element/instruction\n", name.c_str(), best * 1e6,
              best * 1e9 / elements, bytes / best / 1e9, best * 1e9 / elements / static_cast<double>(b.p.code.size()));
}

uint16_t normal(Build& b, uint16_t d) {
  const double a[] = {0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429};
  const uint16_t one = b.constant(f32, 1), zero = b.constant(f32, 0);
  const uint16_t k = b.row(op::divide, one, b.row(op::add, one, b.row(op::multiply, b.constant(f32, 0.2316419), b.row(op::absolute, d))));
  uint16_t poly = b.row(op::multiply, k, b.constant(f32, a[4]));
  for (int i = 3; i >= 0; --i) poly = b.row(op::multiply, k, b.row(op::add, b.constant(f32, a[i]), poly));
  const uint16_t e = b.row(op::exp, b.row(op::multiply, b.row(op::multiply, b.constant(f32, -0.5), d), d));
  const uint16_t c = b.row(op::multiply, b.row(op::multiply, b.constant(f32, 0.3989422804), e), poly);
  return b.row(op::where, b.row(op::greater, d, zero), b.row(op::subtract, one, c), c);
}

Build black_scholes() {
  Build b;
  const uint16_t s = b.load(f32), x = b.load(f32), t = b.load(f32);
  const uint16_t root = b.row(op::sqrt, t), v = b.constant(f32, 0.3), one = b.constant(f32, 1);
  const uint16_t top = b.row(op::add, b.row(op::log, b.row(op::divide, s, x)), b.row(op::multiply, b.constant(f32, 0.065), t));
  const uint16_t vt = b.row(op::multiply, v, root), d1 = b.row(op::divide, top, vt), d2 = b.row(op::subtract, d1, vt);
  const uint16_t c1 = normal(b, d1), c2 = normal(b, d2);
  const uint16_t e = b.row(op::exp, b.row(op::multiply, b.constant(f32, -0.02), t));
  const uint16_t xe = b.row(op::multiply, x, e);
  b.store(b.row(op::subtract, b.row(op::multiply, s, c1), b.row(op::multiply, xe, c2)));
  b.store(b.row(op::subtract, b.row(op::multiply, xe, b.row(op::subtract, one, c2)), b.row(op::multiply, s, b.row(op::subtract, one, c1))));
  return b;
}

void run_all(Parallel& parallel, const std::function<bool(const std::string&)>& wanted) {
  const auto bench = [&](const std::string& name, const Build& b, const Dims& extents, const std::vector<uint64_t>& broadcasts = {}, bool flags = false) {
    if (wanted(name)) measure(name, b, extents, broadcasts, parallel, flags);
  };
  bench("black_scholes 4M f32", black_scholes(), {4000000});
  bench("black_scholes 4M f32, flags", black_scholes(), {4000000}, {}, true);
  bench("black_scholes 8192 f32, flags", black_scholes(), {8192}, {}, true);  // in the cache
  {
    Build b;
    const uint16_t x = b.load(f32), m = b.reduce(x, {ReduceState::kPlain, op::maximum, 2});
    const uint16_t e = b.row(op::exp, b.row(op::subtract, x, m));
    const uint16_t s = b.reduce(e, {ReduceState::kPlain, op::add, 2});
    b.store(b.row(op::divide, e, s));
    bench("softmax 8192x1024 f32", b, {8192, 1024});
    bench("softmax 131072x64 f32", b, {131072, 64});
    bench("softmax 128x65536 f32", b, {128, 65536});
  }
  {
    Build b;
    const uint16_t x = b.load(f32);
    b.reduce(x, {ReduceState::kPlain, op::add, 1});
    bench("sum 8M f32", b, {8000000});
    b.reduce(x, {ReduceState::kPlain, op::maximum, 1});
    bench("sum, max 8M f32", b, {8000000});
    b.reduce(b.row(op::multiply, x, x), {ReduceState::kPlain, op::add, 1});
    bench("sum, max, sum(x*x) 8M f32", b, {8000000});
    b.reduce(x, {ReduceState::kMoments, 0, 1});
    bench("sum, max, sum(x*x), var 8M f32", b, {8000000});
  }
  {
    Build b;
    b.reduce(b.load(f64), {ReduceState::kPlain, op::add, 1});
    bench("sum 8M f64", b, {8000000});
    bench("sum axis 0 5000x5000 f64", b, {5000, 5000});
  }
  {
    Build b;
    b.reduce(b.load(f32), {ReduceState::kPlain, op::add, 1});
    bench("sum axis 0 10000x10000 f32", b, {10000, 10000});
    bench("sum axis 0 400000x32 f32", b, {400000, 32});
    Build c;
    const uint16_t x = c.load(f32);
    c.reduce(c.row(op::multiply, x, x), {ReduceState::kPlain, op::add, 2});
    bench("sum(x*x) axis 1 400000x16 f32", c, {400000, 16});
  }
  {
    Build b;
    const uint16_t s = b.load(f32), c = b.load(f32), dot = b.load(f32);
    const uint16_t d = b.row(op::subtract, b.row(op::add, s, c), b.row(op::multiply, b.constant(f32, 2), dot));
    b.reduce(d, {ReduceState::kArgMin, 0, 2});
    bench("argmin of distances 400000x32 f32", b, {400000, 32}, {2, 1, 0});
    Build a;
    a.reduce(a.load(f32), {ReduceState::kArgMin, 0, 1});
    bench("argmin 8M f32", a, {8000000});
    Build o;
    const uint16_t lab = o.load(DType::kInt64), range = o.load(DType::kInt64);
    const uint16_t one = o.cast(o.row(op::equal, lab, range), f32);
    o.store(one);
    o.reduce(one, {ReduceState::kPlain, op::add, 1});
    bench("one-hot and its sum 400000x32", o, {400000, 32}, {2, 1});
  }
  {
    Build b;
    const uint16_t z = b.load(c128), c = b.load(c128), count = b.load(DType::kInt32);
    const uint16_t ok = b.row(op::less, b.row(op::absolute, z), b.constant(f64, 2));
    b.store(b.row(op::where, ok, b.row(op::add, b.row(op::multiply, z, z), c), z));
    b.store(b.row(op::add, count, b.cast(ok, DType::kInt32)));
    bench("mandelbrot step 1M c128", b, {1 << 20});
    Build m;  // all steps in one program
    uint16_t v = m.load(c128);
    const uint16_t k = m.load(c128), two = m.constant(f64, 2);
    uint16_t sum = m.load(DType::kInt32);
    for (int i = 0; i < 20; ++i) {
      const uint16_t in = m.row(op::less, m.row(op::absolute, v), two);
      v = m.row(op::where, in, m.row(op::add, m.row(op::multiply, v, v), k), v);
      sum = m.row(op::add, sum, m.cast(in, DType::kInt32));
    }
    m.store(sum);
    bench("mandelbrot 20 steps 1M c128", m, {1 << 20});
    Build a;
    a.store(a.row(op::absolute, a.load(c128)));
    bench("abs 1M c128", a, {1 << 20});
  }
  {
    Build b;  // n-body's three sums
    const uint16_t x = b.load(f32), xt = b.load(f32), y = b.load(f32), yt = b.load(f32), z = b.load(f32), zt = b.load(f32), m = b.load(f32);
    const uint16_t dx = b.row(op::subtract, xt, x), dy = b.row(op::subtract, yt, y), dz = b.row(op::subtract, zt, z);
    const uint16_t r = b.row(op::add, b.row(op::add, b.row(op::add, b.row(op::multiply, dx, dx), b.row(op::multiply, dy, dy)), b.row(op::multiply, dz, dz)), b.constant(f32, 0.01));
    const uint16_t inv = b.row(op::power, r, b.constant(f32, -1.5));
    for (const uint16_t d : {dx, dy, dz})
      b.reduce(b.row(op::multiply, b.row(op::multiply, d, inv), m), {ReduceState::kPlain, op::add, 2});
    bench("n-body 2048 f32", b, {2048, 2048}, {2, 1, 2, 1, 2, 1, 1});
  }
  for (const Opcode op : {op::exp, op::log, op::sin, op::tanh, op::log1p, op::expm1, op::power, op::hypot, op::arctan2, op::sqrt, op::divide, op::floor_divide, op::remainder})
    for (const DType t : {f32, f64}) {
      Build b;
      const uint16_t x = b.load(t);
      b.store(op_info(op).arity == 1 ? b.row(op, x) : b.row(op, x, b.load(t)));
      bench(std::string(op_info(op).name) + (t == f32 ? " 1M f32" : " 1M f64"), b, {1 << 20});
    }
  for (const int64_t n : {1, 10, 1000, 10000}) {
    Build b;
    const uint16_t x = b.load(f64), y = b.load(f64);
    uint16_t a = b.row(op::add, x, y);
    b.store(a);
    bench("a + b of " + std::to_string(n) + " f64", b, {n});
    Build c;
    uint16_t u = c.load(f64), v = c.load(f64);
    for (int i = 0; i < 10; ++i) {
      u = c.row(op::multiply, c.row(op::add, u, v), c.constant(f64, 0.5));
      v = c.row(op::multiply, c.row(op::subtract, v, u), c.constant(f64, 0.5));
      u = c.row(op::add, u, c.constant(f64, 0.25));
    }
    c.store(u);
    bench("50 operations on " + std::to_string(n) + " f64", c, {n});
  }
}

}  // namespace
}  // namespace tilewise::ops

int main(int argc, char** argv) {
  tilewise::ops::install();
  const int cores = argc > 1 ? std::atoi(argv[1]) : 1;
  tilewise::ops::Spinning parallel(cores > 0 ? cores : 1);
  tilewise::ops::run_all(parallel, [&](const std::string& name) {
    for (int i = 2; i < argc; ++i)
      if (name.find(argv[i]) != std::string::npos) return true;
    return argc <= 2;
  });
}
