#include "comm/collectives.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "runtime/base/error.h"

namespace tilewise::comm {

namespace {

BufferView view_of(std::string& bytes) { return {bytes.data(), bytes.size(), MemoryKind::kHost, -1}; }

template <class T>
BufferView view_of_value(T& value) {
  return {&value, sizeof(T), MemoryKind::kHost, -1};
}

void send(Transport& transport, int peer, uint64_t tag, BufferView data) {
  Request request = transport.isend(peer, tag, data);
  wait(transport, request);
}

void receive(Transport& transport, int peer, uint64_t tag, BufferView data) {
  Request request = transport.irecv(peer, tag, data);
  wait(transport, request);
}

// Sends to one rank and receives from another at once, so that a ring of such calls cannot block.
void exchange(Transport& transport, uint64_t tag, int to, BufferView outgoing, int from, BufferView incoming) {
  Request both[] = {transport.irecv(from, tag, incoming), transport.isend(to, tag, outgoing)};
  wait_all(transport, both);
}

// Blobs in a row, each behind its length.
std::string pack(std::span<const std::string> blobs) {
  std::string packed;
  for (const std::string& blob : blobs) {
    const uint64_t bytes = blob.size();
    packed.append(reinterpret_cast<const char*>(&bytes), sizeof bytes);
    packed += blob;
  }
  return packed;
}

void unpack(std::string_view packed, std::vector<std::string>& blobs) {
  while (!packed.empty()) {
    uint64_t bytes = 0;
    TW_CHECK(packed.size() >= sizeof bytes, "a packed blob is cut off");
    std::memcpy(&bytes, packed.data(), sizeof bytes);
    packed.remove_prefix(sizeof bytes);
    TW_CHECK(packed.size() >= bytes, "a packed blob is cut off");
    blobs.emplace_back(packed.substr(0, bytes));
    packed.remove_prefix(bytes);
  }
}

}  // namespace

void barrier(Transport& transport, uint64_t tag) {
  // Dissemination: after the round of distance d, everyone has heard, directly or not, from the 2d - 1 ranks
  // before it.
  const int rank = transport.rank(), size = transport.size();
  for (int distance = 1; distance < size; distance *= 2)
    exchange(transport, tag, (rank + distance) % size, {}, (rank - distance + size) % size, {});
}

void broadcast(Transport& transport, uint64_t tag, int root, BufferView data) {
  // In numbers relative to the root, a rank receives from itself without its lowest set bit, and serves the bits
  // below that.
  const int size = transport.size();
  const int relative = (transport.rank() - root + size) % size;
  const auto absolute = [&](int r) { return (r + root) % size; };
  int bit = 1;
  while (bit < size && !(relative & bit)) bit *= 2;
  if (relative != 0) receive(transport, absolute(relative - bit), tag, data);
  std::vector<Request> sends;
  for (bit /= 2; bit > 0; bit /= 2)
    if (relative + bit < size) sends.push_back(transport.isend(absolute(relative + bit), tag, data));
  wait_all(transport, sends);
}

std::vector<std::string> all_gather(Transport& transport, uint64_t tag, std::string_view mine) {
  // Bruck: before the round of distance d a rank holds the blobs of the d ranks from itself on; each round fetches
  // as many more from the rank d further. The length of what comes is not known, so it goes ahead.
  const int rank = transport.rank(), size = transport.size();
  std::vector<std::string> blobs{std::string(mine)};
  for (int distance = 1; distance < size; distance *= 2) {
    const int to = (rank - distance + size) % size, from = (rank + distance) % size;
    const auto count = static_cast<size_t>(std::min(distance, size - distance));
    std::string outgoing = pack(std::span(blobs).first(count));
    uint64_t outgoing_bytes = outgoing.size(), incoming_bytes = 0;
    exchange(transport, tag, to, view_of_value(outgoing_bytes), from, view_of_value(incoming_bytes));
    std::string incoming(incoming_bytes, '\0');
    exchange(transport, tag, to, view_of(outgoing), from, view_of(incoming));
    unpack(incoming, blobs);
  }
  std::rotate(blobs.begin(), blobs.end() - rank, blobs.end());
  return blobs;
}

void all_reduce(Transport& transport, uint64_t tag, BufferView data, const Combine& combine) {
  const int rank = transport.rank(), size = transport.size();
  const std::unique_ptr<char[]> memory(size > 1 ? new char[data.bytes] : nullptr);
  const BufferView other{memory.get(), data.bytes, MemoryKind::kHost, -1};
  for (int distance = 1; distance < size; distance *= 2) {
    if (rank & distance) {
      send(transport, rank - distance, tag, data);
      break;
    }
    if (rank + distance >= size) continue;
    receive(transport, rank + distance, tag, other);
    combine(data, other);
  }
  broadcast(transport, tag, 0, data);
}

void all_to_all_v(Transport& transport, uint64_t tag, std::span<const BufferView> sends,
                  std::span<const BufferView> receives) {
  const int rank = transport.rank(), size = transport.size();
  TW_CHECK(sends.size() == static_cast<size_t>(size) && receives.size() == sends.size(), "one buffer a rank");
  // Everyone starts at its right-hand neighbour, so that no rank is everyone's first target.
  std::vector<Request> requests;
  for (int step = 0; step < size; ++step) {
    const int from = (rank - step + size) % size;
    const BufferView& view = receives[static_cast<size_t>(from)];
    if (view.bytes != 0) requests.push_back(transport.irecv(from, tag, view));
  }
  for (int step = 0; step < size; ++step) {
    const int to = (rank + step) % size;
    const BufferView& view = sends[static_cast<size_t>(to)];
    if (view.bytes != 0) requests.push_back(transport.isend(to, tag, view));
  }
  wait_all(transport, requests);
}

}  // namespace tilewise::comm
