# sardonyx_layer(NAME <name> [DEPENDS <layer>...] [USES <third-party target>...])
#
# One layer is one static library `sardonyx_<name>`: the *.cpp of its folder and of the rooms below
# it (gen/ holds what is generated and committed), less *_test.cpp, which become the executable
# `<name>_test` and one CTest test. A layer without sources is an interface library.
# tools/check_layers.py holds DEPENDS and the #includes against the design's drawing.
function(sardonyx_layer)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "DEPENDS;USES")
  set(target sardonyx_${arg_NAME})
  list(TRANSFORM arg_DEPENDS PREPEND sardonyx_)

  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  file(GLOB_RECURSE tests CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*_test.cpp")
  if(tests)
    list(REMOVE_ITEM sources ${tests})
  endif()

  if(sources)
    add_library(${target} STATIC ${sources})
    target_link_libraries(${target} PUBLIC ${arg_DEPENDS}
                          PRIVATE sardonyx_flags fmt::fmt ${arg_USES})
    sardonyx_precompile(${target} layer)
  else()
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE ${arg_DEPENDS})
  endif()

  if(tests AND SARDONYX_TESTS)
    add_executable(${arg_NAME}_test ${tests})
    target_link_libraries(${arg_NAME}_test PRIVATE ${target} sardonyx_flags fmt::fmt ${arg_USES}
                                                   GTest::gtest_main)
    sardonyx_precompile(${arg_NAME}_test test)
    add_test(NAME ${arg_NAME}_test COMMAND ${arg_NAME}_test
             WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  endif()
endfunction()

# Compiles a target against a precompiled header: the standard headers that most files include, and
# for a test GoogleTest too. Every file still includes what it uses: `make tidy` reads it without.
function(sardonyx_precompile target kind)
  if(NOT SARDONYX_PCH)
    return()
  endif()
  set(pch sardonyx_${kind}_pch)
  if(NOT TARGET ${pch})
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/${pch}.cpp" CONTENT "")
    add_library(${pch} OBJECT "${PROJECT_BINARY_DIR}/${pch}.cpp")
    target_link_libraries(${pch} PRIVATE sardonyx_flags)
    target_precompile_headers(${pch} PRIVATE
      <algorithm> <cstdint> <functional> <map> <memory> <optional> <span> <string> <string_view>
      <unordered_map> <utility> <variant> <vector>)
    if(kind STREQUAL "test")
      target_link_libraries(${pch} PRIVATE GTest::gtest)
      target_precompile_headers(${pch} PRIVATE <gtest/gtest.h>)
    endif()
    # What ccache asks of GCC; clang needs nothing.
    target_compile_options(${pch} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  endif()
  # An executable would be compiled as -fPIE, and a precompiled header serves one mode only.
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${target} PRIVATE -fPIC $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  target_precompile_headers(${target} REUSE_FROM ${pch})
endfunction()
