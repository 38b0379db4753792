// The environment variables of Tilewise: one table with name, what is allowed, default and meaning of each.
//
// All of them are read and checked together at the first call of settings(), at import: an unknown TILEWISE_ name or a
// malformed value throws Error(kValue) with one line that names variable, value and what is allowed. After that
// the settings do not change (tests replace them before anything runs). Adding a variable is a member of Settings and a
// row of the table in env.cpp; `tilewise info` and the documentation print the table. Names that begin with
// TILEWISE_TEST_ belong to the test suite and are passed over.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilewise {

// "8GiB" or "0.9" of what there is.
struct MemoryLimit {
  double fraction = 0;
  int64_t bytes = 0;  // where fraction is 0
  int64_t of(int64_t total) const { return fraction > 0 ? static_cast<int64_t>(fraction * static_cast<double>(total)) : bytes; }
};

enum class Mode : uint8_t { kLeader, kSpmd };
enum class FallbackMode : uint8_t { kWarn, kError, kSilent };

struct Settings {
  std::string devices;                      // empty: every GPU, else the CPU
  int64_t min_tile = 1 << 15;               // elements
  Mode mode = Mode::kLeader;
  FallbackMode fallback = FallbackMode::kWarn;
  std::vector<std::string> transports;      // in order of preference; empty: the best there is
  MemoryLimit host_memory{0.9, 0};
  MemoryLimit device_memory{0.9, 0};
  std::string spill_dir;                    // empty: the system's folder for temporary files
  double timeout = 60;                      // seconds
  std::string cache_dir;                    // empty: ~/.cache/tilewise
  std::vector<std::string> dump;            // stages
  int64_t first_process = 0;                // set by ourselves: the process that imported Tilewise first
  std::string save_stream;                  // a file; empty: the stream is not saved
  bool alone = false;                       // set by ourselves, for children of the program: no MPI
};

struct EnvVariable {
  std::string_view name, allowed, normally, meaning;
  bool (*parse)(const std::string& value, Settings& into);  // false: malformed
};
std::span<const EnvVariable> env_table();

// Reads names and values; names that do not begin with TILEWISE_ are passed over.
Settings parse_settings(std::span<const std::pair<std::string, std::string>> environment);

// Those of this process.
const Settings& settings();
// For tests and for programs that embed the runtime; before anything runs.
void replace_settings(const Settings& settings);

// The parsers, for options that are no environment variables. False: malformed, `into` is unchanged.
bool parse_memory(const std::string& text, MemoryLimit& into);     // 8GiB, 512MiB, 1.5GB, 1000000, 0.9
bool parse_seconds(const std::string& text, double& into);         // 30, 2.5, 30s, 500ms, 2min
bool parse_count(const std::string& text, int64_t& into);          // a positive integer
bool parse_words(const std::string& text, std::string_view allowed, std::vector<std::string>& into);  // a,b,c

}  // namespace tilewise
