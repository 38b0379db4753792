// What the engine knows of each store: its shape, its tiles on this process's devices, and who still names it.
//
// A store is created by the birth in its first record. It goes when it has been dropped by the user and no open group
// names it; its memory is then given back in stream order. One table an engine; used from the engine's thread only.
#pragma once

#include <memory>
#include <vector>

#include "partition/instance.h"
#include "partition/tiling.h"
#include "runtime/device.h"
#include "runtime/record.h"

namespace tilewise {

// Memory on one device of this process that holds a tile, or a whole replicated store.
struct Instance {
  int64_t tile = 0;
  Device* device = nullptr;
  BufferView buffer;
  partition::InstanceBox place;      // the box it holds and how that lies in the buffer
  bool whole = false;                // it holds the whole store: a view's own strides are the instance's
  bool hollow = false;               // no memory could be had: it holds nothing until one writes it who gets some
  Event written;                     // the newest write
  std::vector<Event> readers;        // of other queues, since then
};

struct StoreState {
  StoreId id = 0;
  Dims base_shape;
  int64_t base_itemsize = 0;
  uint32_t line = 0;                                     // the record that made it
  std::shared_ptr<const partition::Tiling> tiling;       // null until placed
  std::vector<Instance> instances;
  int open = 0;                                          // times that open groups name it
  bool dropped = false;
  // Its elements as the newest plain operation met them (Group::join_plain): a view and a value of that group.
  uint64_t plain_group = 0;
  uint16_t plain_view = 0, plain_value = 0;

  partition::StoreForm form() const { return {base_shape, base_itemsize}; }
  int64_t count() const { return count_of(base_shape); }
  int64_t bytes() const { return count() * base_itemsize; }
};

// Numbers of stores that no record names.
inline constexpr StoreId kTemporary = StoreId{1} << 63;

class StoreTable {
 public:
  StoreState& create(StoreId id, const Dims& base_shape, int64_t base_itemsize, uint32_t line);
  StoreState& get(StoreId id) {
    StoreState** at = slot(id);
    if (!at || !*at) [[unlikely]]
      throw_unknown(id);
    return **at;
  }
  bool contains(StoreId id) const {
    StoreState** at = slot(id);
    return at && *at;
  }
  // Gives the memory back if nobody names the store any more; `busy` are events the memory must outlive.
  void release_if_unused(StoreState& store);
  void free_instances(StoreState& store);
  size_t size() const { return live_; }

  template <class F>
  void each(F&& f) {
    for (Pages& pages : pages_)
      for (auto& page : pages)
        if (page)
          for (StoreState* store : page->stores)
            if (store) f(*store);
  }

 private:
  // Numbers are given in order and never again, so a store is found by its place in a page; pages whose stores are all gone
  // go too. States are used again, with the memory their lists hold.
  static constexpr int kPageBits = 10;
  struct Page {
    StoreState* stores[1 << kPageBits] = {};
    int live = 0;
  };
  using Pages = std::vector<std::unique_ptr<Page>>;
  [[noreturn]] static void throw_unknown(StoreId id);
  Pages& pages_of(StoreId id) { return pages_[id >> 63]; }
  static size_t page_of(StoreId id) { return (id & ~kTemporary) >> kPageBits; }
  StoreState** slot(StoreId id) const {
    const Pages& pages = pages_[id >> 63];
    const size_t page = page_of(id);
    return page < pages.size() && pages[page] ? &pages[page]->stores[id & ((1 << kPageBits) - 1)] : nullptr;
  }
  Pages pages_[2];  // stores that records name, and temporaries
  std::vector<std::unique_ptr<StoreState>> all_;
  std::vector<StoreState*> free_;
  size_t live_ = 0;
};

}  // namespace tilewise
