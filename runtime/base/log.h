// Lines for people: warnings of our own and what TILEWISE_DUMP asks for.
//
// A line is written to standard error in one piece, so that those of several threads and ranks do not mix. Nothing here
// is for errors that a program can handle; those are exceptions. Thread-safe.
#pragma once

#include <string_view>

#include "runtime/base/env.h"
#include "runtime/base/error.h"

namespace tilewise {

// "tilewise: " and the text.
void log_line(std::string_view text);
// Each line of the text, led by "tilewise[stage] ".
void log_stage(std::string_view stage, std::string_view text);

}  // namespace tilewise

// TW_DUMP("fuse", "group ", id, " closes"): the arguments are evaluated only when the stage is asked for.
#define TW_DUMP(stage, ...)                                                                                 \
  do {                                                                                                      \
    if (::tilewise::settings().dumps(stage)) ::tilewise::log_stage(stage, ::tilewise::str(__VA_ARGS__));    \
  } while (0)
