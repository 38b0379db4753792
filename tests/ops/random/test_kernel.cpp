// Draws are what a plain reading of the stream gives, from any entry, over any number of cores and blocks of any size.
#include "ops/random/kernel.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "ops/random/parse.h"
#include "runtime/serial.h"

namespace tilewise::ops {
namespace {

const RandomState kStart{0x1234567890abcdef, 0xfedcba0987654321, 0x2545f4914f6cdd1d, 0x9e3779b97f4a7c15, 0, 0};
const RandomState kHalfStart{7, 8, 9, 11, 1, 0xdeadbeef};

// Every piece on a thread of its own, at most `width` at a time.
class Threads : public Parallel {
 public:
  int width() const override { return 3; }
  void run(int64_t count, const std::function<void(int64_t)>& body) override {
    std::vector<std::thread> threads;
    for (int w = 0; w < 3; ++w)
      threads.emplace_back([&, w] { for (int64_t i = w; i < count; i += 3) body(i); });
    for (std::thread& thread : threads) thread.join();
  }
};

std::vector<uint64_t> one_by_one(Congruence at, int64_t n) {
  std::vector<uint64_t> words(n);
  for (uint64_t& word : words) fill_words(at, 1, &word);
  return words;
}

TEST(Pcg64, JumpsAndInterleavedStreamsGiveTheSameWords) {
  const auto want = one_by_one(congruence(kStart), 1000);
  for (int64_t from : {0, 1, 2, 3, 8, 500, 993}) {
    Words words(kStart, from);
    for (int64_t i = from; i < 1000; ++i) {
      words.want(1000 - i);
      ASSERT_EQ(words.position(), i);
      ASSERT_EQ(words.next(), want[i]) << i;
    }
  }
  EXPECT_TRUE(advanced(congruence(kStart), 0).state == congruence(kStart).state);
  EXPECT_TRUE(advanced(advanced(congruence(kStart), 1ull << 40), 77).state ==
              advanced(congruence(kStart), (1ull << 40) + 77).state);
}

TEST(Pcg64, HalvesBeginWithTheOneThatIsLeft) {
  for (const RandomState& start : {kStart, kHalfStart}) {
    std::vector<uint32_t> want;
    if (start.has_half) want.push_back(static_cast<uint32_t>(start.half));
    for (uint64_t word : one_by_one(congruence(start), 700)) {
      want.push_back(static_cast<uint32_t>(word));
      want.push_back(static_cast<uint32_t>(word >> 32));
    }
    for (int64_t from = 0; from < 12; ++from) {
      Halves halves(start, from);
      for (int64_t i = from; i < 1400; ++i) {
        ASSERT_EQ(halves.position(), i);
        ASSERT_EQ(halves.next(), want[i]) << i << " from " << from;
      }
      // A state taken on the way goes on where the reader was.
      const RandomState later = Halves::end(start, from);
      Halves rest(later, 0);
      for (int64_t i = from; i < from + 20; ++i) ASSERT_EQ(rest.next(), want[i]) << i << " behind " << from;
    }
  }
}

struct Case {
  Distribution distribution;
  DType dtype;
  uint64_t range = 0;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (DType dtype : {DType::kFloat64, DType::kFloat32})
    for (auto d : {Distribution::kUniform, Distribution::kNormal, Distribution::kExponential}) all.push_back({d, dtype});
  for (auto [dtype, range] : {std::pair{DType::kInt8, 130u}, {DType::kInt16, 40000u}, {DType::kUInt32, 3000000000u},
                              {DType::kInt64, 2500000000u}, {DType::kUInt8, 255u}, {DType::kBool, 1u}, {DType::kInt8, 7u}})
    all.push_back({Distribution::kIntegers, dtype, range});
  all.push_back({Distribution::kIntegers, DType::kUInt64, 3ull << 62});
  return all;
}

TEST(RandomKernel, AnyCutGivesTheSameValues) {
  constexpr int64_t kCount = 60000;
  for (const Case& c : cases()) {
    for (const RandomState& start : {kStart, kHalfStart}) {
      Draw draw;
      draw.distribution = c.distribution;
      draw.dtype = c.dtype;
      draw.range = c.range;
      const auto kernel = random_kernel(draw);
      const int64_t size = itemsize(c.dtype);
      std::vector<char> want(kCount * size), got(kCount * size);
      SerialParallel alone;
      Threads threads;
      const int64_t end = kernel->fill(start, {}, 0, kCount, want.data(), alone);
      EXPECT_EQ(kernel->fill(start, {}, 0, kCount, got.data(), threads), end);
      ASSERT_EQ(want, got);
      // Blocks so small that values reach over them, sometimes over several; found from counts, filled in odd parts.
      for (int64_t block : {1, 2, 3, 16, 1000, 1 << 14}) {
        const int64_t blocks = block < 16 ? 3000 : 50000 / block;
        std::vector<int64_t> counts(2 * blocks);
        kernel->count(start, block, 0, blocks / 3, counts.data(), threads);
        kernel->count(start, block, blocks / 3, blocks, counts.data() + blocks / 3 * 2, alone);
        for (int64_t first : {0l, 1l, 2l, 3l, 37l, 1001l, 2047l, 30001l, kCount - 1}) {
          const int64_t last = std::min(kCount, first + 70);
          const Entry entry = kernel->locate(start, block, blocks, counts.data(), first);
          ASSERT_LE(entry.index, first);
          std::vector<char> part((last - first) * size);
          const int64_t behind = kernel->fill(start, entry, first, last, part.data(), threads);
          ASSERT_EQ(std::memcmp(part.data(), want.data() + first * size, part.size()), 0)
              << static_cast<int>(c.distribution) << " " << name(c.dtype) << " block " << block << " from " << first;
          if (last == kCount) {
            ASSERT_EQ(behind, end);
          }
        }
      }
    }
  }
}

TEST(RandomKernel, TheStateBehindGoesOn) {
  for (const Case& c : cases()) {
    Draw draw;
    draw.distribution = c.distribution;
    draw.dtype = c.dtype;
    draw.range = c.range;
    const auto kernel = random_kernel(draw);
    const int64_t size = itemsize(c.dtype);
    SerialParallel alone;
    // Where a call ends within an element the rest of it is lost: compare what begins at one.
    std::vector<char> whole(640 * size), first(320 * size), rest(320 * size);
    kernel->fill(kHalfStart, {}, 0, 640, whole.data(), alone);
    const int64_t position = kernel->fill(kHalfStart, {}, 0, 320, first.data(), alone);
    kernel->fill(kernel->state_at(kHalfStart, position), {}, 0, 320, rest.data(), alone);
    first.insert(first.end(), rest.begin(), rest.end());
    if (kernel->fixed() || size >= 4) {
      EXPECT_EQ(first, whole) << static_cast<int>(c.distribution) << " " << name(c.dtype);
    }
  }
}

TEST(Ziggurat, StripsHaveEqualAreasAndTheDensitysHeight) {
  const DoubleZiggurat& normal = normal_doubles();
  const DoubleZiggurat& exponential = exponential_doubles();
  for (int i = 2; i < kStrips; ++i) {
    const double x = std::ldexp(normal.width[i], 52), y = std::ldexp(exponential.width[i], 53);
    EXPECT_NEAR(normal.density[i], std::exp(-0.5 * x * x), 1e-15);
    EXPECT_NEAR(exponential.density[i], std::exp(-y), 1e-15);
    EXPECT_NEAR(x * (normal.density[i - 1] - normal.density[i]), 0.00492867323397466, 1e-14);
    EXPECT_NEAR(y * (exponential.density[i - 1] - exponential.density[i]), 0.00394965982258156, 1e-14);
  }
  EXPECT_DOUBLE_EQ(std::ldexp(normal.width[kStrips - 1], 52), kNormalEdge);
  EXPECT_DOUBLE_EQ(std::ldexp(exponential.width[kStrips - 1], 53), kExponentialEdge);
}

}  // namespace
}  // namespace tilewise::ops
