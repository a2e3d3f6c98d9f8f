# sardonyx_precompile(<target> [HEADERS <header>...] [USES <third-party target>...]
#                     [OPTIONS <option>...])
#
# Compiles a target with OPTIONS and against a precompiled header of the standard headers that most
# files include, then HEADERS: those of the project are written from src/, others as "<gtest/gtest.h>"
# and come from USES. Targets that name the same headers and third-party targets share one.
#
# Every file still includes what it uses: `make tidy` reads it without.
function(sardonyx_precompile target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS;USES;OPTIONS")
  target_compile_options(${target} PRIVATE ${arg_OPTIONS})
  if(NOT SARDONYX_PCH)
    return()
  endif()
  string(MAKE_C_IDENTIFIER "sardonyx_pch_${arg_HEADERS}_${arg_USES}" pch)
  if(NOT TARGET ${pch})
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/${pch}.cpp" CONTENT "")
    add_library(${pch} OBJECT "${PROJECT_BINARY_DIR}/${pch}.cpp")
    target_link_libraries(${pch} PRIVATE sardonyx_flags sardonyx_fmt ${arg_USES})
    # Quoted, CMake leaves them relative: the same in another checkout.
    list(TRANSFORM arg_HEADERS REPLACE "^[^<].*" "\"\\0\"")
    target_precompile_headers(${pch} PRIVATE
      <algorithm> <array> <cmath> <cstddef> <cstdint> <functional> <limits> <map> <memory> <numeric>
      <optional> <set> <span> <string> <string_view> <unordered_map> <unordered_set> <utility>
      <variant> <vector> <fmt/format.h> ${arg_HEADERS})
    # What ccache asks of GCC; clang needs nothing.
    target_compile_options(${pch} PRIVATE ${arg_OPTIONS}
                           $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  endif()
  # An executable would be compiled as -fPIE, and a precompiled header serves one mode only.
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${target} PRIVATE -fPIC $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  target_precompile_headers(${target} REUSE_FROM ${pch})
endfunction()
