#include "proto/writer/file_calls.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "base/mapped_file.h"

namespace sardonyx::proto {

unsigned process_number() { return static_cast<unsigned>(::getpid()); }

int reserve_space(int file, std::int64_t size) {
  // Writing beyond this limit would end the process by a signal.
  struct rlimit limit = {};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      std::cmp_greater(size, limit.rlim_cur))
    return EFBIG;
#ifdef __linux__
  // A full disk is found out before gigabytes are written. Not every file system can do it.
  if (size > 0 && ::fallocate(file, 0, 0, static_cast<off_t>(size)) != 0 &&
      (errno == ENOSPC || errno == EDQUOT || errno == EFBIG))
    return errno;
#else
  static_cast<void>(file);
#endif
  return 0;
}

int open_unnamed(const std::filesystem::path& folder) {
#ifdef O_TMPFILE
  // It gets its name through /proc, which containers may lack.
  if (::access("/proc/self/fd", X_OK) == 0)
    return ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
#else
  static_cast<void>(folder);
#endif
  return -1;
}

bool give_name(int unnamed, const char* name) {
  const std::string self = "/proc/self/fd/" + std::to_string(unnamed);
  return ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
}

void set_mode(int file, mode_t mode) noexcept { ::fchmod(file, mode); }

FileCopier::~FileCopier() {
  if (source_ >= 0) ::close(source_);
}

// Where the file system shares blocks between files, nothing is copied at all.
std::ptrdiff_t FileCopier::copy(int to, const base::PlaceInFile& place, std::size_t size) {
#ifdef __linux__
  const int from = source(place);
  if (from < 0) return 0;
  off_t offset = place.offset;
  for (;;) {
    const ssize_t count = ::copy_file_range(from, &offset, to, nullptr, size, 0);
    if (count > 0) return count;
    if (count == 0) errno = EFAULT;
    if (count == 0) return -1;
    if (errno == EINTR) continue;
    const bool failed = errno == ENOSPC || errno == EDQUOT || errno == EFBIG || errno == EIO;
    return failed ? -1 : 0;  // not between these two, or not on this system
  }
#else
  static_cast<void>(to);
  static_cast<void>(place);
  static_cast<void>(size);
  return 0;
#endif
}

// Opened by its name anew: another file may have that by now.
int FileCopier::source(const base::PlaceInFile& place) {
  if (source_path_ == place.path) return source_;
  if (source_ >= 0) ::close(std::exchange(source_, -1));
  source_path_ = place.path;
  source_ = ::open(place.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status = {};
  if (source_ >= 0 && (::fstat(source_, &status) != 0 || status.st_dev != place.device ||
                       status.st_ino != place.inode))
    ::close(std::exchange(source_, -1));
  return source_;
}

}  // namespace sardonyx::proto
