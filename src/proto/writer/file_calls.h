// What AtomicFile asks of the system, where systems differ: natively, and in WebAssembly.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace sardonyx::base {
struct PlaceInFile;
}

namespace sardonyx::proto {

// Tells the files of processes apart.
unsigned process_number();

// The error number of a file that `size` bytes do not fit into; 0 where they do, or nothing tells.
int reserve_space(int file, std::int64_t size);

// A new file without a name in the folder, which is gone with the process; -1 where there is none.
int open_unnamed(const std::filesystem::path& folder);
// Gives it one; false with errno set where that fails.
bool give_name(int unnamed, const char* name);

// Not being allowed to is no reason to fail.
void set_mode(int file, mode_t mode) noexcept;

// Copies from file to file without the bytes in this process.
class FileCopier {
 public:
  FileCopier() = default;
  ~FileCopier();
  FileCopier(const FileCopier&) = delete;
  FileCopier& operator=(const FileCopier&) = delete;

  // Up to `size` bytes to the end of `to`; returns how many: 0 where the system does not do it
  // between these two. Where writing fails, -1 with errno set; EFAULT where the source was cut
  // short.
  std::ptrdiff_t copy(int to, const base::PlaceInFile& place, std::size_t size);

 private:
  int source(const base::PlaceInFile& place);

  // The file that was copied from last, which stays open: -1 where it cannot be.
  std::filesystem::path source_path_;
  int source_ = -1;
};

}  // namespace sardonyx::proto
