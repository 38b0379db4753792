// spmd mode: every rank runs the program and records its own stream; here the ranks make sure that the streams are one.
//
// At each wait, and every few hundred records, each rank posts how many records it has, their running hash, the stores it
// has dropped, what failed and the floating-point conditions it met. Equal hashes: what all have dropped is dropped, at this place of the stream, everywhere. Else
// each posts the hashes of its last records and raises an error that shows the first that differs on each rank.
#include <algorithm>
#include <cstring>

#include "runtime/session_state.h"
#include "runtime/stream.h"

namespace tilewise::session {

namespace {

constexpr uint64_t kRecordsBetween = 256;

std::vector<std::string> gather(State& s, const std::string& mine) {
  const uint64_t serial = s.next_post++;
  s.link->post(serial, mine);
  std::vector<std::string> texts;
  wait_in_slices(s, [&](std::chrono::milliseconds limit) { return s.link->all_posted(serial, limit, &texts); });
  return texts;
}

using Numbers = std::vector<uint64_t>;

std::string pack(const Numbers& numbers) { return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * 8}; }

Numbers unpack(std::string_view text) {
  Numbers numbers(text.size() / 8);
  std::memcpy(numbers.data(), text.data(), numbers.size() * 8);
  return numbers;
}

std::string text_of(State& s, uint64_t number) {
  const auto& kept = s.tap->kept();
  const uint64_t first = s.tap->count() - kept.size();
  if (number >= s.tap->count()) return "has no such record";
  const StreamTap::Kept& record = kept[number - first];
  const char* at = record.bytes.data();
  std::string text = print(decode(&at, at + record.bytes.size()));
  const std::string place = s.line_text ? s.line_text(s.lines.at(record.line)) : "";
  return place + ": " + text.substr(0, 200);
}

// The first record that is not the same on all ranks, among those that all have kept.
[[noreturn]] void report_difference(State& s) {
  const auto& kept = s.tap->kept();
  Numbers mine{s.tap->count() - kept.size()};
  for (const auto& record : kept) mine.push_back(record.hash);
  std::vector<Numbers> all;
  for (const std::string& text : gather(s, pack(mine))) all.push_back(unpack(text));
  uint64_t number = 0;
  for (const Numbers& one : all) number = std::max(number, one[0]);
  const auto differs = [&](uint64_t n) {
    for (const Numbers& one : all) {
      const auto at = [&](const Numbers& of) { return n - of[0] + 1 < of.size() ? of[n - of[0] + 1] : 0; };
      if (at(one) != at(all[0]) || at(one) == 0) return true;
    }
    return false;
  };
  const uint64_t oldest = number;
  while (!differs(number)) ++number;
  std::string text = str("the ranks' programs differ ", number == oldest && oldest > 0 ? "at or before" : "from", " operation ",
                         number + 1, " on:");
  const auto records = gather(s, text_of(s, number));
  for (size_t rank = 0; rank < records.size(); ++rank) text += str("\n  rank ", rank, ": ", records[rank]);
  s.diverged = text;
  s.link->abandon("the ranks' programs differ");
  throw Error(ErrorKind::kRuntime, text);
}

}  // namespace

void agree(State& s) {
  if (!s.spmd || s.ended) return;
  if (!s.diverged.empty()) throw Error(ErrorKind::kRuntime, s.diverged);
  const std::vector<FpEvent> conditions = s.global->take_fp_events();
  Numbers mine{s.tap->count(), s.tap->hash(), conditions.size(), s.undecided.size()};
  for (const FpEvent& event : conditions) mine.push_back(event.packed());
  mine.insert(mine.end(), s.undecided.begin(), s.undecided.end());
  s.global->failures().look();
  const std::vector<char> failed = encode(s.global->failures().take_new());
  const auto all = gather(s, pack(mine) + std::string(failed.data(), failed.size()));
  s.agreed_at = s.tap->count();

  std::vector<StoreId> common = s.undecided;
  std::sort(common.begin(), common.end());
  std::vector<FailurePtr> elsewhere;
  for (size_t rank = 0; rank < all.size(); ++rank) {
    std::string_view text = all[rank];
    const auto take = [&](size_t count) {
      const Numbers numbers = unpack(text.substr(0, count * 8));
      text.remove_prefix(count * 8);
      return numbers;
    };
    const Numbers head = take(4);
    if (head[0] != mine[0] || head[1] != mine[1]) report_difference(s);
    for (uint64_t word : take(head[2])) s.agreed_conditions.add(FpEvent::unpacked(word));
    Numbers dropped = take(head[3]);
    std::sort(dropped.begin(), dropped.end());
    std::vector<StoreId> both;
    std::set_intersection(common.begin(), common.end(), dropped.begin(), dropped.end(), std::back_inserter(both));
    common = std::move(both);
    if (rank == static_cast<size_t>(s.role.rank)) continue;
    for (FailurePtr& failure : decode_failures(text.data(), text.size())) elsewhere.push_back(std::move(failure));
  }
  auto held = lock(s);
  for (FailurePtr& failure : elsewhere) s.global->failures().adopt(std::move(failure));
  for (StoreId store : common) s.global->drop(store);
  std::erase_if(s.undecided, [&](StoreId store) { return std::binary_search(common.begin(), common.end(), store); });
}

void agree_now_and_then(State& s) {
  if (std::this_thread::get_id() != s.starter)
    throw Error(ErrorKind::kRuntime, "in spmd mode only the program's first thread may use arrays");
  if (s.tap->count() - s.agreed_at >= kRecordsBetween) agree(s);
}

}  // namespace tilewise::session
