// In the WebAssembly build files are the host's, of one process, and without permissions.
#include <cerrno>

#include "base/mapped_file.h"
#include "proto/writer/file_calls.h"

// The host's (wasi.js): appends a part of one file to another, without any of its bytes in memory.
// Returns an error number.
extern "C" __attribute__((import_module("sardonyx"), import_name("copy"))) int
sardonyx_copy_from_file(int to, const char* path, std::size_t path_bytes, double offset,
                        double bytes);

namespace sardonyx::proto {

unsigned process_number() { return 0; }

int reserve_space(int /*file*/, std::int64_t /*size*/) { return 0; }

int open_unnamed(const std::filesystem::path& /*folder*/) { return -1; }

bool give_name(int /*unnamed*/, const char* /*name*/) {
  errno = ENOTSUP;
  return false;
}

void set_mode(int /*file*/, mode_t /*mode*/) noexcept {}

FileCopier::~FileCopier() = default;

std::ptrdiff_t FileCopier::copy(int to, const base::PlaceInFile& place, std::size_t size) {
  errno = sardonyx_copy_from_file(to, place.path.data(), place.path.size(),
                                  static_cast<double>(place.offset), static_cast<double>(size));
  return errno == 0 ? static_cast<std::ptrdiff_t>(size) : -1;
}

}  // namespace sardonyx::proto
