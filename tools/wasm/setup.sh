#!/bin/bash
# Makes what `make wasm` compiles with, in a folder of its own: quick when it is there.
#
# The compiler is Zig's clang from PyPI. The WASI library of C comes with it, and so do the sources of
# LLVM's C++ libraries, which are compiled here: those of Zig and of Debian have no exceptions.
# simdjson and zlib are Debian's sources; fmt, Highway and protozero are headers of this machine.
#
#   WASM   the folder (default: .cache/wasm)
#   JOBS   parallel compilations (default: 2)
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$(realpath -m "${WASM:-.cache/wasm}")
jobs=${JOBS:-2}

stamp=$folder/.sardonyx-$(sha256sum "$0" | cut -c1-16)
if [[ -e $stamp ]]; then exit; fi
mkdir -p "$folder/bin" "$folder/lib" "$folder/include" "$folder/source" "$folder/object"

if [[ ! -x $folder/venv/bin/pip ]]; then python3 -m venv "$folder/venv"; fi
"$folder/venv/bin/pip" install -qq ziglang==0.17.1
zig=$("$folder/venv/bin/python" -c "import ziglang; print(ziglang.__path__[0])")

# The configuration of LLVM's C++ library that its __config_site would hold. Threads are those of the
# WASI library: locks do nothing, and a thread cannot be had.
cat >"$folder/bin/clang++" <<END
#!/bin/bash
exec "$zig/zig" clang --target=wasm32-wasip1 -nostdinc -nostdinc++ -fwasm-exceptions -msimd128 \\
  -isystem "$zig/lib/libcxx/include" -isystem "$zig/lib/libcxxabi/include" \\
  -isystem "$zig/lib/include" -isystem "$zig/lib/libc/include/wasm-wasi-musl" \\
  -isystem "$zig/lib/libc/include/generic-musl" \\
  -isystem "$zig/lib/libc/include/wasm32-wasi-any" -isystem "$zig/lib/libc/include/any-wasi-any" \\
  -D_LIBCPP_ABI_VERSION=1 -D_LIBCPP_ABI_NAMESPACE=__1 -D_LIBCPP_HAS_MUSL_LIBC=1 \\
  -D_LIBCPP_HAS_THREADS=1 -D_LIBCPP_HAS_THREAD_API_PTHREAD=1 -D_LIBCPP_HAS_FILESYSTEM=1 \\
  -D_LIBCPP_HAS_MONOTONIC_CLOCK=1 -D_LIBCPP_HAS_TERMINAL=0 -D_LIBCPP_HAS_RANDOM_DEVICE=1 \\
  -D_LIBCPP_HAS_LOCALIZATION=1 -D_LIBCPP_HAS_UNICODE=1 -D_LIBCPP_HAS_WIDE_CHARACTERS=1 \\
  -D_LIBCPP_HAS_VENDOR_AVAILABILITY_ANNOTATIONS=0 -D_LIBCPP_PSTL_BACKEND_SERIAL \\
  -D_LIBCPP_HARDENING_MODE=_LIBCPP_HARDENING_MODE_NONE \\
  -D_LIBCPP_ASSERTION_SEMANTIC_DEFAULT=_LIBCPP_ASSERTION_SEMANTIC_IGNORE \\
  -D_LIBCXXABI_DISABLE_VISIBILITY_ANNOTATIONS -D_LIBCPP_DISABLE_VISIBILITY_ANNOTATIONS \\
  "\$@"
END
for tool in ar ranlib wasm-ld; do
  printf '#!/bin/bash\nexec "%s/zig" %s "$@"\n' "$zig" "$tool" >"$folder/bin/$tool"
done
chmod +x "$folder"/bin/*

# What Zig makes of the library of C, by linking a program with it.
export ZIG_LOCAL_CACHE_DIR=$folder/zig-cache ZIG_GLOBAL_CACHE_DIR=$folder/zig-cache
echo 'int main(void) { return 0; }' >"$folder/object/main.c"
"$zig/zig" cc -target wasm32-wasi -Os "$folder/object/main.c" -o "$folder/object/main.wasm"
for library in libc libzigc libcompiler_rt; do
  cp "$(find "$folder/zig-cache" -name "$library.a" | head -1)" "$folder/lib/"
done

# archive NAME OPTIONS -- FILES
archive() {
  local name=$1 options=()
  shift
  while [[ $1 != -- ]]; do options+=("$1") && shift; done
  shift
  local objects=$folder/object/$name
  rm -rf "$objects" "$folder/lib/$name.a"
  mkdir -p "$objects"
  printf '%s\0' "$@" | xargs -0 -P "$jobs" -I{} sh -c \
    'file=$1 && shift && "$@" -c "$file" -o "$0/$(basename "$file").o"' \
    "$objects" {} "$folder/bin/clang++" -Os -w "${options[@]}"
  "$folder/bin/ar" rcs "$folder/lib/$name.a" "$objects"/*.o
}

# Which it takes musl to have.
cat >"$folder/include/no_copy_file_range.h" <<END
#include <errno.h>
#include <sys/types.h>
static inline ssize_t copy_file_range(int, off_t*, int, off_t*, size_t, unsigned) {
  errno = ENOSYS;
  return -1;
}
END

cxx=$zig/lib/libcxx abi=$zig/lib/libcxxabi
mapfile -t sources < <(ls "$cxx"/src/*.cpp "$cxx"/src/filesystem/*.cpp "$cxx"/src/ryu/*.cpp \
  "$cxx/src/support/runtime/"*.cpp 2>/dev/null | grep -vE '/(int128_builtins|pstl)')
archive libc++ -std=c++23 -D_LIBCPP_BUILDING_LIBRARY -DLIBCXX_BUILDING_LIBCXXABI \
  -include "$folder/include/no_copy_file_range.h" "-I$cxx/src" "-I$cxx/libc" -- "${sources[@]}"
mapfile -t sources < <(ls "$abi"/src/*.cpp | grep -vE 'cxa_noexception|cxa_thread_atexit')
archive libc++abi -std=c++23 -D_LIBCXXABI_BUILDING_LIBRARY -D_LIBCPP_BUILDING_LIBRARY \
  "-I$cxx/src" "-I$abi/src" -- "${sources[@]}"
archive libunwind -x c -std=c11 "-I$zig/lib/libunwind/include" -DNDEBUG -D_LIBUNWIND_HIDE_SYMBOLS -- \
  "$zig/lib/libunwind/src/Unwind-wasm.c"

# The tag of C++'s exceptions, which LLVM has in its compiler-rt.
cat >"$folder/object/tag.s" <<END
  .tagtype __cpp_exception i32
  .globl __cpp_exception
__cpp_exception:
END
"$zig/zig" clang --target=wasm32-wasip1 -mexception-handling -c "$folder/object/tag.s" \
  -o "$folder/lib/cpp_exception.o"

# Lists of packages of their own, so that no list of this machine changes.
apt=(apt-get -qq -o "Dir::Etc::sourcelist=$folder/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null
  -o "Dir::State::Lists=$folder/apt/lists" -o APT::Sandbox::User=root)
mkdir -p "$folder/apt/lists/partial"
echo "deb-src http://deb.debian.org/debian bookworm main" >"$folder/apt/sources.list"
"${apt[@]}" update
(cd "$folder/source" && rm -rf simdjson-* zlib-* && "${apt[@]}" source simdjson zlib 2>/dev/null)
simdjson=$(ls -d "$folder"/source/simdjson-*/) zlib=$(ls -d "$folder"/source/zlib-*/)
archive libsimdjson -std=c++20 "-I${simdjson}singleheader" -- "${simdjson}singleheader/simdjson.cpp"
archive libz -x c -std=gnu11 -DHAVE_UNISTD_H "-I$zlib" -- \
  "$zlib"{adler32,crc32,inflate,inffast,inftrees,zutil,deflate,trees,compress,uncompr}.c
cp "${simdjson}singleheader/simdjson.h" "$zlib"{zlib,zconf}.h "$folder/include/"
cp -r /usr/include/{fmt,hwy,protozero} "$folder/include/"

rm -f "$folder"/.sardonyx-*
touch "$stamp"
