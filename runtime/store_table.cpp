#include "runtime/store_table.h"

#include "runtime/base/error.h"

namespace tilewise {

StoreState& StoreTable::create(const Birth& birth, uint32_t line) {
  auto store = std::make_unique<StoreState>();
  store->id = birth.store;
  store->base_shape = birth.base_shape;
  store->base_itemsize = birth.base_itemsize;
  store->line = line;
  StoreState& made = *store;
  const bool fresh = stores_.emplace(birth.store, std::move(store)).second;
  TW_CHECK(fresh, "store ", birth.store, " is born twice");
  return made;
}

StoreState& StoreTable::get(StoreId id) {
  auto found = stores_.find(id);
  TW_CHECK(found != stores_.end(), "store ", id, " is unknown");
  return *found->second;
}

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
  stores_.erase(store.id);
}

}  // namespace tilewise
