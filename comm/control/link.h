// A connection to a neighbour in the tree, and the frames that travel on it.
//
// Sending never blocks: what the socket does not take waits in a queue, which the control thread empties. Frames
// are shared, so that a batch for eight children is in memory once. Reading is the control thread's alone; all
// else is under the channel's lock. A broken connection is noticed by reading only, after what had still arrived.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "comm/control/sockets.h"

namespace tilewise::comm {

enum class FrameType : uint32_t { kBatch, kGoodbye, kFarewell, kMessage, kNotice, kProcessed, kAlive, kFailure };

constexpr int kEveryone = -1;

struct FrameHeader {
  uint64_t bytes = 0;  // behind the header
  FrameType type = FrameType::kAlive;
  uint32_t kind = 0;  // of a message; the status of a goodbye
  int32_t from = 0;   // the rank it is from, or, of a failure, about
  int32_t to = kEveryone;
};

using Frame = std::shared_ptr<const std::string>;  // header and bytes
Frame make_frame(FrameHeader header, std::string_view bytes = {});
FrameHeader header_of(const Frame& frame);
inline std::string_view bytes_of(const Frame& frame) {
  return std::string_view(*frame).substr(sizeof(FrameHeader));
}

class Link {
 public:
  using Clock = std::chrono::steady_clock;

  Link(int peer, Fd fd) : peer(peer), fd_(std::move(fd)) {}

  // Writes as much as the socket takes at once. True when something is left, and the descriptor must be watched
  // for writing.
  bool send(Frame frame);
  bool flush();
  void finish_writing();  // the peer reads an end of stream after all that was sent
  void drop_unsent();     // forgets what waits, but for a frame of which a part has gone
  bool all_sent() const { return queue_.empty(); }

  // Reads what is there, within reason, and hands on the complete frames. False at the end of the stream.
  bool read(const std::function<void(const Frame&)>& use);

  int fd() const { return fd_.get(); }
  bool open() const { return static_cast<bool>(fd_); }
  void close() { fd_.close(), queue_.clear(); }

  const int peer;
  uint64_t processed = 0;  // of the stream, by the slowest rank behind this link
  bool farewell_came = false;
  bool farewell_sent = false;
  bool given_up = false;  // taken for dead by its silence; kept open to tell it so, should it wake up
  Clock::time_point last_read = Clock::now();
  Clock::time_point last_write = Clock::now();

 private:
  Fd fd_;
  std::deque<Frame> queue_;
  size_t sent_of_first_ = 0;
  bool broken_ = false;
  bool finish_when_sent_ = false;
  std::shared_ptr<std::string> incoming_;  // the frame being read
  size_t got_ = 0;
};

}  // namespace tilewise::comm
