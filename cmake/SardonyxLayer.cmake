# sardonyx_layer(NAME <name> [DEPENDS <layer>...] [USES <third-party target>...]
#                [PRECOMPILE <header>...] [JOINED [ALONE <file>...]])
#
# One layer is one static library `sardonyx_<name>`: the *.cpp of its folder and of the rooms below
# it (gen/ holds what is generated and committed), less *_test.cpp, which become the executable
# `<name>_test` and one CTest test. A layer without sources is an interface library.
# PRECOMPILE names what most of its files include, from src/.
# JOINED layers and all tests are compiled a dozen files at a time where SARDONYX_JOIN asks for it,
# which takes a third of the time; ALONE are the files whose names in unnamed namespaces stand in
# other files, too.
# <name>_wasm.cpp takes the place of <name>.cpp in the WebAssembly build.
# tools/check_layers.py holds DEPENDS and the #includes against the design's drawing.
function(sardonyx_layer)
  cmake_parse_arguments(PARSE_ARGV 0 arg "JOINED" "NAME" "DEPENDS;USES;PRECOMPILE;ALONE")
  set(target sardonyx_${arg_NAME})
  list(TRANSFORM arg_DEPENDS PREPEND sardonyx_)

  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  file(GLOB_RECURSE tests CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*_test.cpp")
  if(tests)
    list(REMOVE_ITEM sources ${tests})
  endif()

  set(of_wasm ${sources})
  list(FILTER of_wasm INCLUDE REGEX "_wasm\\.cpp$")
  if(SARDONYX_WASM)
    list(TRANSFORM of_wasm REPLACE "_wasm\\.cpp$" ".cpp")
  endif()
  if(of_wasm)
    list(REMOVE_ITEM sources ${of_wasm})
  endif()

  if(sources)
    add_library(${target} STATIC ${sources})
    set_property(GLOBAL APPEND PROPERTY SARDONYX_LAYERS ${target})
    target_link_libraries(${target} PUBLIC ${arg_DEPENDS}
                          PRIVATE sardonyx_flags sardonyx_fmt ${arg_USES})
    sardonyx_precompile(${target} HEADERS ${arg_PRECOMPILE} USES ${arg_USES})
    sardonyx_join(${target} ${arg_JOINED} ${arg_ALONE})
  else()
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE ${arg_DEPENDS})
  endif()

  if(tests AND SARDONYX_TESTS)
    # Optimizing the tests themselves took a fifth of a Release build; what they test is optimized.
    set(test_options $<$<CONFIG:Release>:-Og>)
    add_executable(${arg_NAME}_test EXCLUDE_FROM_ALL ${tests})
    add_dependencies(sardonyx_tests ${arg_NAME}_test)
    sardonyx_join(${arg_NAME}_test ON)
    target_link_libraries(${arg_NAME}_test PRIVATE ${target} sardonyx_flags sardonyx_fmt ${arg_USES}
                                                   GTest::gtest_main)
    sardonyx_precompile(${arg_NAME}_test HEADERS <gtest/gtest.h> USES GTest::gtest OPTIONS
                        ${test_options})
    add_test(NAME ${arg_NAME}_test COMMAND ${arg_NAME}_test
             WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  endif()
endfunction()

# The files of a target, less those that follow, as a few large ones.
function(sardonyx_join target joined)
  if(joined AND SARDONYX_JOIN)
    set_target_properties(${target} PROPERTIES
      UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12 UNITY_BUILD_RELOCATABLE ON
      UNITY_BUILD_UNIQUE_ID SARDONYX_FILE
      UNITY_BUILD_CODE_BEFORE_INCLUDE "#include \"base/unity_build.h\"")
    set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

# Puts the files of the folder page/ into one generated source, so that a page needs no other file;
# the variable `source` is its path. <layer>/page_source.h declares what it has.
function(sardonyx_page layer source)
  file(GLOB page CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/page/*"
       "${PROJECT_SOURCE_DIR}/src/viewer/page/*.js")
  set(path "${CMAKE_CURRENT_BINARY_DIR}/page_source.cpp")
  add_custom_command(
    OUTPUT "${path}"
    COMMAND "${CMAKE_COMMAND}" "-DFROM=${CMAKE_CURRENT_SOURCE_DIR}/page" "-DTO=${path}"
            "-DLAYER=${layer}" -P "${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake"
    DEPENDS ${page} "${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake"
    COMMENT "Embedding the page of ${layer}")
  set(${source} "${path}" PARENT_SCOPE)
endfunction()
