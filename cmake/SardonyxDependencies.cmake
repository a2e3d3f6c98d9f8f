# Third-party libraries: the system's where it has them, the upstream release otherwise.

include(FetchContent)

# Their headers are not held to our warnings; CMake before 3.25 cannot say so here.
if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.25)
  set(system SYSTEM)
endif()

# sardonyx_find(<package> <URL of the upstream release> [<FetchContent option>...])
macro(sardonyx_find package url)
  find_package(${package} QUIET)
  if(NOT ${package}_FOUND)
    message(STATUS "${package}: not on this system, fetching ${url}")
    FetchContent_Declare(${package} URL "${url}" ${system} ${ARGN})
    FetchContent_MakeAvailable(${package})
  endif()
endmacro()

sardonyx_find(simdjson https://github.com/simdjson/simdjson/archive/refs/tags/v3.10.1.tar.gz)
sardonyx_find(fmt https://github.com/fmtlib/fmt/archive/refs/tags/11.0.2.tar.gz)
sardonyx_find(CLI11 https://github.com/CLIUtils/CLI11/archive/refs/tags/v2.4.2.tar.gz)
sardonyx_find(ZLIB https://github.com/madler/zlib/archive/refs/tags/v1.3.1.tar.gz)
if(NOT TARGET ZLIB::ZLIB)
  add_library(ZLIB::ZLIB ALIAS zlibstatic)
  target_include_directories(zlibstatic PUBLIC "${zlib_SOURCE_DIR}" "${zlib_BINARY_DIR}")
endif()

# protozero is headers only and ships no CMake package.
find_path(PROTOZERO_INCLUDE_DIR protozero/pbf_reader.hpp)
mark_as_advanced(PROTOZERO_INCLUDE_DIR)
if(NOT PROTOZERO_INCLUDE_DIR)
  sardonyx_find(protozero https://github.com/mapbox/protozero/archive/refs/tags/v1.7.1.tar.gz
                SOURCE_SUBDIR none)
  set(PROTOZERO_INCLUDE_DIR "${protozero_SOURCE_DIR}/include")
endif()
add_library(sardonyx_protozero INTERFACE)
target_include_directories(sardonyx_protozero SYSTEM INTERFACE "${PROTOZERO_INCLUDE_DIR}")
add_library(protozero::protozero ALIAS sardonyx_protozero)

if(SARDONYX_TESTS)
  sardonyx_find(GTest https://github.com/google/googletest/archive/refs/tags/v1.14.0.tar.gz)
endif()
if(SARDONYX_BENCHMARKS)
  set(BENCHMARK_ENABLE_TESTING OFF)
  sardonyx_find(benchmark https://github.com/google/benchmark/archive/refs/tags/v1.8.3.tar.gz)
endif()

if(SARDONYX_PYTHON)
  find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
  if(NOT nanobind_DIR)
    execute_process(COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir
                    OUTPUT_VARIABLE nanobind_DIR OUTPUT_STRIP_TRAILING_WHITESPACE
                    COMMAND_ERROR_IS_FATAL ANY)
  endif()
  find_package(nanobind CONFIG REQUIRED)
  nanobind_build_library(nanobind-static)
  # nanobind's headers for code that is held to our warnings.
  add_library(sardonyx_nanobind INTERFACE)
  target_include_directories(sardonyx_nanobind SYSTEM INTERFACE "${NB_DIR}/include"
                                                                ${Python_INCLUDE_DIRS})
endif()
