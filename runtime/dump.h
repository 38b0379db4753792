// TILEWISE_DUMP: what each stage did, one line a decision, to standard error.
//
// The text is built only when the stage is asked for. Safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/error.h"

namespace tilewise {

enum class Stage : uint32_t {
  kStream = 1, kFuse = 2, kProgram = 4, kSource = 8, kPlan = 16, kSchedule = 32, kTransport = 64, kMemory = 128,
};

// The stages named by TILEWISE_DUMP (checked when the environment is read).
uint32_t stages_of(const std::vector<std::string>& names);
extern uint32_t dump_stages;  // set once at start
void write_dump(Stage stage, const std::string& line);

template <class F>
void dump(Stage stage, F&& text) {
  if (dump_stages & static_cast<uint32_t>(stage)) [[unlikely]]
    write_dump(stage, text());
}

}  // namespace tilewise
