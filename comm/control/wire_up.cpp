#include "comm/control/wire_up.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <fstream>
#include <sstream>

#include "comm/control/interfaces.h"
#include "runtime/base/error.h"

namespace tilewise::comm {

namespace {

constexpr size_t kTokenBytes = 16;  // as twice as many hexadecimal digits
constexpr std::chrono::seconds kHelloWithin{5};

struct Hello {
  char magic[8] = {'t', 'w', 'c', 't', 'l', '0', '0', '1'};
  char token[2 * kTokenBytes] = {};
  int32_t rank = 0;
  int32_t size = 0;
};

// ---- What the ranks tell about themselves
// -------------------------------------------------------------------------

struct Introduction {
  std::string host;
  std::string host_id;
  std::string token;  // the leader's counts
  std::string card;
  std::vector<Interface> interfaces;

  std::string text() const {
    std::string lines = str(host, "\n", host_id, "\n", token, "\n", card, "\n");
    for (const Interface& one : interfaces) lines += str(one.name, " ", one.address, " ", one.prefix, "\n");
    return lines;
  }
  static Introduction parse(const std::string& text) {
    Introduction parsed;
    std::istringstream lines(text);
    std::getline(lines, parsed.host);
    std::getline(lines, parsed.host_id);
    std::getline(lines, parsed.token);
    std::getline(lines, parsed.card);
    for (Interface one; lines >> one.name >> one.address >> one.prefix;) parsed.interfaces.push_back(one);
    return parsed;
  }
};

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

// Equal for two processes that can meet in the abstract socket space: same running kernel, same network namespace.
std::string host_id() {
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  char space[64] = "";
  if (readlink("/proc/self/ns/net", space, sizeof space - 1) < 0) space[0] = '\0';
  return str(host_name(), "/", boot, "/", space);
}

// ---- Parents
// ------------------------------------------------------------------------------------------------------

struct Listeners {
  Fd unix_socket, tcp;
  std::string endpoints;  // "unixname\naddress port"
};

Listeners listen_for_children(const ControlOptions& options, const Tree& tree,
                              const std::vector<Introduction>& all) {
  Listeners listeners;
  const Introduction& me = all[static_cast<size_t>(options.rank)];
  bool near = false, far = false;
  for (const int child : tree.children()) {
    const bool here = options.unix_sockets && all[static_cast<size_t>(child)].host_id == me.host_id;
    (here ? near : far) = true;
  }
  std::string name = "-";
  if (near) {
    name = "tilewise-" + random_hex(12);
    listeners.unix_socket = listen_unix(name);
  }
  std::string address = "-";
  uint16_t port = 0;
  if (far) {
    std::vector<std::vector<Interface>> others;
    for (const Introduction& one : all)
      if (one.host_id != me.host_id) others.push_back(one.interfaces);
    address = others.empty() ? "127.0.0.1" : choose_address(me.interfaces, others, options.interface);
    if (address.empty()) {
      std::string names;
      for (const Interface& one : me.interfaces)
        names += str(names.empty() ? "" : ", ", one.name, " ", one.address, "/", one.prefix);
      throw Error(ErrorKind::kRuntime,
                  str("rank ", options.rank, " on host ", me.host, " has no network interface ",
                      options.interface.empty() ? "that reaches the other hosts" : "'" + options.interface + "'",
                      " (it has ", names.empty() ? "none" : names, ")"));
    }
    listeners.tcp = listen_tcp(address, port);
  }
  listeners.endpoints = str(name, "\n", address, " ", port);
  return listeners;
}

// Equal, in a time that does not tell where they differ.
bool same_token(const char* a, const std::string& b) {
  unsigned char difference = 0;
  for (size_t i = 0; i < 2 * kTokenBytes; ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

// Takes connections until every child has shown the token. Strangers are dropped and cost nobody else time.
class Reception {
 public:
  Reception(const ControlOptions& options, const Tree& tree, const std::string& token)
      : options_(options), missing_(tree.children()), token_(token) {}

  std::vector<std::pair<int, Fd>> run(const Listeners& listeners, Deadline deadline) {
    while (!missing_.empty() && std::chrono::steady_clock::now() < deadline) {
      std::vector<pollfd> entries{{listeners.unix_socket.get(), POLLIN, 0}, {listeners.tcp.get(), POLLIN, 0}};
      for (const Guest& guest : guests_) entries.push_back({guest.fd.get(), POLLIN, 0});
      poll(entries.data(), entries.size(), 100);
      for (size_t i = guests_.size(); i-- > 0;)
        if (listen_to(guests_[i], entries[i + 2].revents != 0))
          guests_.erase(guests_.begin() + static_cast<ptrdiff_t>(i));
      for (size_t i = 0; i < 2; ++i)
        if (entries[i].revents & POLLIN)
          if (Fd fd = accept_from(entries[i].fd))
            guests_.push_back({std::move(fd), {}, 0, std::chrono::steady_clock::now() + kHelloWithin});
    }
    return std::move(children_);
  }

  const std::vector<int>& missing() const { return missing_; }

 private:
  struct Guest {
    Fd fd;
    Hello hello;
    size_t got;
    Deadline until;
  };

  // True when nothing more is expected of this guest: welcomed or turned away.
  bool listen_to(Guest& guest, bool readable) {
    if (std::chrono::steady_clock::now() > guest.until) return true;
    if (!readable) return false;
    auto* to = reinterpret_cast<char*>(&guest.hello) + guest.got;
    const ssize_t got = read(guest.fd.get(), to, sizeof(Hello) - guest.got);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (got <= 0) return true;
    guest.got += static_cast<size_t>(got);
    if (guest.got < sizeof(Hello)) return false;
    const Hello& hello = guest.hello;
    const auto child = std::find(missing_.begin(), missing_.end(), hello.rank);
    const bool known =
        std::memcmp(hello.magic, Hello().magic, sizeof hello.magic) == 0 && same_token(hello.token, token_);
    if (!known || child == missing_.end() || hello.size != options_.size) return true;
    if (!write_exactly(guest.fd.get(), Hello().magic, sizeof hello.magic, guest.until)) return true;
    children_.emplace_back(hello.rank, std::move(guest.fd));
    missing_.erase(child);
    return true;
  }

  const ControlOptions& options_;
  std::vector<int> missing_;
  const std::string token_;
  std::vector<Guest> guests_;
  std::vector<std::pair<int, Fd>> children_;
};

// ---- Children
// -----------------------------------------------------------------------------------------------------

Fd connect_to_parent(const ControlOptions& options, const std::string& endpoints, bool near,
                     const std::string& token, Deadline deadline) {
  std::istringstream lines(endpoints);
  std::string name, address;
  uint16_t port = 0;
  lines >> name >> address >> port;
  Fd fd = near ? connect_unix(name) : connect_tcp(address, port, deadline);
  Hello hello;
  std::memcpy(hello.token, token.data(), sizeof hello.token);
  hello.rank = options.rank;
  hello.size = options.size;
  char welcome[sizeof hello.magic];
  if (!write_exactly(fd.get(), &hello, sizeof hello, deadline) ||
      !read_exactly(fd.get(), welcome, sizeof welcome, deadline))
    throw Error(ErrorKind::kRuntime, "it did not answer");
  return fd;
}

}  // namespace

Wiring wire_up(const ControlOptions& options, const Tree& tree) {
  const Deadline deadline = std::chrono::steady_clock::now() + options.connect_limit;
  const Introduction me{host_name(), host_id(), random_hex(kTokenBytes), options.card, own_interfaces()};
  if (options.size == 1) return {{}, {me.host}, {me.host_id}, {me.card}};

  // 1. Who is where; then where the parents listen.
  std::vector<Introduction> all;
  for (const std::string& text : options.exchange(me.text())) all.push_back(Introduction::parse(text));
  TW_CHECK(all.size() == static_cast<size_t>(options.size) && all[0].token.size() == 2 * kTokenBytes,
           "a bad exchange");
  Listeners listeners = listen_for_children(options, tree, all);
  const std::vector<std::string> endpoints = options.exchange(listeners.endpoints);

  // 2. Up first, then down: the tree grows from its root.
  Wiring wiring;
  if (const int parent = tree.parent(); parent >= 0) {
    const Introduction& above = all[static_cast<size_t>(parent)];
    try {
      wiring.links.emplace_back(
          parent, connect_to_parent(options, endpoints[static_cast<size_t>(parent)],
                                    options.unix_sockets && above.host_id == me.host_id, all[0].token, deadline));
    } catch (const Error& error) {
      throw Error(ErrorKind::kRuntime, str("rank ", options.rank, " on host ", me.host, " cannot reach rank ",
                                           parent, " on host ", above.host, ": ", error.what()));
    }
  }
  Reception reception(options, tree, all[0].token);
  for (auto& link : reception.run(listeners, deadline)) wiring.links.push_back(std::move(link));
  if (!reception.missing().empty()) {
    const int missing = reception.missing().front();
    throw Error(ErrorKind::kRuntime, str("rank ", missing, " on host ", all[static_cast<size_t>(missing)].host,
                                         " did not connect to rank ", options.rank, " on host ", me.host,
                                         " within ", options.connect_limit.count() / 1000.0, " s"));
  }
  for (Introduction& one : all) {
    wiring.hosts.push_back(std::move(one.host));
    wiring.host_ids.push_back(std::move(one.host_id));
    wiring.cards.push_back(std::move(one.card));
  }
  return wiring;
}

}  // namespace tilewise::comm
