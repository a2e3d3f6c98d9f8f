# sardonyx_layer(NAME <name> [DEPENDS <layer>...] [USES <third-party target>...]
#                [PRECOMPILE <header>...])
#
# One layer is one static library `sardonyx_<name>`: the *.cpp of its folder and of the rooms below
# it (gen/ holds what is generated and committed), less *_test.cpp, which become the executable
# `<name>_test` and one CTest test. A layer without sources is an interface library.
# PRECOMPILE names what most of its files include, from src/.
# tools/check_layers.py holds DEPENDS and the #includes against the design's drawing.
function(sardonyx_layer)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "DEPENDS;USES;PRECOMPILE")
  set(target sardonyx_${arg_NAME})
  list(TRANSFORM arg_DEPENDS PREPEND sardonyx_)

  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  file(GLOB_RECURSE tests CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*_test.cpp")
  if(tests)
    list(REMOVE_ITEM sources ${tests})
  endif()

  if(sources)
    add_library(${target} STATIC ${sources})
    set_property(GLOBAL APPEND PROPERTY SARDONYX_LAYERS ${target})
    target_link_libraries(${target} PUBLIC ${arg_DEPENDS}
                          PRIVATE sardonyx_flags sardonyx_fmt ${arg_USES})
    sardonyx_precompile(${target} HEADERS ${arg_PRECOMPILE} USES ${arg_USES})
  else()
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE ${arg_DEPENDS})
  endif()

  if(tests AND SARDONYX_TESTS)
    # Optimising the tests themselves took a fifth of a Release build; what they test is optimised.
    set(test_options $<$<CONFIG:Release>:-Og>)
    add_executable(${arg_NAME}_test ${tests})
    add_dependencies(sardonyx_tests ${arg_NAME}_test)
    target_link_libraries(${arg_NAME}_test PRIVATE ${target} sardonyx_flags sardonyx_fmt ${arg_USES}
                                                   GTest::gtest_main)
    sardonyx_precompile(${arg_NAME}_test HEADERS <gtest/gtest.h> USES GTest::gtest OPTIONS
                        ${test_options})
    add_test(NAME ${arg_NAME}_test COMMAND ${arg_NAME}_test
             WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  endif()
endfunction()
