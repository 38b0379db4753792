// The stream's binary form, for the workers, for saved streams and for hashing; and its text for TILEWISE_DUMP=stream.
//
// One record after another, numbers as variable-length integers, views whole. Large host data is not part of it: it travels
// by the data road. Independent of pointers, so that equal programs give equal bytes.
#pragma once

#include <string>
#include <vector>

#include "runtime/record.h"

namespace tilewise {

void encode(const Record& record, std::vector<char>* to);
// Reads one record and moves `at` behind it. Throws Error(kRuntime) if the bytes are not a record.
Record decode(const char** at, const char* end);
std::string print(const Record& record);

}  // namespace tilewise
