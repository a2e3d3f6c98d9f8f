# For WebAssembly, by what tools/wasm/setup.sh made in the folder SARDONYX_WASM_TOOLS.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES SARDONYX_WASM_TOOLS)
set(CMAKE_CXX_COMPILER "${SARDONYX_WASM_TOOLS}/bin/clang++")
set(CMAKE_AR "${SARDONYX_WASM_TOOLS}/bin/ar" CACHE FILEPATH "")
set(CMAKE_RANLIB "${SARDONYX_WASM_TOOLS}/bin/ranlib" CACHE FILEPATH "")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_EXECUTABLE_SUFFIX .wasm)
# Nothing of this machine is meant.
set(CMAKE_FIND_ROOT_PATH "${SARDONYX_WASM_TOOLS}")
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# By the linker itself, since what clang would add to the command is not there.
set(CMAKE_CXX_LINK_EXECUTABLE
    "${SARDONYX_WASM_TOOLS}/bin/wasm-ld --no-entry --gc-sections -O2 --strip-debug \
     --stack-first -z stack-size=4194304 --initial-memory=16777216 --max-memory=4294967296 \
     <OBJECTS> <LINK_LIBRARIES> ${SARDONYX_WASM_TOOLS}/lib/cpp_exception.o \
     -L${SARDONYX_WASM_TOOLS}/lib -lc++ -lc++abi -lunwind -lc -lzigc -lcompiler_rt -o <TARGET>")
