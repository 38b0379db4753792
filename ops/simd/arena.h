// Scratch memory of one thread: grows to what its largest launch needs and is reused, so that launches allocate nothing.
// Pieces are 64-byte aligned and live until the Scope ends in which they were taken; scopes nest.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace tilewise::ops::simd {

class Arena {
 public:
  static Arena& of_thread();

  class Scope {
   public:
    explicit Scope(Arena& arena) : arena_(arena), used_(arena.used_) { ++arena.depth_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() {
      arena_.used_ = used_;
      if (--arena_.depth_ == 0 && !arena_.extra_.empty()) arena_.grow();
    }

   private:
    Arena& arena_;
    int64_t used_;
  };

  char* bytes(int64_t count) {
    count = (count + 63) & ~int64_t{63};
    if (used_ + count > size_) return more(count);
    char* p = main_.get() + used_;
    used_ += count;
    return p;
  }
  template <class T>
  T* array(int64_t count) {
    return reinterpret_cast<T*>(bytes(count * static_cast<int64_t>(sizeof(T))));
  }

 private:
  struct Free {
    void operator()(char* p) const;
  };
  using Chunk = std::unique_ptr<char, Free>;
  static Chunk make(int64_t size);
  char* more(int64_t count);
  // Makes the main chunk hold what was wanted, up to a few MiB.
  void grow();

  std::vector<Chunk> extra_;  // handed out when the main chunk was full
  Chunk main_;
  int64_t size_ = 0, used_ = 0, overflow_ = 0;
  int depth_ = 0;
};

}  // namespace tilewise::ops::simd
