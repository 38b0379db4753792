#include "runtime/base/env.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <memory>
#include <mutex>
#include <unistd.h>

#include "runtime/base/error.h"

namespace tilewise {

namespace {

constexpr std::string_view kPrefix = "TILEWISE_", kTestPrefix = "TILEWISE_TEST_";
constexpr std::string_view kTransports = "local,mpi,ucx,nccl";
constexpr std::string_view kStages = "stream,fuse,program,source,plan,schedule,transport,memory";

// One of the words, in the order of the enumeration.
template <class Enum>
bool parse_choice(const std::string& value, std::initializer_list<std::string_view> words, Enum& into) {
  auto found = std::find(words.begin(), words.end(), value);
  if (found == words.end()) return false;
  into = static_cast<Enum>(found - words.begin());
  return true;
}

bool parse_path(const std::string& value, std::string& into) {
  into = value;
  return !value.empty() && value[0] == '/';
}

const EnvVariable kTable[] = {
    {"TILEWISE_DEVICES", "cpu, cpu:N, cuda, cuda:I,J,...", "every GPU, else the CPU",
     "the devices of this process; cpu:3 cuts its cores into three, cuda:0,0 uses one GPU as two",
     [](const std::string& v, Settings& s) { return s.devices = v, true; }},
    {"TILEWISE_MIN_TILE", "a positive integer", "32768", "fewest elements that are worth a tile; 1 splits everything",
     [](const std::string& v, Settings& s) { return parse_count(v, s.min_tile); }},
    {"TILEWISE_MODE", "leader, spmd", "leader", "whether one rank runs the program or every rank does",
     [](const std::string& v, Settings& s) { return parse_choice(v, {"leader", "spmd"}, s.mode); }},
    {"TILEWISE_FALLBACK", "warn, error, silent", "warn", "what a function that is not native does",
     [](const std::string& v, Settings& s) { return parse_choice(v, {"warn", "error", "silent"}, s.fallback); }},
    {"TILEWISE_TRANSPORT", "a list of local, mpi, ucx, nccl", "the best there is", "preferred transports in order",
     [](const std::string& v, Settings& s) { return parse_words(v, kTransports, s.transports); }},
    {"TILEWISE_HOST_MEMORY", "a size such as 8GiB, or a fraction such as 0.9", "0.9",
     "the host's memory that its ranks may use together",
     [](const std::string& v, Settings& s) { return parse_memory(v, s.host_memory); }},
    {"TILEWISE_DEVICE_MEMORY", "a size such as 8GiB, or a fraction such as 0.9", "0.9",
     "the memory of each GPU that may be used",
     [](const std::string& v, Settings& s) { return parse_memory(v, s.device_memory); }},
    {"TILEWISE_SPILL_DIR", "an absolute path", "the folder for temporary files", "where data goes that fits no memory",
     [](const std::string& v, Settings& s) { return parse_path(v, s.spill_dir); }},
    {"TILEWISE_TIMEOUT", "seconds, or a time such as 500ms or 2min", "60",
     "the silence after which a rank is taken for dead",
     [](const std::string& v, Settings& s) { return parse_seconds(v, s.timeout); }},
    {"TILEWISE_CACHE_DIR", "an absolute path", "~/.cache/tilewise", "where compiled kernels are kept",
     [](const std::string& v, Settings& s) { return parse_path(v, s.cache_dir); }},
    {"TILEWISE_DUMP", "a list of stream, fuse, program, source, plan, schedule, transport, memory", "nothing",
     "stages to print", [](const std::string& v, Settings& s) { return parse_words(v, kStages, s.dump); }},
    {"TILEWISE_SAVE_STREAM", "a file's path", "nothing",
     "where the operation stream is saved, for `python -m tilewise.replay`",
     [](const std::string& v, Settings& s) { return s.save_stream = v, true; }},
    {"TILEWISE_FIRST_PROCESS", "a process id, @, its place in a job", "set by Tilewise itself",
     "the process that imported Tilewise first: its children run alone",
     [](const std::string& v, Settings& s) { return parse_count(v.substr(0, v.find('@')), s.first_process); }},
    {"TILEWISE_ALONE", "1", "set by Tilewise itself", "this process is a child of the program: it runs alone, without MPI",
     [](const std::string& v, Settings& s) { return s.alone = v == "1"; }},
};

// Letters to insert, drop or change.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t changed = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = std::exchange(row[j], std::min({changed, row[j] + 1, row[j - 1] + 1}));
    }
  }
  return row.back();
}

[[noreturn]] void refuse_unknown(const std::string& name, const std::string& value) {
  std::string known;
  const EnvVariable* nearest = &kTable[0];
  for (const EnvVariable& variable : kTable) {
    known += str(known.empty() ? "" : ", ", variable.name);
    if (distance(name, variable.name) < distance(name, nearest->name)) nearest = &variable;
  }
  bool close = distance(name, nearest->name) <= 4;
  throw Error(ErrorKind::kValue, str(name, "='", value, "': Tilewise knows no such variable; ",
                                     close ? str("did you mean ", nearest->name, "? ") : "", "Allowed are ", known));
}

template <class Number>
const char* parse_number(const std::string& text, Number& into) {
  const char* end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, into);
  return error == std::errc() ? stop : nullptr;
}

std::mutex settings_mutex;
std::atomic<const Settings*> own_settings{nullptr};
// Replaced ones too, and beyond the end of main: some thread may still read them.
auto& kept_settings = *new std::vector<std::unique_ptr<const Settings>>;

void install(Settings settings) {
  kept_settings.push_back(std::make_unique<const Settings>(std::move(settings)));
  own_settings = kept_settings.back().get();
}

}  // namespace

std::span<const EnvVariable> env_table() { return kTable; }

Settings parse_settings(std::span<const std::pair<std::string, std::string>> environment) {
  Settings parsed;
  for (const auto& [name, value] : environment) {
    if (!name.starts_with(kPrefix) || name.starts_with(kTestPrefix)) continue;
    auto* variable = std::find_if(std::begin(kTable), std::end(kTable), [&](auto& row) { return row.name == name; });
    if (variable == std::end(kTable)) refuse_unknown(name, value);
    if (value.empty()) continue;  // as if unset
    if (!variable->parse(value, parsed)) {
      throw Error(ErrorKind::kValue, str(name, "='", value, "': allowed is ", variable->allowed));
    }
  }
  return parsed;
}

const Settings& settings() {
  if (const Settings* made = own_settings.load(std::memory_order_acquire)) return *made;
  std::lock_guard lock(settings_mutex);
  if (!own_settings.load()) {
    std::vector<std::pair<std::string, std::string>> environment;
    for (char** entry = environ; entry && *entry; ++entry) {
      std::string text = *entry;
      size_t equals = text.find('=');
      if (equals != std::string::npos) environment.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
    install(parse_settings(environment));
  }
  return *own_settings.load();
}

void replace_settings(const Settings& settings) {
  std::lock_guard lock(settings_mutex);
  install(settings);
}

bool parse_memory(const std::string& text, MemoryLimit& into) {
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"B", 1},      {"KiB", 1024},          {"MiB", 1048576.0}, {"GiB", 1073741824.0}, {"TiB", 1099511627776.0},
      {"kB", 1e3},   {"KB", 1e3},            {"MB", 1e6},        {"GB", 1e9},           {"TB", 1e12},
  };
  double number = 0;
  const char* rest = parse_number(text, number);
  if (!rest || !(number > 0)) return false;
  std::string_view unit(rest, text.data() + text.size() - rest);
  if (unit.empty() && number <= 1) {
    into = {number, 0};
    return true;
  }
  auto* found = std::find_if(std::begin(kUnits), std::end(kUnits), [&](auto& u) { return u.first == unit; });
  if (found == std::end(kUnits) && !unit.empty()) return false;
  double bytes = number * (unit.empty() ? 1 : found->second);
  if (bytes < 1 || bytes > 9e18) return false;
  into = {0, static_cast<int64_t>(bytes)};
  return true;
}

bool parse_seconds(const std::string& text, double& into) {
  double number = 0;
  const char* rest = parse_number(text, number);
  if (!rest || !(number > 0) || number > 1e9) return false;
  std::string_view unit(rest, text.data() + text.size() - rest);
  double scale = unit.empty() || unit == "s" ? 1 : unit == "ms" ? 1e-3 : unit == "min" ? 60 : unit == "h" ? 3600 : 0;
  if (scale == 0) return false;
  into = number * scale;
  return true;
}

bool parse_count(const std::string& text, int64_t& into) {
  int64_t number = 0;
  if (parse_number(text, number) != text.data() + text.size() || number < 1) return false;
  into = number;
  return true;
}

bool parse_words(const std::string& text, std::string_view allowed, std::vector<std::string>& into) {
  auto split = [](std::string_view list) {
    std::vector<std::string> words;
    for (size_t begin = 0; begin <= list.size();) {
      size_t end = std::min(list.find(',', begin), list.size());
      words.emplace_back(list.substr(begin, end - begin));
      begin = end + 1;
    }
    return words;
  };
  std::vector<std::string> known = split(allowed), words = split(text);
  for (const std::string& word : words) {
    if (std::find(known.begin(), known.end(), word) == known.end()) return false;
  }
  into = std::move(words);
  return true;
}

}  // namespace tilewise
