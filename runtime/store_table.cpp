#include "runtime/store_table.h"

#include "runtime/base/error.h"

namespace tilewise {

StoreState& StoreTable::create(StoreId id, const Dims& base_shape, int64_t base_itemsize, uint32_t line) {
  Pages& pages = pages_of(id);
  const size_t page = page_of(id);
  if (page >= pages.size()) pages.resize(page + 1);
  if (!pages[page]) pages[page] = std::make_unique<Page>();
  StoreState*& at = *slot(id);
  TW_CHECK(!at, "store ", id, " is born twice");
  if (free_.empty()) {
    all_.push_back(std::make_unique<StoreState>());
    free_.push_back(all_.back().get());
  }
  at = free_.back();
  free_.pop_back();
  at->id = id;
  at->base_shape = base_shape;
  at->base_itemsize = base_itemsize;
  at->line = line;
  at->plain_group = 0;
  ++pages[page]->live;
  ++live_;
  return *at;
}

void StoreTable::throw_unknown(StoreId id) { throw Error(ErrorKind::kInternal, str("store ", id, " is unknown")); }

void StoreTable::free_instances(StoreState& store) {
  for (Instance& instance : store.instances) {
    // A writer of another queue (an unpacking copy) also still uses the memory.
    std::vector<Event> after = instance.readers;
    after.push_back(instance.written);
    instance.device->release(instance.buffer, after);
  }
  store.instances.clear();
}

void StoreTable::release_if_unused(StoreState& store) {
  if (!store.dropped || store.open > 0) return;
  free_instances(store);
  store.tiling = nullptr;
  store.dropped = false;
  *slot(store.id) = nullptr;
  --live_;
  auto& page = pages_of(store.id)[page_of(store.id)];
  if (--page->live == 0) page.reset();
  free_.push_back(&store);
}

}  // namespace tilewise
