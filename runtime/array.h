// The user's handle on data: a store and a view of it.
//
// A Store is what all views of one array share: its own linear index (base shape and item size), and where it lives.
// It is counted by its handles; when the last one goes, in whatever thread, its number is queued and a drop record
// enters the stream at the next record. Handles hold no data: the engine does.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "partition/view.h"
#include "runtime/base/dims.h"

namespace tilewise {

using StoreId = uint64_t;  // never reused

class Store {
 public:
  // Where the values are computed: by the leader alone (a function of constants, small), or by all devices.
  enum class Residence : uint8_t { kKnown, kGlobal };

  Dims base_shape;
  int64_t base_itemsize = 0;
  StoreId id = 0;            // in the engine of its residence
  Residence residence = Residence::kKnown;
  bool born = false;         // a record has named it
  StoreId copy = 0;          // of a known store: its present values under this number on all devices; 0: none
  Store* next_dropped = nullptr;

  // For a new store's first handle.
  void start() { count_.store(1, std::memory_order_relaxed); }
  void retain() { count_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    // The last handle is nobody else's: no locked instruction is needed.
    if (count_.load(std::memory_order_acquire) == 1 || count_.fetch_sub(1, std::memory_order_acq_rel) == 1) dropped(this);
  }
  // For a store that is used again.
  void reset(const Dims& shape, int64_t itemsize) {
    base_shape = shape;
    base_itemsize = itemsize;
    residence = Residence::kKnown;
    born = false;
    copy = 0;
  }
  int64_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  static void dropped(Store* store);  // runtime/session.cpp
  std::atomic<int64_t> count_{0};
};

class StoreRef {
 public:
  StoreRef() = default;
  explicit StoreRef(Store* store) : store_(store) {
    if (store_) store_->retain();
  }
  // Takes over a count that the store has already.
  static StoreRef adopt(Store* store) {
    StoreRef ref;
    ref.store_ = store;
    return ref;
  }
  StoreRef(const StoreRef& other) : StoreRef(other.store_) {}
  StoreRef(StoreRef&& other) noexcept : store_(std::exchange(other.store_, nullptr)) {}
  StoreRef& operator=(const StoreRef& other) noexcept {
    StoreRef copy(other);
    std::swap(store_, copy.store_);
    return *this;
  }
  StoreRef& operator=(StoreRef&& other) noexcept {
    std::swap(store_, other.store_);
    return *this;
  }
  ~StoreRef() {
    if (store_) store_->release();
  }
  Store* operator->() const { return store_; }
  Store& operator*() const { return *store_; }
  Store* get() const { return store_; }
  explicit operator bool() const { return store_ != nullptr; }

 private:
  Store* store_ = nullptr;
};

struct Array {
  StoreRef store;
  partition::View view;

  const Dims& shape() const { return view.shape; }
  DType dtype() const { return view.dtype; }
  int rank() const { return view.shape.size(); }
};

}  // namespace tilewise
