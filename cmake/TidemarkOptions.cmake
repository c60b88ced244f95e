# Language, output folders, warnings and sanitizers: everything that is the same for every target.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

include(CTest)

set(TIDEMARK_SANITIZE "" CACHE STRING "Sanitizers to build with, as -fsanitize= takes them (address,undefined or thread)")
option(TIDEMARK_FUZZERS "Build the libFuzzer targets (needs clang)" OFF)

# ccache hits across clones only when the clone's own path is not part of the hash.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
      CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE_PROGRAM})
endif()

add_library(tidemark_options INTERFACE)
target_compile_options(tidemark_options INTERFACE -Wall -Wextra -Werror -Wno-missing-field-initializers)
# Some libraries ask for it, and everybody who shares a precompiled header must agree.
target_compile_options(tidemark_options INTERFACE -pthread)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  target_compile_options(tidemark_options INTERFACE -Wthread-safety)
else()
  # g++ 12 reports these inside inlined std::string and std::variant code that is right.
  target_compile_options(tidemark_options INTERFACE -Wno-restrict -Wno-maybe-uninitialized -Wno-stringop-overread -Wno-array-bounds)
endif()
if(TIDEMARK_FUZZERS)
  # Everything is built for coverage; only the fuzzers themselves link libFuzzer's main.
  add_compile_options(-fsanitize=fuzzer-no-link)
  set(TIDEMARK_SANITIZE address,undefined)
endif()
if(TIDEMARK_SANITIZE)
  add_compile_options(-fsanitize=${TIDEMARK_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TIDEMARK_SANITIZE})
  add_compile_definitions(TIDEMARK_SANITIZED)  # for tests of memory: sanitizers keep what is freed
  if(TIDEMARK_SANITIZE STREQUAL thread AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # Seeing this macro, protobuf's headers give map fields two more members, which the library, built without it, does
    # not know of. The standard library still has to be told.
    add_compile_options(-U__SANITIZE_THREAD__ -D_GLIBCXX_TSAN=1)
  endif()
endif()

# Without it ccache cannot tell that a header inside a precompiled one has changed, and mixes two layouts of one class.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  add_compile_options(-fpch-preprocess)
endif()
