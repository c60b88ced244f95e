// Invariants: a failed check is a programmer's error and ends the process with its place and text.
#ifndef TIDEMARK_COMMON_CHECK_H_
#define TIDEMARK_COMMON_CHECK_H_

namespace tidemark {

// Writes "file:line: check failed: text" to standard error and aborts.
[[noreturn]] void CheckFailed(const char* file, int line, const char* text);

}  // namespace tidemark

#define TIDEMARK_CHECK(condition)                                              \
  do {                                                                         \
    if (!(condition)) ::tidemark::CheckFailed(__FILE__, __LINE__, #condition); \
  } while (false)

#endif  // TIDEMARK_COMMON_CHECK_H_
