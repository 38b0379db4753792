// Type resolution behind a C interface, for tests that compare it with NumPy in Python (ctypes).
#include <string>

#include "ops/op_table.h"
#include "ops/type_rules.h"
#include "runtime/base/error.h"

using namespace tilewise;

// kinds[k]: the number of a dtype, or 100 + Input::Kind for a Python scalar with the integer value values[k]. dtype: -1 or that
// of dtype=. Gives "row loop result operand..." or "!kind text" for an exception.
extern "C" __attribute__((visibility("default"))) const char* tw_resolve(const char* name, int count, const int* kinds,
                                                                         const int64_t* values, int dtype, int casting) {
  static std::string text;
  ops::install();
  Array arrays[3];
  ops::Input inputs[3];
  for (int k = 0; k < count; ++k) {
    if (kinds[k] < 100) {
      arrays[k].view.dtype = static_cast<DType>(kinds[k]);
      inputs[k] = ops::Input::of(arrays[k]);
      continue;
    }
    inputs[k].kind = static_cast<ops::Input::Kind>(kinds[k] - 100);
    const Scalar integer = Scalar::of(DType::kInt64, values[k]);
    switch (inputs[k].kind) {
      case ops::Input::Kind::kWeakBool: inputs[k].value = cast(integer, DType::kBool); break;
      case ops::Input::Kind::kWeakFloat: inputs[k].value = cast(integer, DType::kFloat64); break;
      case ops::Input::Kind::kWeakComplex: inputs[k].value = cast(integer, DType::kComplex128); break;
      default: inputs[k].value = integer; break;
    }
  }
  try {
    const std::optional<DType> wanted = dtype < 0 ? std::nullopt : std::optional<DType>(static_cast<DType>(dtype));
    const ops::Loop loop = ops::resolve_loop(ops::find_op(name), {inputs, static_cast<size_t>(count)}, wanted,
                                             static_cast<ops::Casting>(casting));
    const OpInfo& info = op_info(loop.op);
    text = str(info.name, " ", static_cast<int>(loop.dtype), " ", static_cast<int>(loop.result));
    for (int k = 0; k < count; ++k) {
      const DType type = info.operand_type(k, loop.dtype);
      text += str(" ", static_cast<int>(type));
      if (kinds[k] >= 100) ops::scalar_as(inputs[k], type);
    }
  } catch (const Error& e) {
    text = str("!", static_cast<int>(e.kind()), " ", e.what());
  }
  return text.c_str();
}
