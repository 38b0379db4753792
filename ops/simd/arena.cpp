#include "ops/simd/arena.h"

#include <algorithm>
#include <new>

namespace tilewise::ops::simd {

namespace {

constexpr std::align_val_t kAlign{64};
constexpr int64_t kKept = 8 << 20;

}  // namespace

void Arena::Free::operator()(char* p) const { ::operator delete(p, kAlign); }

Arena::Chunk Arena::make(int64_t size) {
  return Chunk(static_cast<char*>(::operator new(static_cast<size_t>(size), kAlign)));
}

Arena& Arena::of_thread() {
  thread_local Arena arena;
  return arena;
}

void Arena::grow() {
  const int64_t target = std::min(size_ + overflow_ + (int64_t{64} << 10), kKept);
  if (target > size_) {
    main_.reset();
    main_ = make(target);
    size_ = target;
  }
  extra_.clear();
  overflow_ = 0;
}

char* Arena::more(int64_t count) {
  count = std::max<int64_t>(count, 64);
  overflow_ += count;
  extra_.push_back(make(count));
  return extra_.back().get();
}

}  // namespace tilewise::ops::simd
