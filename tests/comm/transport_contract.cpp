#include "tests/comm/transport_contract.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>

#include "comm/collectives.h"
#include "runtime/base/error.h"

namespace tilewise::comm::contract {

namespace {

BufferView view(std::vector<unsigned char>& bytes) { return {bytes.data(), bytes.size(), MemoryKind::kHost, -1}; }
BufferView view(std::string& bytes) { return {bytes.data(), bytes.size(), MemoryKind::kHost, -1}; }
template <class T>
BufferView value(T& one) {
  return {&one, sizeof(T), MemoryKind::kHost, -1};
}

// Bytes that differ by place, sender and tag, so that a mix-up shows.
std::vector<unsigned char> pattern(size_t bytes, int from, uint64_t tag) {
  std::vector<unsigned char> data(bytes);
  const uint64_t key = static_cast<uint64_t>(from) * 7919 + tag * 104729;
  for (size_t i = 0; i < bytes; ++i) data[i] = static_cast<unsigned char>((key + i * 31 + (i >> 8)) & 0xff);
  return data;
}

// Every rank sends to the next one, itself when it is alone: sizes around each limit that a transport may have.
void sizes_from_zero(Transport& t) {
  const int next = (t.rank() + 1) % t.size(), previous = (t.rank() + t.size() - 1) % t.size();
  for (size_t bytes : {0, 1, 7, 4095, 4096, 8191, 8192, 8193, 65536, 65537, 1 << 20, (5 << 20) + 3}) {
    const uint64_t tag = 0xfedcba9876543210ull + bytes;
    std::vector<unsigned char> outgoing = pattern(bytes, t.rank(), tag), incoming(bytes, 0xee);
    Request both[] = {t.isend(next, tag, view(outgoing)), t.irecv(previous, tag, view(incoming))};
    wait_all(t, both);
    EXPECT_EQ(both[1].bytes(), bytes);
    EXPECT_TRUE(incoming == pattern(bytes, previous, tag)) << bytes;
  }
}

void empty_buffers_without_memory(Transport& t) {
  Request both[] = {t.irecv(t.rank(), 5, {}), t.isend(t.rank(), 5, {})};
  wait_all(t, both);
  EXPECT_EQ(both[0].bytes(), 0u);
}

void more_than_2_to_31_bytes(Transport& t) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the shadow memory of the thread sanitizer would need 16 GiB";
#endif
  if (t.rank() > 1) return;
  const size_t bytes = (size_t{1} << 31) + 1;
  const std::unique_ptr<unsigned char[]> memory(new unsigned char[bytes]);  // left uninitialised
  ASSERT_TRUE(memory);
  const auto mark = [](size_t at) { return static_cast<unsigned char>(at / 4096 * 37 + 11); };
  const BufferView data{memory.get(), bytes, MemoryKind::kHost, -1};
  if (t.rank() == 0) {
    for (size_t at = 0; at < bytes; at += 4096) memory[at] = mark(at);
    memory[bytes - 1] = 0xab;
    Request request = t.isend(1, 1ull << 40, data);
    wait(t, request);
  } else {
    Request request = t.irecv(0, 1ull << 40, data);
    wait(t, request);
    EXPECT_EQ(request.bytes(), bytes);
    size_t wrong = 0;
    for (size_t at = 0; at + 1 < bytes; at += 4096) wrong += memory[at] != mark(at);
    EXPECT_EQ(wrong, 0u);
    EXPECT_EQ(memory[bytes - 1], 0xab);
  }
}

// All messages are sent, in one shuffled order, before any receive is posted, in another.
void unexpected_order(Transport& t) {
  const int next = (t.rank() + 1) % t.size(), previous = (t.rank() + t.size() - 1) % t.size();
  constexpr size_t kCount = 64;
  std::vector<uint64_t> order(kCount);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(7);
  std::shuffle(order.begin(), order.end(), random);
  const auto bytes_of = [](uint64_t i) { return static_cast<size_t>(i % 8 == 7 ? 200'000 + i : i * 97); };
  std::vector<std::vector<unsigned char>> outgoing(kCount), incoming(kCount);
  std::vector<Request> requests;
  for (uint64_t i : order) {
    outgoing[i] = pattern(bytes_of(i), t.rank(), i << 32);
    requests.push_back(t.isend(next, i << 32, view(outgoing[i])));
  }
  barrier(t, 1);
  std::shuffle(order.begin(), order.end(), random);
  for (uint64_t i : order) {
    incoming[i].resize(bytes_of(i));
    requests.push_back(t.irecv(previous, i << 32, view(incoming[i])));
  }
  wait_all(t, requests);
  for (uint64_t i = 0; i < kCount; ++i) EXPECT_TRUE(incoming[i] == pattern(bytes_of(i), previous, i << 32)) << i;
}

// Equal (peer, tag): short and long messages in turn must still come in the order of posting.
void equal_tags_keep_their_order(Transport& t) {
  const int next = (t.rank() + 1) % t.size(), previous = (t.rank() + t.size() - 1) % t.size();
  constexpr size_t kCount = 40;
  const auto bytes_of = [](size_t i) { return i % 3 == 0 ? size_t{100'000} + i : 8 + i; };
  std::vector<std::vector<unsigned char>> outgoing(kCount), incoming(kCount);
  std::vector<Request> requests;
  for (size_t i = 0; i < kCount; ++i) {
    if (i % 2 == 0) {
      incoming[i / 2].resize(bytes_of(i / 2));
      requests.push_back(t.irecv(previous, 9, view(incoming[i / 2])));
    }
    outgoing[i] = pattern(bytes_of(i), t.rank(), i);
    requests.push_back(t.isend(next, 9, view(outgoing[i])));
  }
  for (size_t i = kCount / 2; i < kCount; ++i) {
    incoming[i].resize(bytes_of(i));
    requests.push_back(t.irecv(previous, 9, view(incoming[i])));
  }
  wait_all(t, requests);
  for (size_t i = 0; i < kCount; ++i) EXPECT_TRUE(incoming[i] == pattern(bytes_of(i), previous, i)) << i;
}

// Tags that agree in any 16, 31 or 32 of their bits are still different tags.
void tags_have_64_bits(Transport& t) {
  const int next = (t.rank() + 1) % t.size(), previous = (t.rank() + t.size() - 1) % t.size();
  std::vector<uint64_t> tags{0, ~0ull};
  for (int bit = 0; bit < 64; ++bit) tags.push_back(1ull << bit), tags.push_back(~(1ull << bit));
  std::vector<uint64_t> outgoing(tags), incoming(tags.size());
  std::vector<Request> requests;
  for (size_t i = tags.size(); i-- > 0;) requests.push_back(t.irecv(previous, tags[i], value(incoming[i])));
  for (size_t i = 0; i < tags.size(); ++i) requests.push_back(t.isend(next, tags[i], value(outgoing[i])));
  wait_all(t, requests);
  EXPECT_EQ(incoming, tags);
}

void ten_thousand_in_flight(Transport& t) {
  const int next = (t.rank() + 1) % t.size(), previous = (t.rank() + t.size() - 1) % t.size();
  constexpr size_t kCount = 10'000;
  std::vector<uint64_t> outgoing(kCount), incoming(kCount);
  std::vector<Request> requests;
  for (size_t i = 0; i < kCount; ++i) {
    outgoing[i] = i * 3 + static_cast<uint64_t>(t.rank());
    requests.push_back(t.isend(next, i, value(outgoing[i])));
  }
  for (size_t i = kCount; i-- > 0;) requests.push_back(t.irecv(previous, i, value(incoming[i])));
  wait_all(t, requests);
  size_t wrong = 0;
  for (size_t i = 0; i < kCount; ++i) wrong += incoming[i] != i * 3 + static_cast<uint64_t>(previous);
  EXPECT_EQ(wrong, 0u);
}

// Thousands of messages too long to be buffered, none of whose receives exist yet.
void long_messages_in_flight(Transport& t) {
  const int next = (t.rank() + 1) % t.size(), previous = (t.rank() + t.size() - 1) % t.size();
  constexpr size_t kCount = 2'000, kBytes = 20'000;
  std::vector<unsigned char> outgoing = pattern(kBytes, t.rank(), 0), incoming(kBytes * kCount);
  std::vector<Request> requests;
  for (size_t i = 0; i < kCount; ++i) requests.push_back(t.isend(next, i, view(outgoing)));
  for (size_t i = kCount; i-- > 0;)
    requests.push_back(t.irecv(previous, i, {incoming.data() + i * kBytes, kBytes, MemoryKind::kHost, -1}));
  wait_all(t, requests);
  const std::vector<unsigned char> expected = pattern(kBytes, previous, 0);
  for (size_t i = 0; i < kCount; ++i)
    EXPECT_EQ(std::memcmp(&incoming[i * kBytes], expected.data(), kBytes), 0) << i;
}

void all_to_all(Transport& t) {
  const auto bytes = [](int from, int to) { return static_cast<size_t>((from * 5 + to * 3) % 7 * 9000); };
  std::vector<std::vector<unsigned char>> outgoing, incoming;
  for (int r = 0; r < t.size(); ++r) {
    outgoing.push_back(pattern(bytes(t.rank(), r), t.rank(), static_cast<uint64_t>(r)));
    incoming.emplace_back(bytes(r, t.rank()));
  }
  std::vector<BufferView> sends, receives;
  for (auto& data : outgoing) sends.push_back(view(data));
  for (auto& data : incoming) receives.push_back(view(data));
  all_to_all_v(t, 3, sends, receives);
  for (int r = 0; r < t.size(); ++r)
    EXPECT_TRUE(incoming[static_cast<size_t>(r)] ==
                pattern(bytes(r, t.rank()), r, static_cast<uint64_t>(t.rank())))
        << r;
}

void broadcast_from_every_root(Transport& t) {
  for (int root = 0; root < t.size(); ++root) {
    const std::vector<unsigned char> expected = pattern(30'001, root, 77);
    std::vector<unsigned char> data = t.rank() == root ? expected : std::vector<unsigned char>(expected.size());
    broadcast(t, 77, root, view(data));
    EXPECT_TRUE(data == expected) << root;
  }
}

void gather_of_different_lengths(Transport& t) {
  const auto blob = [](int rank) {
    return std::string(static_cast<size_t>(rank * rank * 1000), static_cast<char>('a' + rank));
  };
  const std::vector<std::string> all = all_gather(t, 12, blob(t.rank()));
  ASSERT_EQ(all.size(), static_cast<size_t>(t.size()));
  for (int r = 0; r < t.size(); ++r) EXPECT_EQ(all[static_cast<size_t>(r)], blob(r)) << r;
}

// Joins strings, which is associative but does not commute: order and completeness both show.
void reduce_in_rank_order(Transport& t) {
  std::string text(static_cast<size_t>(t.size()), '.');
  text[0] = static_cast<char>('a' + t.rank());
  all_reduce(t, 13, view(text), [](BufferView left, BufferView right) {
    auto* to = static_cast<char*>(left.data);
    const auto* from = static_cast<const char*>(right.data);
    std::memcpy(std::find(to, to + left.bytes, '.'), from,
                static_cast<size_t>(std::find(from, from + right.bytes, '.') - from));
  });
  EXPECT_EQ(text, std::string("abcdefghijklmnop").substr(0, static_cast<size_t>(t.size())));
}

void barrier_holds_everyone(Transport& t) {
  for (uint64_t round = 0; round < 20; ++round) {
    if (static_cast<int>(round) % t.size() == t.rank()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    barrier(t, 14);
  }
}

void too_long_a_message_fails_its_receive(Transport& t) {
  const int next = (t.rank() + 1) % t.size(), previous = (t.rank() + t.size() - 1) % t.size();
  for (bool receive_first : {true, false}) {
    for (size_t bytes : {100, 50'000}) {
      std::vector<unsigned char> outgoing(bytes), incoming(bytes - 1);
      Request receive, send;
      if (receive_first) receive = t.irecv(previous, 15, view(incoming));
      barrier(t, 1);
      send = t.isend(next, 15, view(outgoing));
      barrier(t, 1);
      if (!receive_first) receive = t.irecv(previous, 15, view(incoming));
      EXPECT_THROW(wait(t, receive), Error) << bytes;
      wait(t, send);
    }
  }
}

// The waits sleep: a receive whose message comes after 300 ms may cost a few per cent of a core.
void waiting_does_not_spin(Transport& t) {
  if (t.rank() > 1) return;
  char byte = 0;
  if (t.rank() == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    Request send = t.isend(1, 16, value(byte));
    wait(t, send);
    return;
  }
  const auto processor_time = [] {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  };
  const double before = processor_time();
  Request receive = t.irecv(0, 16, value(byte));
  wait(t, receive);
  EXPECT_LT(processor_time() - before, 0.06);
}

}  // namespace

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"SizesFromZero", 1, sizes_from_zero},
      {"EmptyBuffersWithoutMemory", 1, empty_buffers_without_memory},
      {"MoreThan2To31Bytes", 2, more_than_2_to_31_bytes},
      {"UnexpectedOrder", 1, unexpected_order},
      {"EqualTagsKeepTheirOrder", 1, equal_tags_keep_their_order},
      {"TagsHave64Bits", 1, tags_have_64_bits},
      {"TenThousandInFlight", 1, ten_thousand_in_flight},
      {"LongMessagesInFlight", 1, long_messages_in_flight},
      {"AllToAll", 1, all_to_all},
      {"BroadcastFromEveryRoot", 1, broadcast_from_every_root},
      {"GatherOfDifferentLengths", 1, gather_of_different_lengths},
      {"ReduceInRankOrder", 1, reduce_in_rank_order},
      {"BarrierHoldsEveryone", 1, barrier_holds_everyone},
      {"TooLongAMessageFailsItsReceive", 1, too_long_a_message_fails_its_receive},
      {"WaitingDoesNotSpin", 2, waiting_does_not_spin},
  };
  return all;
}

}  // namespace tilewise::comm::contract
