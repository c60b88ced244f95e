// Carries the headers that every test includes, precompiled once (CMakeLists.txt). Tests still
// include what they use.
#include "tests/support/status_matchers.h"
