#include "runtime/dump.h"

#include <cstdio>

namespace tilewise {
namespace {

constexpr const char* kNames[] = {"stream", "fuse", "program", "source", "plan", "schedule", "transport", "memory"};

}  // namespace

uint32_t dump_stages = 0;

uint32_t stages_of(const std::vector<std::string>& names) {
  uint32_t stages = 0;
  for (const std::string& name : names)
    for (int i = 0; i < 8; ++i)
      if (name == kNames[i]) stages |= 1u << i;
  return stages;
}

void write_dump(Stage stage, const std::string& line) {
  int i = 0;
  while (!(static_cast<uint32_t>(stage) >> i & 1)) ++i;
  std::fprintf(stderr, "tilewise %s: %s\n", kNames[i], line.c_str());
}

}  // namespace tilewise
