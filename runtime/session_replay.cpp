// A saved stream run again, through the same door as a program's: in whatever configuration this process has.
#include <fstream>
#include <iterator>
#include <unordered_map>

#include "runtime/base/error.h"
#include "runtime/base/hash.h"
#include "runtime/session.h"
#include "runtime/stream.h"
#include "runtime/stream_tap.h"

namespace tilewise::session {

namespace {

class Replay {
 public:
  void run(Record& record, std::vector<ReplayedRead>* reads) {
    for (const Birth& birth : record.births) stores_[birth.store] = new_store(birth.base_shape, birth.base_itemsize);
    record.births.clear();
    switch (record.kind) {
      case RecordKind::kDrop:
        stores_.erase(record.inputs.at(0).store);
        return;
      case RecordKind::kRead:
        reads->push_back(read(record.inputs.at(0)));
        return;
      default:
        record.bytes.resize(record.kind == RecordKind::kHostData ? 0 : record.bytes.size());  // `data` has them
        const Operands in(*this, record.inputs), out(*this, record.outputs);
        session::record(record, in.pointers.data(), out.pointers.data());
    }
  }

 private:
  Array array(const Ref& ref) const {
    const auto found = stores_.find(ref.store);
    if (found == stores_.end()) throw Error(ErrorKind::kRuntime, "the saved stream names a store that it never made");
    return {found->second, ref.view};
  }

  struct Operands {
    Operands(const Replay& replay, const std::vector<Ref>& refs) {
      for (const Ref& ref : refs) arrays.push_back(replay.array(ref));
      for (const Array& a : arrays) pointers.push_back(&a);
    }
    std::vector<Array> arrays;
    std::vector<const Array*> pointers;
  };

  ReplayedRead read(const Ref& ref) const {
    const Array source = array(ref);
    std::vector<char> values(static_cast<size_t>(source.view.count()) * static_cast<size_t>(source.view.itemsize));
    session::read(source, values.data());
    return {std::string(name(source.view.dtype)), {source.shape().begin(), source.shape().end()},
            hash_bytes(values.data(), values.size())};
  }

  std::unordered_map<StoreId, StoreRef> stores_;
};

}  // namespace

std::vector<ReplayedRead> replay(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::string_view magic(kStreamMagic);
  if (std::string_view(bytes.data(), std::min(bytes.size(), magic.size())) != magic)
    throw Error(ErrorKind::kValue, str("'", path, "' is no saved stream that this version reads"));
  const char* at = bytes.data() + magic.size();
  const char* end = bytes.data() + bytes.size();
  Replay replay;
  std::vector<ReplayedRead> reads;
  while (at < end) {
    Record record = decode(&at, end);
    replay.run(record, &reads);
  }
  return reads;
}

}  // namespace tilewise::session
