# For Linux on ARM, by Debian's cross compiler; tools/build_aarch64.sh fills the folder of packages.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CXX_FLAGS_INIT -Wno-psabi)  # notes on what GCC 10 changed
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES SARDONYX_AARCH64_PACKAGES)
set(CMAKE_FIND_ROOT_PATH "${SARDONYX_AARCH64_PACKAGES}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# The interpreter is this machine's, its headers are ARM's, and nanobind is where the interpreter is.
set(Python_INCLUDE_DIR "${SARDONYX_AARCH64_PACKAGES}/usr/include/python3.11")
