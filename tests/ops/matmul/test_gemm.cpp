// The product on one device: right for every type and any strides, and the same bits for every cut and number of cores.
#include "ops/matmul/gemm.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "runtime/base/convert.h"

namespace tilewise::ops {
namespace {

// Every piece on a thread of its own, at most `width` at a time.
class Threads : public Parallel {
 public:
  explicit Threads(int width) : width_(width) {}
  int width() const override { return width_; }
  void run(int64_t count, const std::function<void(int64_t)>& body) override {
    std::vector<std::thread> threads;
    for (int w = 0; w < width_; ++w)
      threads.emplace_back([&, w] { for (int64_t i = w; i < count; i += width_) body(i); });
    for (std::thread& thread : threads) thread.join();
  }

 private:
  int width_;
};

template <class T>
std::vector<T> random_values(int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<T> values(count);
  for (T& v : values) {
    if constexpr (kIsComplex<T>) v = T(uniform(generator), uniform(generator));
    else if constexpr (std::is_integral_v<T>) v = static_cast<T>(generator() * 0x9e3779b97f4a7c15ull >> 7);
    else if constexpr (kIsHalf<T>) v = to_half(uniform(generator));
    else v = static_cast<T>(uniform(generator));
  }
  return values;
}

template <class T>
MatrixIn dense(const T* data, int64_t columns) {
  return {reinterpret_cast<const char*>(data), columns * static_cast<int64_t>(sizeof(T)), sizeof(T)};
}
template <class T>
MatrixOut dense_out(T* data, int64_t columns) {
  return {reinterpret_cast<char*>(data), columns * static_cast<int64_t>(sizeof(T)), sizeof(T)};
}

template <class T, DType kType>
struct Case {
  using type = T;
  static constexpr DType dtype = kType;
};
using Floats = ::testing::Types<Case<float, DType::kFloat32>, Case<double, DType::kFloat64>,
                                Case<std::complex<float>, DType::kComplex64>,
                                Case<std::complex<double>, DType::kComplex128>>;
template <class T>
class GemmFloats : public ::testing::Test {};
TYPED_TEST_SUITE(GemmFloats, Floats);

TYPED_TEST(GemmFloats, MatchesTheDefinition) {
  using T = typename TypeParam::type;
  Threads cores(2);
  for (auto [m, n, k] : {std::array<int64_t, 3>{1, 1, 1}, {3, 5, 7}, {1, 40, 30}, {40, 1, 30}, {33, 70, 500}, {15, 3, 900}}) {
    const auto a = random_values<T>(m * k, 1), b = random_values<T>(k * n, 2);
    std::vector<T> c(m * n);
    gemm(TypeParam::dtype, TypeParam::dtype, m, n, k, dense(a.data(), k), dense(b.data(), n), dense_out(c.data(), n),
         false, cores);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        std::complex<long double> sum = 0;
        for (int64_t p = 0; p < k; ++p)
          sum += std::complex<long double>(a[i * k + p]) * std::complex<long double>(b[p * n + j]);
        const double bound = (sizeof(T) == 4 || std::is_same_v<T, std::complex<float>> ? 1e-6 : 2e-15) * k;
        ASSERT_NEAR(std::abs(std::complex<long double>(c[i * n + j]) - sum), 0, bound) << m << " " << n << " " << k;
      }
    }
  }
}

TYPED_TEST(GemmFloats, BitsDoNotDependOnCutsCoresOrStrides) {
  using T = typename TypeParam::type;
  constexpr DType kType = TypeParam::dtype;
  const int64_t m = 67, n = 85;
  for (int64_t k : {1, 100, 384, 385, 1000, 4000}) {
    const auto a = random_values<T>(m * k, 3), b = random_values<T>(k * n, 4);
    std::vector<T> at(m * k), bt(k * n), whole(m * n);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t p = 0; p < k; ++p) at[p * m + i] = a[i * k + p];
    for (int64_t j = 0; j < n; ++j)
      for (int64_t p = 0; p < k; ++p) bt[j * k + p] = b[p * n + j];
    Threads one(1), three(3);
    gemm(kType, kType, m, n, k, dense(a.data(), k), dense(b.data(), n), dense_out(whole.data(), n), false, three);
    const int64_t size = sizeof(T);
    for (int64_t rows : {1, 2, 3, 8, 14, 15, 29, 67}) {
      for (int64_t columns : {1, 2, 7, 16, 31, 33, 64, 85}) {
        const int64_t i0 = (m - rows) / 2, j0 = (n - columns) / 3;
        std::vector<T> plain(rows * columns), turned(rows * columns);
        gemm(kType, kType, rows, columns, k, dense(&a[i0 * k], k), dense(&b[j0], n), dense_out(plain.data(), columns),
             false, one);
        gemm(kType, kType, rows, columns, k, {reinterpret_cast<const char*>(&at[i0]), size, m * size},
             {reinterpret_cast<const char*>(&bt[j0 * k]), size, k * size},
             {reinterpret_cast<char*>(turned.data()), size, rows * size}, false, three);
        for (int64_t i = 0; i < rows; ++i) {
          for (int64_t j = 0; j < columns; ++j) {
            const T* expected = &whole[(i0 + i) * n + j0 + j];
            ASSERT_EQ(std::memcmp(&plain[i * columns + j], expected, size), 0) << rows << "x" << columns << " of " << k;
            ASSERT_EQ(std::memcmp(&turned[j * rows + i], expected, size), 0) << rows << "x" << columns << " of " << k;
          }
        }
      }
    }
  }
}

TYPED_TEST(GemmFloats, PartsOfTheDepthAddUpInOrder) {
  using T = typename TypeParam::type;
  constexpr DType kType = TypeParam::dtype;
  const int64_t m = 20, n = 50, k = 3 * kChunk + 17;
  const auto a = random_values<T>(m * k, 5), b = random_values<T>(k * n, 6);
  std::vector<T> whole(m * n), parts(m * n);
  Threads cores(2);
  gemm(kType, kType, m, n, k, dense(a.data(), k), dense(b.data(), n), dense_out(whole.data(), n), false, cores);
  for (int64_t at = 0; at < k; at += 2 * kChunk)
    gemm(kType, kType, m, n, std::min(2 * kChunk, k - at), dense(&a[at], k), dense(&b[at * n], n),
         dense_out(parts.data(), n), at > 0, cores);
  EXPECT_EQ(std::memcmp(whole.data(), parts.data(), whole.size() * sizeof(T)), 0);
}

template <class T>
void check_integers(DType dtype) {
  const int64_t m = 19, n = 37, k = 800;
  const auto a = random_values<T>(m * k, 7), b = random_values<T>(k * n, 8);
  std::vector<T> c(m * n);
  Threads cores(2);
  gemm(dtype, dtype, m, n, k, dense(a.data(), k), dense(b.data(), n), dense_out(c.data(), n), false, cores);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      uint64_t sum = 0;
      for (int64_t p = 0; p < k; ++p) sum += static_cast<uint64_t>(a[i * k + p]) * static_cast<uint64_t>(b[p * n + j]);
      ASSERT_EQ(c[i * n + j], static_cast<T>(sum)) << name(dtype);
    }
  }
}

TEST(Gemm, IntegersWrap) {
  check_integers<int8_t>(DType::kInt8);
  check_integers<int16_t>(DType::kInt16);
  check_integers<int32_t>(DType::kInt32);
  check_integers<int64_t>(DType::kInt64);
  check_integers<uint8_t>(DType::kUInt8);
  check_integers<uint16_t>(DType::kUInt16);
  check_integers<uint32_t>(DType::kUInt32);
  check_integers<uint64_t>(DType::kUInt64);
}

TEST(Gemm, BoolsAreOrOfAnds) {
  const int64_t m = 9, n = 21, k = 6;
  const auto bits = random_values<double>(m * k + k * n, 9);
  const std::unique_ptr<bool[]> a(new bool[m * k]), b(new bool[k * n]), c(new bool[m * n]);
  for (int64_t i = 0; i < m * k; ++i) a[i] = bits[i] > 0.5;
  for (int64_t i = 0; i < k * n; ++i) b[i] = bits[m * k + i] > 0.5;
  Threads cores(1);
  gemm(DType::kBool, DType::kBool, m, n, k, dense(a.get(), k), dense(b.get(), n), dense_out(c.get(), n), false, cores);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      bool any = false;
      for (int64_t p = 0; p < k; ++p) any = any || (a[i * k + p] && b[p * n + j]);
      EXPECT_EQ(c[i * n + j], any);
    }
  }
}

TEST(Gemm, HalvesAreRoundedOnce) {
  const int64_t m = 5, n = 8, k = 1000;
  const auto a = random_values<Half>(m * k, 10), b = random_values<Half>(k * n, 11);
  std::vector<Half> c(m * n);
  Threads cores(2);
  gemm(DType::kFloat16, DType::kFloat16, m, n, k, dense(a.data(), k), dense(b.data(), n), dense_out(c.data(), n), false,
       cores);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t p = 0; p < k; ++p) sum += static_cast<double>(to_float(a[i * k + p])) * to_float(b[p * n + j]);
      EXPECT_NEAR(to_float(c[i * n + j]), sum, std::abs(sum) / 1024 + 1e-3);
    }
  }
}

TEST(Gemm, NothingToAddGivesZero) {
  std::vector<double> c = {1, 2, 3, 4};
  Threads cores(1);
  gemm(DType::kFloat64, DType::kFloat64, 2, 2, 0, dense<double>(nullptr, 0), dense<double>(nullptr, 2),
       dense_out(c.data(), 2), false, cores);
  EXPECT_EQ(c, std::vector<double>(4, 0.0));
}

}  // namespace
}  // namespace tilewise::ops
