# Third-party libraries of the WebAssembly build, as tools/wasm/setup.sh made them: the targets that
# SardonyxDependencies.cmake has. Neither the command line nor the server is built, nor their
# libraries.

set(CMAKE_DL_LIBS "")  # no libraries are loaded

function(sardonyx_wasm_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "ARCHIVE" "ALIAS;DEFINITIONS")
  add_library(${target} INTERFACE)
  target_include_directories(${target} SYSTEM INTERFACE "${SARDONYX_WASM_TOOLS}/include")
  target_compile_definitions(${target} INTERFACE ${arg_DEFINITIONS})
  if(arg_ARCHIVE)
    target_link_libraries(${target} INTERFACE "${SARDONYX_WASM_TOOLS}/lib/${arg_ARCHIVE}")
  endif()
  if(arg_ALIAS)
    add_library(${arg_ALIAS} ALIAS ${target})
  endif()
endfunction()

sardonyx_wasm_library(sardonyx_simdjson ARCHIVE libsimdjson.a ALIAS simdjson::simdjson)
sardonyx_wasm_library(sardonyx_zlib ARCHIVE libz.a ALIAS ZLIB::ZLIB)
sardonyx_wasm_library(sardonyx_fmt DEFINITIONS FMT_HEADER_ONLY)
# Its vectors of WebAssembly lack doubles: plain loops, which clang makes vectors of.
sardonyx_wasm_library(sardonyx_highway DEFINITIONS HWY_COMPILE_ONLY_EMU128)
sardonyx_wasm_library(sardonyx_protozero ALIAS protozero::protozero)
