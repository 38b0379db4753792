#include "runtime/stream_tap.h"

#include "runtime/base/error.h"
#include "runtime/base/hash.h"
#include "runtime/stream.h"

namespace tilewise {

namespace {

constexpr size_t kKept = 4096;

}  // namespace

StreamTap::StreamTap(const std::string& path) {
  if (path.empty()) return;
  file_.open(path, std::ios::binary | std::ios::trunc);
  if (!file_) throw Error(ErrorKind::kValue, str("TILEWISE_SAVE_STREAM='", path, "': the file cannot be written"));
  file_ << kStreamMagic;
}

StoreId StreamTap::number(const Store& store, Record* record) {
  const auto [place, fresh] = numbers_.try_emplace(&store, next_);
  if (fresh) record->births.push_back({next_++, store.base_shape, store.base_itemsize});
  return place->second;
}

void StreamTap::note(const Record& original, const Array* const* in, const Array* const* out) {
  Record record = original;
  for (size_t i = 0; i < record.inputs.size(); ++i) record.inputs[i].store = number(*in[i]->store, &record);
  for (size_t i = 0; i < record.outputs.size(); ++i) record.outputs[i].store = number(*out[i]->store, &record);
  add(record, true);
}

void StreamTap::note_read(const Array& source, uint32_t line, bool counted) {
  Record record;
  record.kind = RecordKind::kRead;
  record.line = line;
  record.inputs.push_back({number(*source.store, &record), source.view});
  add(record, counted);
}

void StreamTap::note_drop(const Store* store) {
  const auto found = numbers_.find(store);
  if (found == numbers_.end()) return;
  Record record;
  record.kind = RecordKind::kDrop;
  record.inputs.resize(1);
  record.inputs[0].store = found->second;
  numbers_.erase(found);
  add(record, false);
}

void StreamTap::add(const Record& original, bool counted) {
  Record record = original;
  record.line = 0;
  std::vector<char> bytes;
  encode(record, &bytes);
  if (counted) {
    hash_ = hash_bytes(bytes.data(), bytes.size(), hash_);
    kept_.push_back({hash_, original.line, bytes});
  }
  if (record.kind == RecordKind::kHostData && record.data) {
    const partition::View& view = record.outputs[0].view;
    const auto size = static_cast<size_t>(view.count()) * static_cast<size_t>(view.itemsize);
    const auto* data = static_cast<const char*>(record.data.get());
    hash_ = kept_.back().hash = hash_bytes(data, size, hash_);
    if (file_.is_open()) {
      record.bytes.assign(data, data + size);
      bytes.clear();
      encode(record, &bytes);
    }
  }
  if (file_.is_open()) write(bytes);
  if (!counted) return;
  ++count_;
  if (kept_.size() > kKept) kept_.pop_front();
}

}  // namespace tilewise
