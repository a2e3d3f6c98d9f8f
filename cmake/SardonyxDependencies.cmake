# Third-party libraries: the system's where it has them, the upstream release otherwise, by its hash.
# Without access to upstream, FETCHCONTENT_SOURCE_DIR_<PACKAGE> names a folder with its sources.
# SARDONYX_SELF_CONTAINED puts them into our binaries, for machines that do not have them.

include(FetchContent)

# Their headers are not held to our warnings; CMake before 3.25 cannot say so here.
if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.25)
  set(system SYSTEM)
endif()

# sardonyx_fetch(<package> <SHA-256> <URL of the release>... [OPTIONS <FetchContent option>...])
macro(sardonyx_fetch package hash)
  cmake_parse_arguments(fetch "" "" "OPTIONS" ${ARGN})
  message(STATUS "${package}: fetching ${fetch_UNPARSED_ARGUMENTS}")
  FetchContent_Declare(${package} URL ${fetch_UNPARSED_ARGUMENTS} URL_HASH SHA256=${hash}
                       DOWNLOAD_EXTRACT_TIMESTAMP ON ${system} ${fetch_OPTIONS})
  FetchContent_MakeAvailable(${package})
endmacro()

# The same for what the system does not have.
macro(sardonyx_find package)
  find_package(${package} QUIET)
  if(NOT ${package}_FOUND)
    sardonyx_fetch(${package} ${ARGN})
  endif()
endmacro()

# The release that Debian 12 has.
set(simdjson
    156b1bc5eb0561b2bd166b46d191fd3d95a3e709cc63761477d3b7aec2b6e9ed
    https://github.com/simdjson/simdjson/archive/v3.0.1.tar.gz)
if(SARDONYX_SELF_CONTAINED)
  set(SIMDJSON_BUILD_STATIC ON)  # systems have it as a shared library
  set(BUILD_SHARED_LIBS OFF)
  sardonyx_fetch(simdjson ${simdjson})
  set(ZLIB_USE_STATIC_LIBS ON)
else()
  sardonyx_find(simdjson ${simdjson})
endif()
sardonyx_find(fmt 6cb1e6d37bdcb756dbbe59be438790db409cdb4868c66e888d5df9f13f7c027f
              https://github.com/fmtlib/fmt/archive/refs/tags/11.0.2.tar.gz)
sardonyx_find(CLI11 f2d893a65c3b1324c50d4e682c0cdc021dd0477ae2c048544f39eed6654b699a
              https://github.com/CLIUtils/CLI11/archive/refs/tags/v2.4.2.tar.gz)
sardonyx_find(ZLIB 17e88863f3600672ab49182f217281b6fc4d3c762bde361935e436a95214d05c
              https://github.com/madler/zlib/archive/refs/tags/v1.3.1.tar.gz)
if(NOT TARGET ZLIB::ZLIB)
  add_library(ZLIB::ZLIB ALIAS zlibstatic)
  target_include_directories(zlibstatic PUBLIC "${zlib_SOURCE_DIR}" "${zlib_BINARY_DIR}")
endif()

# Of Highway we use the headers alone: constructors of its shared library measure the clock, which costs
# each start of the command 5 ms. src/kernels/targets.cpp asks for the processor's instructions.
if(NOT SARDONYX_SELF_CONTAINED)
  find_path(HIGHWAY_INCLUDE_DIR hwy/highway.h)
  mark_as_advanced(HIGHWAY_INCLUDE_DIR)
endif()
if(NOT HIGHWAY_INCLUDE_DIR)
  sardonyx_fetch(highway 566fc77315878473d9a6bd815f7de78c73734acdcb745c3dde8579560ac5440e
                 https://github.com/google/highway/archive/refs/tags/1.0.3.tar.gz
                 OPTIONS SOURCE_SUBDIR none)
  set(HIGHWAY_INCLUDE_DIR "${highway_SOURCE_DIR}")
endif()
add_library(sardonyx_highway INTERFACE)
target_include_directories(sardonyx_highway SYSTEM INTERFACE "${HIGHWAY_INCLUDE_DIR}")
# Beside plain loops, three sets of instructions on x86 (SSE4, AVX2 and AVX-512) and one on ARM: the
# others are hardly faster and make the library larger.
target_compile_definitions(sardonyx_highway INTERFACE
  "HWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_AVX3_DL|HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128)")

add_library(sardonyx_fmt INTERFACE)
target_link_libraries(sardonyx_fmt
  INTERFACE $<IF:$<BOOL:${SARDONYX_SELF_CONTAINED}>,fmt::fmt-header-only,fmt::fmt>)

# protozero is headers only and ships no CMake package.
find_path(PROTOZERO_INCLUDE_DIR protozero/pbf_reader.hpp)
mark_as_advanced(PROTOZERO_INCLUDE_DIR)
if(NOT PROTOZERO_INCLUDE_DIR)
  sardonyx_fetch(protozero 27e0017d5b3ba06d646a3ec6391d5ccc8500db821be480aefd2e4ddc3de5ff99
                 https://github.com/mapbox/protozero/archive/refs/tags/v1.7.1.tar.gz
                 OPTIONS SOURCE_SUBDIR none)
  set(PROTOZERO_INCLUDE_DIR "${protozero_SOURCE_DIR}/include")
endif()
add_library(sardonyx_protozero INTERFACE)
target_include_directories(sardonyx_protozero SYSTEM INTERFACE "${PROTOZERO_INCLUDE_DIR}")
add_library(protozero::protozero ALIAS sardonyx_protozero)

# cpp-httplib is one header, or a header with a shared library, whose configuration pkg-config has.
if(NOT SARDONYX_SELF_CONTAINED)
  find_path(HTTPLIB_INCLUDE_DIR httplib.h)
  find_library(HTTPLIB_LIBRARY cpp-httplib)
  mark_as_advanced(HTTPLIB_INCLUDE_DIR HTTPLIB_LIBRARY)
endif()
if(NOT HTTPLIB_INCLUDE_DIR)
  sardonyx_fetch(httplib ac7c59fa72325d4cb9f73af266312d82632ac35a5c4c8a1be620c1f946ec9cea
                 https://github.com/yhirose/cpp-httplib/archive/refs/tags/v0.25.0.tar.gz
                 OPTIONS SOURCE_SUBDIR none)
  set(HTTPLIB_INCLUDE_DIR "${httplib_SOURCE_DIR}")
  set(HTTPLIB_LIBRARY "")
endif()
find_package(Threads REQUIRED)
add_library(sardonyx_httplib INTERFACE)
target_include_directories(sardonyx_httplib SYSTEM INTERFACE "${HTTPLIB_INCLUDE_DIR}")
target_link_libraries(sardonyx_httplib INTERFACE Threads::Threads)
set(SARDONYX_HTTPLIB_IS_SHARED OFF)
if(HTTPLIB_LIBRARY)
  set(SARDONYX_HTTPLIB_IS_SHARED ON)
  target_link_libraries(sardonyx_httplib INTERFACE "${HTTPLIB_LIBRARY}")
  # What the library was compiled with decides how its classes are laid out.
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(HTTPLIB_CONFIGURATION REQUIRED QUIET cpp-httplib)
  target_compile_options(sardonyx_httplib INTERFACE ${HTTPLIB_CONFIGURATION_CFLAGS_OTHER})
endif()

if(SARDONYX_TESTS)
  sardonyx_find(GTest 8ad598c73ad796e0d8280b082cebd82a630d73e73cd3c70057938a6501bba5d7
                https://github.com/google/googletest/archive/refs/tags/v1.14.0.tar.gz)
endif()
if(SARDONYX_BENCHMARKS)
  set(BENCHMARK_ENABLE_TESTING OFF)
  sardonyx_find(benchmark 6bc180a57d23d4d9515519f92b0c83d61b05b5bab188961f36ac7b06b0d9e9ce
                https://github.com/google/benchmark/archive/refs/tags/v1.8.3.tar.gz)
endif()

if(SARDONYX_PYTHON)
  # The stable ABI where the wheel is to have it (pyproject.toml, wheel.py-api).
  set(python_parts Interpreter Development.Module)
  if(SKBUILD_SABI_VERSION)
    list(APPEND python_parts Development.SABIModule)
  endif()
  find_package(Python 3.10 REQUIRED COMPONENTS ${python_parts})
  if(NOT nanobind_DIR)
    execute_process(COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir
                    OUTPUT_VARIABLE nanobind_DIR OUTPUT_STRIP_TRAILING_WHITESPACE
                    COMMAND_ERROR_IS_FATAL ANY)
  endif()
  find_package(nanobind CONFIG REQUIRED)
  # nanobind's headers for code that is held to our warnings, compiled as its own library is.
  add_library(sardonyx_nanobind INTERFACE)
  if(SKBUILD_SABI_VERSION)
    target_compile_definitions(sardonyx_nanobind INTERFACE Py_LIMITED_API=0x030C0000)
  endif()
  if(NB_FREE_THREADED)
    target_compile_definitions(sardonyx_nanobind INTERFACE NB_FREE_THREADED)
  endif()
  target_include_directories(sardonyx_nanobind SYSTEM INTERFACE "${NB_DIR}/include"
                                                                ${Python_INCLUDE_DIRS})
endif()
