// Which network interface the ranks of a job talk on: one that the user names, else one whose network all ranks
// share.
//
// Plain functions over plain lists, so that every rank comes to the same answer and tests need no network.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tilewise::comm {

struct Interface {
  std::string name;     // "eth0"
  std::string address;  // "10.1.2.3"
  int prefix = 0;       // bits of the network: 24
};

// This host's interfaces that are up and reach other hosts: loopback and link-local addresses are left out.
std::vector<Interface> own_interfaces();

// True when `wanted`, names or subnets ("10.1.0.0/16") by comma, covers the interface.
bool interface_matches(const Interface& one, std::string_view wanted);

// The address at which `mine` is reached by the ranks on other hosts: the first that `wanted` covers (empty: any)
// and whose network everybody is on; failing that, the first covered. An address that another host has too (a
// container bridge) is none. Empty when there is none.
std::string choose_address(const std::vector<Interface>& mine, const std::vector<std::vector<Interface>>& others,
                           std::string_view wanted);

}  // namespace tilewise::comm
