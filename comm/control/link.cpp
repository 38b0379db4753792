#include "comm/control/link.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace tilewise::comm {

namespace {
constexpr size_t kReadAtOnce = size_t{4} << 20;  // then the other links get their turn
constexpr uint64_t kLongestFrame = uint64_t{1} << 40;
}  // namespace

Frame make_frame(FrameHeader header, std::string_view bytes) {
  header.bytes = bytes.size();
  auto frame = std::make_shared<std::string>();
  frame->reserve(sizeof header + bytes.size());
  frame->append(reinterpret_cast<const char*>(&header), sizeof header);
  frame->append(bytes);
  return frame;
}

FrameHeader header_of(const Frame& frame) {
  FrameHeader header;
  std::memcpy(&header, frame->data(), sizeof header);
  return header;
}

bool Link::send(Frame frame) {
  if (!open() || broken_ || finish_when_sent_) return false;
  queue_.push_back(std::move(frame));
  return queue_.size() == 1 ? flush() : true;
}

bool Link::flush() {
  while (!queue_.empty() && !broken_) {
    const std::string& frame = *queue_.front();
    const ssize_t put = ::send(fd_.get(), frame.data() + sent_of_first_, frame.size() - sent_of_first_,
                               MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EAGAIN) return true;
    if (put < 0) {
      broken_ = true;  // reading will meet the end, too
      break;
    }
    last_write = Clock::now();
    sent_of_first_ += static_cast<size_t>(put);
    if (sent_of_first_ == frame.size()) queue_.pop_front(), sent_of_first_ = 0;
  }
  if (broken_) queue_.clear();
  if (finish_when_sent_ && open()) shutdown(fd_.get(), SHUT_WR);
  return false;
}

void Link::finish_writing() {
  finish_when_sent_ = true;
  if (open() && queue_.empty()) shutdown(fd_.get(), SHUT_WR);
}

void Link::drop_unsent() {
  while (queue_.size() > (sent_of_first_ > 0 ? 1 : 0)) queue_.pop_back();
}

bool Link::read(const std::function<void(const Frame&)>& use) {
  size_t budget = kReadAtOnce;
  while (budget > 0) {
    if (!incoming_) incoming_ = std::make_shared<std::string>(sizeof(FrameHeader), '\0');
    const ssize_t got = recv(fd_.get(), incoming_->data() + got_, incoming_->size() - got_, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return true;
    if (got <= 0) return false;
    last_read = Clock::now();
    got_ += static_cast<size_t>(got);
    budget -= std::min(budget, static_cast<size_t>(got));
    if (got_ < incoming_->size()) continue;
    if (got_ == sizeof(FrameHeader)) {
      const uint64_t bytes = header_of(incoming_).bytes;
      if (bytes > kLongestFrame) return false;
      if (bytes > 0) {
        incoming_->resize(sizeof(FrameHeader) + bytes);
        continue;
      }
    }
    const Frame frame = std::move(incoming_);
    incoming_.reset();
    got_ = 0;
    use(frame);
  }
  return true;
}

}  // namespace tilewise::comm
