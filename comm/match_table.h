// Pairs messages with receives by (peer, tag), in the order of posting among equals. Internal to the transports.
//
// Holds the receives that wait for a message, or the messages that wait for a receive; the caller keeps one table
// of each and locks around them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace tilewise::comm {

template <class Entry>
class MatchTable {
 public:
  using Key = std::pair<int, uint64_t>;  // peer, tag

  // A multimap appends equal keys behind each other, which is the order that matching owes.
  void add(int peer, uint64_t tag, Entry entry) { entries_.emplace(Key{peer, tag}, std::move(entry)); }

  // The oldest entry of (peer, tag), taken out.
  std::optional<Entry> take(int peer, uint64_t tag) {
    // find() may answer any of the equal keys; the lower bound is the oldest.
    const auto it = entries_.lower_bound(Key{peer, tag});
    if (it == entries_.end() || it->first != Key{peer, tag}) return std::nullopt;
    std::optional<Entry> entry(std::move(it->second));
    entries_.erase(it);
    return entry;
  }

  // Takes out every entry for which `matches` is true, and hands each to `use`.
  template <class Matches, class Use>
  void take_if(Matches matches, Use use) {
    for (auto it = entries_.begin(); it != entries_.end();) {
      if (matches(it->second)) {
        use(it->second);
        it = entries_.erase(it);
      } else {
        ++it;
      }
    }
  }

  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }

 private:
  std::multimap<Key, Entry> entries_;
};

}  // namespace tilewise::comm
