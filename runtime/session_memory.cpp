// Who may hold how much: arrays that cannot be held are refused at the call that would make them.
//
// The account follows the stream: what each rank holds is a function of the records so far and of how stores are cut, so
// the leader knows it for all ranks, and no rank is asked. It is counted only now and then: after a count, what may still be
// born is known, and records take from that. Buffers and temporaries of steps are not in it; a rank that has no memory for
// those says so at the wait (shortage.h).
#include <algorithm>

#include "runtime/base/error.h"
#include "runtime/session_state.h"

namespace tilewise::session {

namespace {

constexpr int kLargestNamed = 3;

// At most what a block of so many bytes takes with its rounding.
int64_t rounded(int64_t bytes) { return bytes + bytes / 16 + 4096; }

int64_t bytes_of(const Store& store) { return count_of(store.base_shape) * store.base_itemsize; }

std::vector<int64_t> held_now(State& s) {
  std::vector<int64_t> held = s.global->held_by_ranks();
  // Small known data is the leader's; in spmd mode each rank's own, and when it goes is no part of the stream.
  if (!s.spmd) held[0] += s.known->held_by_ranks()[0];
  return held;
}

// The rank that cannot hold the births, or -1. They are taken from the room if all can.
int too_full(State& s, std::span<Store* const> births) {
  std::vector<int64_t> held = held_now(s);
  for (size_t i = 0; i < births.size(); ++i)
    if (std::find(births.begin(), births.begin() + i, births[i]) == births.begin() + i)
      s.global->add_held(births[i]->base_shape, births[i]->base_itemsize, &held);
  int64_t least = std::numeric_limits<int64_t>::max();
  for (size_t rank = 0; rank < held.size(); ++rank) {
    if (held[rank] > s.limits[rank]) return static_cast<int>(rank);
    least = std::min(least, s.limits[rank] - held[rank]);
  }
  s.room = least;
  return -1;
}

std::string mebibytes(int64_t bytes) { return str((bytes + (1 << 19)) >> 20, " MiB"); }

[[noreturn]] void refuse(State& s, int rank, std::span<Store* const> births) {
  int64_t wanted = 0;
  for (const Store* store : births) wanted = std::max(wanted, bytes_of(*store));
  const std::vector<int64_t> held = held_now(s);
  std::string text = str("no memory for an array of ", mebibytes(wanted), ": ", mebibytes(held[static_cast<size_t>(rank)]),
                         " of ", mebibytes(s.limits[static_cast<size_t>(rank)]), " are held",
                         held.size() > 1 ? str(" by rank ", rank) : "");
  std::vector<const StoreState*> largest;
  s.global->stores().each([&](const StoreState& store) {
    if (store.bytes() > 0 && (store.tiling || !store.dropped)) largest.push_back(&store);
  });
  const auto end = largest.begin() + std::min<ptrdiff_t>(kLargestNamed, static_cast<ptrdiff_t>(largest.size()));
  std::partial_sort(largest.begin(), end, largest.end(), [](const StoreState* a, const StoreState* b) {
    return std::pair(-a->bytes(), a->id) < std::pair(-b->bytes(), b->id);
  });
  for (auto store = largest.begin(); store != end; ++store) {
    text += str(store == largest.begin() ? "; the largest arrays: " : ", ", mebibytes((*store)->bytes()));
    if (s.line_text && (*store)->line > 0 && (*store)->line < s.lines.size())
      text += str(" made at ", s.line_text(s.lines[(*store)->line]));
  }
  throw Error(ErrorKind::kMemory, text + ". Delete arrays that are no longer needed, use more hosts, or raise "
                                         "TILEWISE_HOST_MEMORY");
}

void issue_all(State& s) {
  drain_drops(s);
  Record record;
  record.kind = RecordKind::kFlush;
  apply_global(s, record);
}

}  // namespace

bool take_room(State& s, int64_t bytes) {
  if (rounded(bytes) > s.room) return false;
  s.room -= rounded(bytes);
  return true;
}

// What is dropped but still named by operations that wait goes when these are issued; cycles go with Python's help.
void make_room(State& s, std::unique_lock<std::mutex>& held, std::span<Store* const> births) {
  int64_t bytes = 0;
  for (const Store* store : births) bytes += bytes_of(*store);
  if (births.empty() || take_room(s, bytes) || too_full(s, births) < 0) return;
  issue_all(s);
  if (too_full(s, births) < 0) return;
  held.unlock();
  if (s.reclaim) s.reclaim();
  agree(s);
  held = lock_to_record(s);
  issue_all(s);
  if (const int rank = too_full(s, births); rank >= 0) refuse(s, rank, births);
}

void set_reclaim_hook(void (*hook)()) { state().reclaim = hook; }

}  // namespace tilewise::session
