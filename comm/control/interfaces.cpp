#include "comm/control/interfaces.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>

namespace tilewise::comm {

namespace {

// The bytes of an address, 4 or 16; none if it is not one.
std::string address_bytes(const std::string& text) {
  char bytes[16];
  if (inet_pton(AF_INET, text.c_str(), bytes) == 1) return std::string(bytes, 4);
  if (inet_pton(AF_INET6, text.c_str(), bytes) == 1) return std::string(bytes, 16);
  return {};
}

bool same_network(const std::string& a, const std::string& b, int prefix) {
  const std::string x = address_bytes(a), y = address_bytes(b);
  if (x.empty() || x.size() != y.size()) return false;
  for (int bit = 0; bit < prefix && bit < static_cast<int>(8 * x.size()); ++bit) {
    const auto byte = static_cast<size_t>(bit / 8);
    if (((x[byte] ^ y[byte]) >> (7 - bit % 8)) & 1) return false;
  }
  return true;
}

int prefix_of(const sockaddr* mask) {
  const void* bytes = mask->sa_family == AF_INET
                          ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in*>(mask)->sin_addr)
                          : static_cast<const void*>(&reinterpret_cast<const sockaddr_in6*>(mask)->sin6_addr);
  const auto* byte = static_cast<const unsigned char*>(bytes);
  const size_t count = mask->sa_family == AF_INET ? 4 : 16;
  int bits = 0;
  for (size_t i = 0; i < count; ++i) bits += __builtin_popcount(byte[i]);
  return bits;
}

}  // namespace

std::vector<Interface> own_interfaces() {
  std::vector<Interface> found[2];  // IPv4 first
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return {};
  for (const ifaddrs* one = list; one; one = one->ifa_next) {
    if (!one->ifa_addr || !one->ifa_netmask || !(one->ifa_flags & IFF_UP) || (one->ifa_flags & IFF_LOOPBACK))
      continue;
    const int family = one->ifa_addr->sa_family;
    char text[INET6_ADDRSTRLEN];
    if (family == AF_INET) {
      inet_ntop(family, &reinterpret_cast<sockaddr_in*>(one->ifa_addr)->sin_addr, text, sizeof text);
    } else if (family == AF_INET6 &&
               !IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<sockaddr_in6*>(one->ifa_addr)->sin6_addr)) {
      inet_ntop(family, &reinterpret_cast<sockaddr_in6*>(one->ifa_addr)->sin6_addr, text, sizeof text);
    } else {
      continue;
    }
    found[family == AF_INET6].push_back({one->ifa_name, text, prefix_of(one->ifa_netmask)});
  }
  freeifaddrs(list);
  found[0].insert(found[0].end(), found[1].begin(), found[1].end());
  return found[0];
}

bool interface_matches(const Interface& one, std::string_view wanted) {
  while (!wanted.empty()) {
    const size_t comma = std::min(wanted.find(','), wanted.size());
    const std::string_view item = wanted.substr(0, comma);
    wanted.remove_prefix(std::min(comma + 1, wanted.size()));
    if (item == one.name) return true;
    const size_t slash = item.find('/');
    int prefix = 0;
    if (slash == std::string_view::npos) continue;
    std::from_chars(item.data() + slash + 1, item.data() + item.size(), prefix);
    if (same_network(std::string(item.substr(0, slash)), one.address, prefix)) return true;
  }
  return false;
}

std::string choose_address(const std::vector<Interface>& mine, const std::vector<std::vector<Interface>>& others,
                           std::string_view wanted) {
  std::string second_best;
  for (const Interface& one : mine) {
    if (!wanted.empty() && !interface_matches(one, wanted)) continue;
    const auto among = [&](const std::vector<Interface>& theirs, auto&& holds) {
      return std::any_of(theirs.begin(), theirs.end(), holds);
    };
    if (std::any_of(others.begin(), others.end(), [&](const auto& theirs) {
          return among(theirs, [&](const Interface& their) { return their.address == one.address; });
        }))
      continue;
    const bool everybody = std::all_of(others.begin(), others.end(), [&](const auto& theirs) {
      return among(theirs, [&](const Interface& their) {
        return their.prefix == one.prefix && same_network(one.address, their.address, one.prefix);
      });
    });
    if (everybody) return one.address;
    if (second_best.empty()) second_best = one.address;
  }
  return second_best;
}

}  // namespace tilewise::comm
