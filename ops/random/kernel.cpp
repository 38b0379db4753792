#include "ops/random/kernel.h"

#include <cmath>

#include "ops/random/parse.h"
#include "runtime/base/error.h"

namespace tilewise::ops {

namespace {

constexpr int64_t kPiece = 1 << 14;      // values that a core fills at a time
constexpr int64_t kBlock = 1 << 12;      // elements that a core reads at a time
constexpr int64_t kWindow = 32;          // blocks between two meetings of the cores
constexpr int64_t kCached = 1 << 11;     // values scaled while they lie in the first cache

// What is done to floating values behind the distribution.
struct Affine {
  bool scales, shifts;
  double scale, shift;

  template <class T>
  void operator()(T* values, int64_t n) const {
    if constexpr (std::is_floating_point_v<T>) {
      const T a = static_cast<T>(scale), b = static_cast<T>(shift);
      if (scales && shifts)
        for (int64_t i = 0; i < n; ++i) values[i] = b + a * values[i];
      else if (scales)
        for (int64_t i = 0; i < n; ++i) values[i] = a * values[i];
    }
  }
};

template <class S>
class Kernel final : public RandomKernel {
 public:
  using Value = typename S::Value;
  using Reader = typename S::Reader;
  static constexpr int kYield = S::kYield;

  Kernel(S sampler, Affine affine) : s_(sampler), affine_(affine) {}

  bool fixed() const override { return s_.fixed(); }
  int64_t position_behind(int64_t n) const override { return (n + kYield - 1) / kYield; }
  double elements(double n) const override {
    if constexpr (Walks<S>) return n * S::kElements;
    else return n / kYield / s_.accepted();
  }
  RandomState state_at(const RandomState& start, int64_t position) const override { return Reader::end(start, position); }

  void count(const RandomState& start, int64_t size, int64_t first, int64_t last, int64_t* to,
             Parallel& parallel) const override {
    parallel.run(last - first, [&](int64_t i) {
      const int64_t begin = (first + i) * size;
      const Reading reading = read_block(s_, start, begin, begin + size, nullptr);
      to[2 * i] = reading.count;
      to[2 * i + 1] = reading.exit;
    });
  }

  Entry locate(const RandomState& start, int64_t size, int64_t blocks, const int64_t* counts, int64_t index) const override {
    if (s_.fixed()) return {index / kYield, index / kYield * kYield};
    Entry entry;
    for (int64_t b = 0; b < blocks; ++b) {
      const Reading reading{counts[2 * b], counts[2 * b + 1]};
      const auto block = stitch(s_, start, b * size, (b + 1) * size, entry.position, reading);
      if (entry.index + block.count(reading) > index) break;
      entry = {block.exit, entry.index + block.count(reading)};
    }
    return entry;
  }

  int64_t fill(const RandomState& start, Entry entry, int64_t begin, int64_t end, void* to,
               Parallel& parallel) const override {
    if (s_.fixed()) {
      const int64_t pieces = (end - begin + kPiece - 1) / kPiece;
      parallel.run(pieces, [&](int64_t p) {
        const int64_t lo = begin + p * kPiece, hi = std::min(end, lo + kPiece);
        Reader from(start, lo / kYield);
        draw_from(from, lo / kYield * kYield, lo, hi, static_cast<Value*>(to) + p * kPiece);
      });
      return position_behind(end);
    }
    Reader from(start, entry.position);
    return draw_shared(start, from, entry.index, begin, end, static_cast<Value*>(to), parallel);
  }

 private:
  // Values up to `begin`, from index on, are passed over; those of an element that reaches over it are kept.
  void pass_over(Reader& from, int64_t* index, int64_t begin, int64_t end, Value** to) const {
    Value some[kYield];
    while (*index < begin) {
      from.want(begin - *index);
      const int taken = draw_next(s_, from, some);
      for (int k = 0; k < taken; ++k)
        if (*index + k >= begin && *index + k < end) *(*to)++ = some[k];
      *index += taken;
    }
  }

  void draw_scaled(Reader& from, int64_t n, Value* to) const {
    if (!affine_.scales) return draw_count(s_, from, n, to);
    for (; n > 0; n -= kCached, to += kCached) {
      draw_count(s_, from, std::min(n, kCached), to);
      affine_(to, std::min(n, kCached));
    }
  }

  void draw_from(Reader& from, int64_t index, int64_t begin, int64_t end, Value* to) const {
    Value* const first = to;
    pass_over(from, &index, begin, end, &to);
    affine_(first, to - first);
    if (index < end) draw_scaled(from, end - index, to);
  }

  int64_t draw_shared(const RandomState& start, Reader& from, int64_t index, int64_t begin, int64_t end, Value* to,
                      Parallel& parallel) const {
    Value* const first = to;
    pass_over(from, &index, begin, end, &to);
    affine_(first, to - first);
    int64_t left = end - index, position = from.position();
    if (parallel.width() > 1 && left >= 4 * kBlock * kYield) {
      while (left >= 4 * kBlock * kYield) {
        const int64_t blocks = std::min(kWindow, left / (kBlock * kYield));
        const int64_t drawn = draw_window(start, blocks, &position, to, parallel);
        to += drawn;
        left -= drawn;
      }
      from = Reader(start, position);
    }
    if (left > 0) draw_scaled(from, left, to);
    return from.position();
  }

  // Values of the next blocks, read by all cores into memory of their own, then put where they belong.
  int64_t draw_window(const RandomState& start, int64_t blocks, int64_t* position, Value* to, Parallel& parallel) const {
    constexpr int64_t kSlot = (kBlock + 1) * kYield;
    static thread_local std::vector<char> memory;
    memory.resize(kWindow * kSlot * sizeof(Value));
    Value* const slots = reinterpret_cast<Value*>(memory.data());
    const int64_t origin = *position;
    Reading readings[kWindow];
    parallel.run(blocks, [&](int64_t b) {
      const int64_t at = origin + b * kBlock;
      readings[b] = read_block(s_, start, at, at + kBlock, slots + b * kSlot);
      affine_(slots + b * kSlot, readings[b].count);
    });
    Stitched<S> stitched[kWindow];
    int64_t offsets[kWindow + 1] = {};
    for (int64_t b = 0; b < blocks; ++b) {
      const int64_t at = origin + b * kBlock;
      stitched[b] = stitch(s_, start, at, at + kBlock, *position, readings[b]);
      affine_(stitched[b].head.data(), static_cast<int64_t>(stitched[b].head.size()));
      *position = stitched[b].exit;
      offsets[b + 1] = offsets[b] + stitched[b].count(readings[b]);
    }
    parallel.run(blocks, [&](int64_t b) {
      Value* at = std::copy(stitched[b].head.begin(), stitched[b].head.end(), to + offsets[b]);
      std::copy(slots + b * kSlot + stitched[b].skip, slots + b * kSlot + readings[b].count, at);
    });
    return offsets[blocks];
  }

  S s_;
  Affine affine_;
};

template <class S>
std::unique_ptr<const RandomKernel> made(const Draw& draw, S sampler) {
  return std::make_unique<Kernel<S>>(sampler, Affine{draw.scales, draw.shifts, draw.scale, draw.shift});
}

template <template <class> class S>
std::unique_ptr<const RandomKernel> of_float(const Draw& draw) {
  if (draw.dtype == DType::kFloat32) return made(draw, S<float>());
  return made(draw, S<double>());
}

// Integers of a range as wide as U can hold, from pieces of U's size.
template <class T, class U>
std::unique_ptr<const RandomKernel> of_range(const Draw& draw) {
  const T low = static_cast<T>(draw.low);
  const U range = static_cast<U>(draw.range);
  if (range == static_cast<U>(~U{0})) return made(draw, Bits<T, U>(low));
  return made(draw, Bounded<T, U>(low, range));
}

std::unique_ptr<const RandomKernel> of_integers(const Draw& draw) {
  switch (itemsize(draw.dtype)) {
    case 1:
      if (draw.dtype == DType::kBool) return made(draw, Bits<uint8_t, bool>());
      return of_range<uint8_t, uint8_t>(draw);
    case 2: return of_range<uint16_t, uint16_t>(draw);
    case 4: return of_range<uint32_t, uint32_t>(draw);
    default:
      if (draw.range <= 0xffffffffu) return of_range<uint64_t, uint32_t>(draw);
      return of_range<uint64_t, uint64_t>(draw);
  }
}

}  // namespace

std::unique_ptr<const RandomKernel> random_kernel(const Draw& draw) {
  switch (draw.distribution) {
    case Distribution::kUniform: return of_float<Uniform>(draw);
    case Distribution::kIntegers: return of_integers(draw);
    case Distribution::kNormal: return of_float<Normal>(draw);
    case Distribution::kExponential: return of_float<Exponential>(draw);
    case Distribution::kInverseExponential: return of_float<InverseExponential>(draw);
  }
  throw Error(ErrorKind::kInternal, "unknown distribution");
}

}  // namespace tilewise::ops
