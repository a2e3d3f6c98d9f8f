# Build types, warnings, compiler cache and linker, the same for every layer.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)  # everything ends in a shared object
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Dev is for daily work: quick to compile, asserts on, no debug information.
# CMake has entered the flags of the type it was called with before this is read, empty.
if(NOT CMAKE_CXX_FLAGS_DEV)
  set(CMAKE_CXX_FLAGS_DEV "-O1" CACHE STRING "Flags of the build type Dev" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG" CACHE STRING "Flags of the build type Release" FORCE)
set(CMAKE_EXE_LINKER_FLAGS_DEV "" CACHE STRING "")
set(CMAKE_SHARED_LINKER_FLAGS_DEV "" CACHE STRING "")
set(CMAKE_MODULE_LINKER_FLAGS_DEV "" CACHE STRING "")
mark_as_advanced(CMAKE_CXX_FLAGS_DEV CMAKE_EXE_LINKER_FLAGS_DEV CMAKE_SHARED_LINKER_FLAGS_DEV
                 CMAKE_MODULE_LINKER_FLAGS_DEV)
# Third-party packages know no Dev; their release libraries serve it.
set(CMAKE_MAP_IMPORTED_CONFIG_DEV "Release;RelWithDebInfo;None;")
get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(NOT multi_config AND NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Dev or Debug" FORCE)
endif()

# What every target of ours is compiled with. Third-party code is not held to it.
add_library(sardonyx_flags INTERFACE)
target_compile_options(sardonyx_flags INTERFACE -Wall -Wextra -Wconversion -Wshadow
                       $<$<BOOL:${SARDONYX_WERROR}>:-Werror>)
# GCC 12 at -O2 takes its own inlined std::string operator+ for an overrun and an overlap
# (gcc bug 105329 and its kin); the address sanitizer's build looks for the real ones.
target_compile_options(sardonyx_flags INTERFACE
  $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds -Wno-restrict -Wno-stringop-overflow
  -Wno-stringop-overread -Wno-maybe-uninitialized>)
# std::stable_sort of libstdc++ 12 calls what libstdc++ 12 declares deprecated.
target_compile_options(sardonyx_flags INTERFACE
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
if(SARDONYX_WASM)
  # Positions of 64 bits meet iterators of 32: what they point into fits the memory. Members that
  # only assertions use are unused, which GCC does not say.
  target_compile_options(sardonyx_flags INTERFACE -Wno-shorten-64-to-32 -Wno-unused-private-field)
endif()
target_include_directories(sardonyx_flags INTERFACE "${PROJECT_SOURCE_DIR}/src"
                                                    "${PROJECT_SOURCE_DIR}/include")

if(SARDONYX_SANITIZE)
  add_compile_options(-fsanitize=${SARDONYX_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SARDONYX_SANITIZE})
endif()

if(SARDONYX_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)  # counts what is reached
endif()

if(SARDONYX_MOLD)
  find_program(SARDONYX_MOLD_PROGRAM mold)
  if(SARDONYX_MOLD_PROGRAM)
    add_link_options(-fuse-ld=mold)
  endif()
endif()

# Compile with paths relative to the build folder, whatever the checkout is called, so that
# checkouts of this project at different places share the cache's entries: the build folder holds
# a link `source` to the checkout, and the launcher rewrites both absolute paths.
if(SARDONYX_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(SARDONYX_CCACHE_PROGRAM ccache)
  if(SARDONYX_CCACHE_PROGRAM AND CMAKE_GENERATOR STREQUAL "Ninja")
    file(CREATE_LINK "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}/source" SYMBOLIC)
    configure_file("${PROJECT_SOURCE_DIR}/cmake/cached-compile.sh.in"
                   "${PROJECT_BINARY_DIR}/cached-compile.sh" @ONLY
                   FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${PROJECT_BINARY_DIR}/cached-compile.sh")
  endif()
endif()
