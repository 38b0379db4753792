// The kernels of selection against a plain loop, on every instruction set's lengths; memory ends where they must end.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "ops/simd/select_block.h"

namespace tilewise::ops {
namespace {

TEST(SelectBlock, PacksWhatIsChosen) {
  std::mt19937 random(2);
  for (const int64_t n : {0, 1, 7, 16, 63, 64, 65, 257, 4096})
    for (const int share : {0, 1, 50, 99, 100}) {
      std::vector<uint8_t> mask(n);
      for (auto& m : mask) m = random() % 100 < static_cast<unsigned>(share) ? 1 + random() % 255 : 0;  // any byte is true
      std::vector<int64_t> want;
      for (int64_t i = 0; i < n; ++i)
        if (mask[i]) want.push_back(i);
      const int64_t chosen = static_cast<int64_t>(want.size());
      ASSERT_EQ(simd::count_true(mask.data(), n), chosen);
      std::vector<int64_t> positions(chosen);
      simd::pack_positions(mask.data(), 1000, n, positions.data(), chosen);
      for (int64_t k = 0; k < chosen; ++k) ASSERT_EQ(positions[k], 1000 + want[k]);
      for (const int64_t size : {1, 2, 3, 4, 8, 16, 40}) {
        std::vector<char> values(n * size), packed(chosen * size);
        for (auto& v : values) v = static_cast<char>(random());
        simd::pack_chosen(mask.data(), values.data(), size, n, packed.data(), chosen);
        for (int64_t k = 0; k < chosen; ++k)
          ASSERT_EQ(std::memcmp(packed.data() + k * size, values.data() + want[k] * size, size), 0) << n << " " << size;
      }
    }
}

}  // namespace
}  // namespace tilewise::ops
