// Floating-point conditions that operations met, and how ranks tell each other of them.
//
// An event is one operation of one Python line with the kinds met; the log keeps each (operation, line) once until somebody
// takes it. Plain values, used from their owner's thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/fp_names.h"
#include "runtime/program.h"

namespace tilewise {

// Which Python line brought an operation, and the name it is told under.
struct FpOrigin {
  Opcode op = 0;
  uint8_t told_as = kFpOwn;  // FpName
  uint32_t line = 0;         // as in records: the same number on all ranks
  auto operator<=>(const FpOrigin&) const = default;
};

struct FpEvent {
  FpOrigin origin;
  uint8_t kinds = 0;  // FpKind bits

  uint64_t packed() const {
    return uint64_t{origin.told_as} << 48 | uint64_t{origin.op} << 40 | uint64_t{kinds} << 32 | origin.line;
  }
  static FpEvent unpacked(uint64_t word) {
    const FpOrigin origin{static_cast<Opcode>(word >> 40), static_cast<uint8_t>(word >> 48), static_cast<uint32_t>(word)};
    return {origin, static_cast<uint8_t>(word >> 32)};
  }
};

// NumPy's name of the operation.
std::string fp_operation(const FpOrigin& origin);

class FpLog {
 public:
  void add(const FpEvent& event) { met_[event.origin] |= event.kinds; }
  std::vector<FpEvent> take() {
    std::vector<FpEvent> events;
    for (auto [origin, kinds] : met_) events.push_back({origin, kinds});
    met_.clear();
    return events;
  }

 private:
  std::map<FpOrigin, uint8_t> met_;
};

}  // namespace tilewise
