#include "runtime/base/log.h"

#include <algorithm>
#include <string>
#include <unistd.h>

namespace tilewise {

namespace {

void write_whole(std::string_view text) {
  while (!text.empty()) {
    ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(written);
  }
}

}  // namespace

void log_line(std::string_view text) { write_whole(str("tilewise: ", text, "\n")); }

void log_stage(std::string_view stage, std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    lines += str("tilewise[", stage, "] ", line, "\n");
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  write_whole(lines);
}

}  // namespace tilewise
