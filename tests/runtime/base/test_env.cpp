#include "runtime/base/env.h"

#include <gtest/gtest.h>

#include "runtime/base/error.h"

namespace tilewise {

namespace {

Settings parse(std::vector<std::pair<std::string, std::string>> environment) { return parse_settings(environment); }

std::string refusal(const std::string& name, const std::string& value) {
  try {
    parse({{name, value}});
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kValue);
    std::string message = error.what();
    EXPECT_EQ(message.find('\n'), std::string::npos);
    EXPECT_NE(message.find(name), std::string::npos) << message;
    EXPECT_NE(message.find("'" + value + "'"), std::string::npos) << message;
    return message;
  }
  ADD_FAILURE() << name << "=" << value << " was taken";
  return "";
}

TEST(Env, NothingSetGivesTheDefaults) {
  Settings s = parse({{"HOME", "/root"}, {"TILEWISE_MODE", ""}});
  EXPECT_EQ(s.devices, "");
  EXPECT_EQ(s.mode, Mode::kLeader);
  EXPECT_EQ(s.fallback, FallbackMode::kWarn);
  EXPECT_EQ(s.host_memory.of(1000), 900);
}

TEST(Env, EverythingSet) {
  Settings s = parse({{"TILEWISE_DEVICES", "cpu:3"},
                      {"TILEWISE_MIN_TILE", "1"},
                      {"TILEWISE_MODE", "spmd"},
                      {"TILEWISE_FALLBACK", "silent"},
                      {"TILEWISE_TRANSPORT", "ucx,mpi"},
                      {"TILEWISE_HOST_MEMORY", "8GiB"},
                      {"TILEWISE_DEVICE_MEMORY", "0.5"},
                      {"TILEWISE_SPILL_DIR", "/tmp/x"},
                      {"TILEWISE_TIMEOUT", "2min"},
                      {"TILEWISE_CACHE_DIR", "/tmp/y"},
                      {"TILEWISE_DUMP", "stream,plan"},
                      {"TILEWISE_TEST_ANYTHING", "x"}});
  EXPECT_EQ(s.devices, "cpu:3");
  EXPECT_EQ(s.min_tile, 1);
  EXPECT_EQ(s.mode, Mode::kSpmd);
  EXPECT_EQ(s.fallback, FallbackMode::kSilent);
  EXPECT_EQ(s.transports, (std::vector<std::string>{"ucx", "mpi"}));
  EXPECT_EQ(s.host_memory.of(1), int64_t{8} << 30);
  EXPECT_EQ(s.device_memory.of(1000), 500);
  EXPECT_EQ(s.spill_dir, "/tmp/x");
  EXPECT_EQ(s.timeout, 120);
  EXPECT_EQ(s.cache_dir, "/tmp/y");
  EXPECT_EQ(s.dump, (std::vector<std::string>{"stream", "plan"}));
}

TEST(Env, MalformedValuesAreNamedWithWhatIsAllowed) {
  EXPECT_NE(refusal("TILEWISE_MIN_TILE", "0").find("positive integer"), std::string::npos);
  refusal("TILEWISE_MIN_TILE", "1e3");
  EXPECT_NE(refusal("TILEWISE_MODE", "SPMD").find("leader, spmd"), std::string::npos);
  EXPECT_NE(refusal("TILEWISE_FALLBACK", "no").find("warn, error, silent"), std::string::npos);
  EXPECT_NE(refusal("TILEWISE_TRANSPORT", "mpi,").find("nccl"), std::string::npos);
  EXPECT_NE(refusal("TILEWISE_HOST_MEMORY", "8 GiB").find("8GiB"), std::string::npos);
  refusal("TILEWISE_HOST_MEMORY", "-1GiB");
  refusal("TILEWISE_SPILL_DIR", "relative/path");
  refusal("TILEWISE_TIMEOUT", "soon");
  EXPECT_NE(refusal("TILEWISE_DUMP", "everything").find("schedule"), std::string::npos);
}

TEST(Env, UnknownNamesAreRefusedWithTheNearestOne) {
  EXPECT_NE(refusal("TILEWISE_DEVICE", "cpu").find("did you mean TILEWISE_DEVICES?"), std::string::npos);
  EXPECT_NE(refusal("TILEWISE_MIN_TILES", "1").find("did you mean TILEWISE_MIN_TILE?"), std::string::npos);
  std::string message = refusal("TILEWISE_SOMETHING_ELSE", "1");
  EXPECT_EQ(message.find("did you mean"), std::string::npos);
  for (const EnvVariable& variable : env_table()) {
    EXPECT_NE(message.find(variable.name), std::string::npos);
    EXPECT_FALSE(variable.meaning.empty());
  }
}

TEST(Env, Sizes) {
  MemoryLimit limit;
  for (const char* text : {"", "x", "0", "-1", "1.5.2GiB", "1gib", "nan", "inf", "1e30TiB", "GiB"}) {
    EXPECT_FALSE(parse_memory(text, limit)) << text;
  }
  EXPECT_TRUE(parse_memory("1.5KiB", limit));
  EXPECT_EQ(limit.of(0), 1536);
  EXPECT_TRUE(parse_memory("2MB", limit));
  EXPECT_EQ(limit.of(0), 2'000'000);
  EXPECT_TRUE(parse_memory("123456", limit));
  EXPECT_EQ(limit.of(0), 123456);
  EXPECT_TRUE(parse_memory("1", limit));
  EXPECT_EQ(limit.of(77), 77);
}

TEST(Env, Times) {
  double seconds = 0;
  for (const char* text : {"", "x", "0", "-1", "3 s", "3days", "nan"}) EXPECT_FALSE(parse_seconds(text, seconds)) << text;
  EXPECT_TRUE(parse_seconds("500ms", seconds));
  EXPECT_EQ(seconds, 0.5);
  EXPECT_TRUE(parse_seconds("2.5", seconds));
  EXPECT_EQ(seconds, 2.5);
}

TEST(Env, SettingsCanBeReplaced) {
  Settings changed = settings();
  Settings before = changed;
  changed.min_tile = 17;
  replace_settings(changed);
  EXPECT_EQ(settings().min_tile, 17);
  replace_settings(before);
}

}  // namespace

}  // namespace tilewise
