# The ways to declare a target. Every folder's CMakeLists.txt reads as a list of files and dependencies.

# Two thirds of the compile time of a library's file are these headers: precompiled once.
add_library(tidemark_pch OBJECT ${PROJECT_SOURCE_DIR}/cmake/precompiled.cc)
target_link_libraries(tidemark_pch PRIVATE tidemark_options absl::statusor absl::strings absl::time absl::flat_hash_map)
target_precompile_headers(tidemark_pch PRIVATE
  <algorithm> <cstdint> <functional> <map> <memory> <optional> <string> <string_view> <utility> <vector>
  <absl/container/flat_hash_map.h> <absl/status/status.h> <absl/status/statusor.h> <absl/strings/str_cat.h>
  <absl/time/clock.h> <absl/time/time.h>)

# tidemark_library(NAME x HDRS a.h SRCS a.cc DEPS public... PRIVATE_DEPS hidden...)
function(tidemark_library)
  cmake_parse_arguments(ARG "" "NAME" "HDRS;SRCS;DEPS;PRIVATE_DEPS" ${ARGN})
  if(ARG_SRCS)
    add_library(${ARG_NAME} STATIC ${ARG_SRCS} ${ARG_HDRS})
    target_include_directories(${ARG_NAME} PUBLIC ${PROJECT_SOURCE_DIR})
    target_link_libraries(${ARG_NAME} PUBLIC ${ARG_DEPS} PRIVATE tidemark_options ${ARG_PRIVATE_DEPS})
    target_precompile_headers(${ARG_NAME} REUSE_FROM tidemark_pch)
  else()
    add_library(${ARG_NAME} INTERFACE)
    target_include_directories(${ARG_NAME} INTERFACE ${PROJECT_SOURCE_DIR})
    target_link_libraries(${ARG_NAME} INTERFACE ${ARG_DEPS})
  endif()
  string(REPLACE "tidemark_" "tidemark::" alias ${ARG_NAME})
  add_library(${alias} ALIAS ${ARG_NAME})
endfunction()

# Every program of server/, client/ and examples/, without tests and benchmarks.
add_custom_target(programs)

# tidemark_binary(NAME x SRCS main.cc DEPS ...)
function(tidemark_binary)
  cmake_parse_arguments(ARG "" "NAME" "SRCS;DEPS" ${ARGN})
  add_executable(${ARG_NAME} ${ARG_SRCS})
  target_include_directories(${ARG_NAME} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${ARG_NAME} PRIVATE tidemark_options ${ARG_DEPS})
  target_precompile_headers(${ARG_NAME} REUSE_FROM tidemark_pch)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  if(folder MATCHES "^(server|client|examples)(/|$)")
    add_dependencies(programs ${ARG_NAME})
  endif()
endfunction()

# A skip is only a skip when nothing else happened: the skip list ends the output, and nothing passed. Matching the
# list alone would hide a failure beside it. Skipped cases among passed ones are found by tools/check_skips.
set(TIDEMARK_ALL_SKIPPED "\\[  PASSED  \\] 0 tests\\.\n\\[  SKIPPED \\] [0-9]+ tests?, listed below:\n(\\[  SKIPPED \\] [^\n]*\n)+$")

# Puts TARGET among what `ninja tests_LABEL` builds, so that a sanitizer build makes only what it runs.
function(tidemark_add_to_labels TARGET)
  foreach(label IN LISTS ARGN)
    if(NOT TARGET tests_${label})
      add_custom_target(tests_${label})
    endif()
    add_dependencies(tests_${label} ${TARGET})
  endforeach()
endfunction()

# tidemark_test(NAME x SRCS a_test.cc DEPS ... [LABELS unit|conformance|postgres|...] [TIMEOUT seconds] [ENV A=B ...])
# One binary and one CTest entry per folder of tests; a case is run alone with --gtest_filter. A test that starts
# another binary of ours says so with add_dependencies(x that_binary). PCH tidemark_rpc_test_pch is for tests whose every
# file is a gRPC client.
function(tidemark_test)
  cmake_parse_arguments(ARG "" "NAME;TIMEOUT;PCH" "SRCS;DEPS;LABELS;ENV" ${ARGN})
  if(NOT ARG_PCH)
    set(ARG_PCH tidemark_test_pch)
  endif()
  add_executable(${ARG_NAME} ${ARG_SRCS})
  target_include_directories(${ARG_NAME} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${ARG_NAME} PRIVATE tidemark_options ${ARG_DEPS} GTest::gmock GTest::gtest_main)
  target_precompile_headers(${ARG_NAME} REUSE_FROM ${ARG_PCH})
  add_test(NAME ${ARG_NAME} COMMAND ${ARG_NAME})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  tidemark_add_to_labels(${ARG_NAME} ${ARG_LABELS})
  set_tests_properties(${ARG_NAME} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT}
                       ENVIRONMENT "${ARG_ENV}" SKIP_REGULAR_EXPRESSION "${TIDEMARK_ALL_SKIPPED}")
endfunction()

# tidemark_fuzzer(NAME x_fuzzer SRCS x_fuzzer.cc DEPS ...)
# SRCS define LLVMFuzzerTestOneInput. Seeds and found inputs lie in tests/fuzz/corpus/NAME, one input a file.
# Preset fuzz: a libFuzzer binary, run for 60 s with label fuzz. Elsewhere: the same code runs every file of the corpus
# once, as a regression test that needs no clang.
function(tidemark_fuzzer)
  cmake_parse_arguments(ARG "" "NAME" "SRCS;DEPS" ${ARGN})
  set(corpus ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${ARG_NAME})
  tidemark_binary(NAME ${ARG_NAME} SRCS ${ARG_SRCS} DEPS ${ARG_DEPS})
  if(TIDEMARK_FUZZERS)
    target_link_options(${ARG_NAME} PRIVATE -fsanitize=fuzzer)
    set(found ${PROJECT_BINARY_DIR}/fuzz/${ARG_NAME})
    file(MAKE_DIRECTORY ${found})
    add_test(NAME ${ARG_NAME}
             COMMAND ${ARG_NAME} -max_total_time=60 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1
                     -artifact_prefix=${PROJECT_BINARY_DIR}/fuzz/${ARG_NAME}- ${found} ${corpus})
    set_tests_properties(${ARG_NAME} PROPERTIES LABELS fuzz TIMEOUT 150)
    tidemark_add_to_labels(${ARG_NAME} fuzz)
  else()
    target_sources(${ARG_NAME} PRIVATE ${PROJECT_SOURCE_DIR}/tests/fuzz/replay_main.cc)
    add_test(NAME ${ARG_NAME} COMMAND ${ARG_NAME} ${corpus})
    set_tests_properties(${ARG_NAME} PROPERTIES LABELS unit TIMEOUT 60)
    tidemark_add_to_labels(${ARG_NAME} unit)
  endif()
endfunction()
