// What every device must do, whatever it is made of: the contract of runtime/device.h as tests.
//
// A back end instantiates the suite with a function that makes a device:
//   INSTANTIATE_TEST_SUITE_P(Cpu, DeviceContract, ::testing::Values(DeviceCase{"cpu1", make}), case_name);
// Data is written and read through copies only, so memory that the host cannot touch is no exception.
#pragma once

#include <gtest/gtest.h>

#include "runtime/device.h"

namespace tilewise {

struct DeviceCase {
  std::string name;
  Device& (*make)();   // may give the same device each time
  Machine& (*owner)(); // of that device
};

inline void PrintTo(const DeviceCase& device, std::ostream* out) { *out << device.name; }
inline std::string case_name(const ::testing::TestParamInfo<DeviceCase>& info) { return info.param.name; }

class DeviceContract : public ::testing::TestWithParam<DeviceCase> {
 protected:
  DeviceContract() : device(GetParam().make()), machine(GetParam().owner()) {}

  Event write(BufferView to, const std::vector<int64_t>& values);
  std::vector<int64_t> read(BufferView from);
  void settle();  // waits for all work of the device

  Device& device;
  Machine& machine;
};

}  // namespace tilewise
