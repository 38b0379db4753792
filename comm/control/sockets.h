// File descriptors and sockets of the control channel: owned, closed on exec, and out of reach of forked children.
//
// After fork the child's copies are replaced by /dev/null: otherwise a child that outlives its parent would hold
// the parent's connections open, and nobody would notice the parent's death. Calls with a deadline throw
// Error(kRuntime) or answer false when it passes. Thread-safe where no descriptor is shared.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace tilewise::comm {

using Deadline = std::chrono::steady_clock::time_point;

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd);  // takes it over; -1 is none
  Fd(Fd&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Fd& operator=(Fd&& other) noexcept;
  ~Fd() { close(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void close();

 private:
  int fd_ = -1;
};

// Names are in Linux's abstract space: nothing appears in the file system, nothing is left behind.
Fd listen_unix(const std::string& name);
Fd listen_tcp(const std::string& address, uint16_t& port);  // port: the one that was given
Fd connect_unix(const std::string& name);
Fd connect_tcp(const std::string& address, uint16_t port, Deadline deadline);
Fd accept_from(int listener);  // none if the caller has gone again

// False at the end of the stream, on errors and at the deadline.
bool wait_readable(int fd, Deadline deadline);
bool read_exactly(int fd, void* data, size_t bytes, Deadline deadline);
bool write_exactly(int fd, const void* data, size_t bytes, Deadline deadline);

std::string random_hex(size_t bytes);
[[noreturn]] void throw_errno(const std::string& what);

}  // namespace tilewise::comm
