#include "comm/control/sockets.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "runtime/base/error.h"

namespace tilewise::comm {

namespace {

// Never destroyed: descriptors may be closed while the process exits.
struct ForkGuard {
  std::mutex mutex;
  std::set<int> open;
};

ForkGuard& guard() {
  static ForkGuard* const instance = [] {
    auto* made = new ForkGuard;
    pthread_atfork([] { guard().mutex.lock(); }, [] { guard().mutex.unlock(); },
                   [] {
                     // Replaced, not closed: a later close by number in the child then hits nothing of value.
                     const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
                     for (const int fd : guard().open) dup2(nothing, fd);
                     ::close(nothing);
                     guard().open.clear();
                     guard().mutex.unlock();
                   });
    return made;
  }();
  return *instance;
}

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

SocketAddress unix_address(const std::string& name) {
  SocketAddress address;
  auto* un = reinterpret_cast<sockaddr_un*>(&address.storage);
  TW_CHECK(name.size() + 1 < sizeof un->sun_path, "too long a socket name");
  un->sun_family = AF_UNIX;
  std::memcpy(un->sun_path + 1, name.data(), name.size());  // a leading zero: abstract
  address.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

SocketAddress tcp_address(const std::string& text, uint16_t port) {
  SocketAddress address;
  auto* in4 = reinterpret_cast<sockaddr_in*>(&address.storage);
  auto* in6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
  if (inet_pton(AF_INET, text.c_str(), &in4->sin_addr) == 1) {
    in4->sin_family = AF_INET;
    in4->sin_port = htons(port);
    address.length = sizeof *in4;
  } else if (inet_pton(AF_INET6, text.c_str(), &in6->sin6_addr) == 1) {
    in6->sin6_family = AF_INET6;
    in6->sin6_port = htons(port);
    address.length = sizeof *in6;
  } else {
    throw Error(ErrorKind::kRuntime, str("'", text, "' is no network address"));
  }
  return address;
}

Fd new_socket(const SocketAddress& address) {
  const int family = address.get()->sa_family;
  Fd fd(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) throw_errno("socket");
  const int on = 1;
  if (family != AF_UNIX) setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

Fd listen_at(const SocketAddress& address, const std::string& name) {
  Fd fd = new_socket(address);
  if (bind(fd.get(), address.get(), address.length) != 0) throw_errno("cannot bind to " + name);
  if (listen(fd.get(), SOMAXCONN) != 0) throw_errno("cannot listen at " + name);
  return fd;
}

bool wait_for(int fd, short events, Deadline deadline) {
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    if (left <= 0) return false;
    pollfd entry{fd, events, 0};
    const int ready = poll(&entry, 1, static_cast<int>(std::min<int64_t>(left, 60'000)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

}  // namespace

void throw_errno(const std::string& what) {
  throw Error(ErrorKind::kRuntime, str(what, ": ", std::strerror(errno)));
}

Fd::Fd(int fd) : fd_(fd) {
  if (fd_ < 0) return;
  std::lock_guard<std::mutex> lock(guard().mutex);
  guard().open.insert(fd_);
}

Fd& Fd::operator=(Fd&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

void Fd::close() {
  if (fd_ < 0) return;
  std::lock_guard<std::mutex> lock(guard().mutex);
  guard().open.erase(fd_);
  ::close(std::exchange(fd_, -1));
}

Fd listen_unix(const std::string& name) { return listen_at(unix_address(name), "a Unix socket"); }

Fd listen_tcp(const std::string& address, uint16_t& port) {
  Fd fd = listen_at(tcp_address(address, 0), address);
  SocketAddress bound;
  bound.length = sizeof bound.storage;
  getsockname(fd.get(), reinterpret_cast<sockaddr*>(&bound.storage), &bound.length);
  port = ntohs(bound.get()->sa_family == AF_INET ? reinterpret_cast<sockaddr_in*>(&bound.storage)->sin_port
                                                 : reinterpret_cast<sockaddr_in6*>(&bound.storage)->sin6_port);
  return fd;
}

Fd connect_unix(const std::string& name) {
  const SocketAddress address = unix_address(name);
  Fd fd = new_socket(address);
  if (connect(fd.get(), address.get(), address.length) != 0) throw_errno("cannot connect to a Unix socket");
  return fd;
}

Fd connect_tcp(const std::string& address, uint16_t port, Deadline deadline) {
  const SocketAddress to = tcp_address(address, port);
  const std::string what = str("cannot connect to ", address, " port ", port);
  Fd fd = new_socket(to);
  if (connect(fd.get(), to.get(), to.length) == 0) return fd;
  if (errno != EINPROGRESS) throw_errno(what);
  errno = ETIMEDOUT;
  if (!wait_for(fd.get(), POLLOUT, deadline)) throw_errno(what);
  int error = 0;
  socklen_t length = sizeof error;
  getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &length);
  errno = error;
  if (error != 0) throw_errno(what);
  return fd;
}

Fd accept_from(int listener) {
  Fd fd(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  const int on = 1;
  if (fd) setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // fails on Unix sockets, without harm
  return fd;
}

bool wait_readable(int fd, Deadline deadline) { return wait_for(fd, POLLIN, deadline); }

bool read_exactly(int fd, void* data, size_t bytes, Deadline deadline) {
  auto* to = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t got = recv(fd, to, bytes, 0);
    if (got > 0) {
      to += got, bytes -= static_cast<size_t>(got);
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR) || !wait_for(fd, POLLIN, deadline)) {
      return false;
    }
  }
  return true;
}

bool write_exactly(int fd, const void* data, size_t bytes, Deadline deadline) {
  const auto* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t put = ::send(fd, from, bytes, MSG_NOSIGNAL);
    if (put > 0) {
      from += put, bytes -= static_cast<size_t>(put);
    } else if ((errno != EAGAIN && errno != EINTR) || !wait_for(fd, POLLOUT, deadline)) {
      return false;
    }
  }
  return true;
}

std::string random_hex(size_t bytes) {
  std::vector<unsigned char> random(bytes);
  if (getrandom(random.data(), bytes, 0) != static_cast<ssize_t>(bytes)) throw_errno("getrandom");
  std::string hex;
  for (const unsigned char byte : random)
    hex += "0123456789abcdef"[byte >> 4], hex += "0123456789abcdef"[byte & 15];
  return hex;
}

}  // namespace tilewise::comm
