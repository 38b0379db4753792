#include "runtime/record.h"

#include "runtime/base/error.h"

namespace tilewise {
namespace {

std::vector<Family>& families() {
  static std::vector<Family>* list = new std::vector<Family>;
  return *list;
}

}  // namespace

uint16_t register_family(const Family& family) {
  families().push_back(family);
  return static_cast<uint16_t>(families().size() - 1);
}

const Family& family(uint16_t number) {
  TW_CHECK(number < families().size(), "family ", number, " is not registered");
  return families()[number];
}

}  // namespace tilewise
