#include "common/check.h"

#include <cstdio>
#include <cstdlib>

namespace tidemark {

void CheckFailed(const char* file, int line, const char* text) {
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, text);
  std::abort();
}

}  // namespace tidemark
