// The kernels of selection against a plain loop, on every instruction set's lengths; memory ends where they must end.
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
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

// Bytes that end where a page begins that nobody may touch: reading or writing past them ends the test, on any
// instruction set and without a sanitizer.
class Guarded {
 public:
  explicit Guarded(int64_t bytes) : page_(sysconf(_SC_PAGESIZE)), held_((bytes + page_ - 1) / page_ * page_) {
    base_ = static_cast<char*>(
        mmap(nullptr, held_ + page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (base_ == MAP_FAILED || mprotect(base_ + held_, page_, PROT_NONE)) std::abort();
    data_ = base_ + held_ - bytes;
  }
  Guarded(const Guarded&) = delete;
  ~Guarded() { munmap(base_, held_ + page_); }
  char* data() const { return data_; }

 private:
  int64_t page_, held_;
  char* base_;
  char* data_;
};

TEST(SelectBlock, TouchesNothingBehindItsMemory) {
  std::mt19937 random(3);
  for (int64_t n = 0; n <= 70; ++n)
    for (const int share : {0, 3, 50, 97, 100}) {
      const Guarded mask_memory(n);
      auto* mask = reinterpret_cast<uint8_t*>(mask_memory.data());
      int64_t chosen = 0;
      for (int64_t i = 0; i < n; ++i) chosen += mask[i] = random() % 100 < static_cast<unsigned>(share);
      ASSERT_EQ(simd::count_true(mask, n), chosen);
      const Guarded positions(chosen * 8);
      simd::pack_positions(mask, 0, n, reinterpret_cast<int64_t*>(positions.data()), chosen);
      for (const int64_t size : {1, 2, 3, 4, 8, 16}) {
        const Guarded values(n * size), packed(chosen * size);
        for (int64_t i = 0; i < n * size; ++i) values.data()[i] = static_cast<char>(i);
        simd::pack_chosen(mask, values.data(), size, n, packed.data(), chosen);
        for (int64_t i = 0, k = 0; i < n; ++i) {
          if (!mask[i]) continue;
          ASSERT_EQ(std::memcmp(packed.data() + k++ * size, values.data() + i * size, size), 0) << n << " " << size;
        }
      }
    }
}

}  // namespace
}  // namespace tilewise::ops
