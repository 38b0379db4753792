// The operation stream as the program wrote it, before it is decided who computes what: for saving, and for comparing ranks.
//
// Stores are numbered as they appear, so that equal programs give equal bytes in every configuration. Each record is
// hashed into a running hash; the last few thousand are kept, to tell where two ranks first differ. Drops are saved but
// stay outside the hash, since the garbage collector's moments differ; so do source lines. Used under the session's lock.
#pragma once

#include <cstdint>
#include <deque>
#include <fstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/record.h"

namespace tilewise {

class StreamTap {
 public:
  struct Kept {
    uint64_t hash;           // of the stream up to and with this record
    uint32_t line;
    std::vector<char> bytes;  // without a host record's data
  };

  // An empty path: nothing is saved. Throws Error(kValue) if the file cannot be written.
  explicit StreamTap(const std::string& path);

  void note(const Record& record, const Array* const* in, const Array* const* out);
  // `counted`: every rank must do the same.
  void note_read(const Array& source, uint32_t line, bool counted);
  void note_drop(const Store* store);
  void flush() { file_.flush(); }

  uint64_t count() const { return count_; }
  uint64_t hash() const { return hash_; }
  const std::deque<Kept>& kept() const { return kept_; }  // the newest; the last is record count() - 1

 private:
  StoreId number(const Store& store, Record* record);
  void add(const Record& record, bool counted);
  void write(const std::vector<char>& bytes) { file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size())); }

  std::ofstream file_;
  std::unordered_map<const Store*, StoreId> numbers_;
  StoreId next_ = 1;
  uint64_t count_ = 0, hash_ = 0;
  std::deque<Kept> kept_;
};

// What a saved stream begins with.
inline constexpr char kStreamMagic[] = "tilewise stream 1\n";

}  // namespace tilewise
