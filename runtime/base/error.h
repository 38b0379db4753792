// Exceptions by NumPy meaning, and the check macro for our own bugs.
//
// A user's mistake is thrown as Error with the kind of NumPy's exception, at the call that made it and
// before anything is changed. CHECK is for states that cannot happen: it throws Error(kInternal) with the
// place, so that one bad operation never takes the process down.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace tilewise {

enum class ErrorKind {
  kType,             // TypeError
  kValue,            // ValueError
  kAxis,             // numpy.exceptions.AxisError
  kIndex,            // IndexError
  kMemory,           // MemoryError
  kOverflow,         // OverflowError
  kZeroDivision,     // ZeroDivisionError
  kFloatingPoint,    // FloatingPointError
  kLinAlg,           // numpy.linalg.LinAlgError
  kUFuncType,        // numpy's UFuncTypeError (a TypeError)
  kNotImplemented,   // NotImplementedError
  kRuntime,          // RuntimeError: a failed rank, device or transport
  kInternal,         // RuntimeError: a bug of ours
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

// Concatenates its arguments as a stream would print them: str("axis ", 3).
template <class... Args>
std::string str(const Args&... args) {
  std::ostringstream out;
  (out << ... << args);
  return out.str();
}

[[noreturn]] void fail_check(const char* file, int line, const char* condition, const std::string& message);

}  // namespace tilewise

#define TW_CHECK(condition, ...)                                                                        \
  do {                                                                                                  \
    if (!(condition)) [[unlikely]]                                                                      \
      ::tilewise::fail_check(__FILE__, __LINE__, #condition, ::tilewise::str("" __VA_OPT__(, ) __VA_ARGS__)); \
  } while (0)
