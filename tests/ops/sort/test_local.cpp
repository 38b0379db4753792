// Sorting of one line: the order of std::stable_sort over keys, for every type, with odd values, many and few distinct ones,
// shared among cores or not.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "ops/sort/keys.h"
#include "ops/sort/local.h"
#include "tests/ops/simd/launch_maker.h"

namespace tilewise::ops {
namespace {

template <class T>
bool less(T a, T b) {
  if constexpr (kIsComplex<T>) return complex_less(a, b);
  else return key_of(a) < key_of(b);
}

template <class T>
void check_line(DType dtype, int64_t n, bool few, int width, std::mt19937& random) {
  const int64_t size = sizeof(T);
  std::vector<char> bytes(n * size), sorted(n * size);
  T* values = reinterpret_cast<T*>(bytes.data());
  fill_values(bytes.data(), {n}, {size}, dtype, random, true);
  for (int64_t i = 5; few && i < n; ++i) values[i] = values[random() % 5];
  std::vector<int64_t> want(n), order(n);
  std::iota(want.begin(), want.end(), int64_t{0});
  std::stable_sort(want.begin(), want.end(), [&](int64_t a, int64_t b) { return less(values[a], values[b]); });
  OddOrder cores(width);
  argsort_line(dtype, values, n, order.data(), cores);
  ASSERT_EQ(order, want) << name(dtype) << " " << n << " on " << width;
  sort_line(dtype, values, sorted.data(), n, cores);
  std::vector<char> expected(n * size);
  for (int64_t i = 0; i < n; ++i) std::memcpy(expected.data() + i * size, values + want[i], size);
  int64_t where;
  ASSERT_TRUE(same_values(dtype, sorted, expected, 0, &where)) << name(dtype) << " " << n << " on " << width << " at " << where;
}

TEST(SortLine, IsStableAndComplete) {
  std::mt19937 random(4);
  for (int d = 0; d < kNumericDTypes; ++d)
    for (const int64_t n : {0, 1, 2, 33, 1000, 100'000})
      for (const bool few : {false, true})
        for (const int width : {1, 2, 5}) {
          const DType dtype = static_cast<DType>(d);
          visit(dtype, [&](auto type) { check_line<typename decltype(type)::type>(dtype, n, few, width, random); });
          if (HasFatalFailure()) return;
        }
}

}  // namespace
}  // namespace tilewise::ops
