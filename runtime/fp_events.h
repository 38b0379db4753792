// Floating-point conditions that operations met, and how ranks tell each other of them.
//
// An event is one operation of one Python line with the kinds met; the log keeps each (operation, line) once until somebody
// takes it. Plain values, used from their owner's thread.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "runtime/program.h"

namespace tilewise {

struct FpEvent {
  Opcode op = 0;
  uint32_t line = 0;  // as in records: the same number on all ranks
  uint8_t kinds = 0;  // FpKind bits

  uint64_t packed() const { return uint64_t{op} << 40 | uint64_t{kinds} << 32 | line; }
  static FpEvent unpacked(uint64_t word) {
    return {static_cast<Opcode>(word >> 40), static_cast<uint32_t>(word), static_cast<uint8_t>(word >> 32)};
  }
};

class FpLog {
 public:
  void add(const FpEvent& event) { met_[{event.op, event.line}] |= event.kinds; }
  std::vector<FpEvent> take() {
    std::vector<FpEvent> events;
    for (auto [where, kinds] : met_) events.push_back({where.first, where.second, kinds});
    met_.clear();
    return events;
  }

 private:
  std::map<std::pair<Opcode, uint32_t>, uint8_t> met_;
};

}  // namespace tilewise
