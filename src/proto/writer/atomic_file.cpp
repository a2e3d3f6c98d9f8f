#include "proto/writer/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "base/diagnostic.h"

namespace sardonyx::proto {
namespace {

namespace fs = std::filesystem;

// Names of our own, whatever the destination is called: a suffix could make that one too long.
fs::path fresh_name(const fs::path& folder) {
  static std::atomic<unsigned> count = 0;
  return folder /
         (".sardonyx-" + std::to_string(process_number()) + "-" + std::to_string(count++) + ".tmp");
}

// Calls make(name) with names until one is not taken; false with errno set when that fails.
template <typename Make>
bool with_fresh_name(const fs::path& folder, fs::path& name, const Make& make) {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    name = fresh_name(folder);
    if (make(name.c_str())) return true;
    if (errno != EEXIST) break;
  }
  name.clear();
  return false;
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

}  // namespace

AtomicFile::AtomicFile(const fs::path& destination, std::int64_t size) : destination_(destination) {
  find_target();
  if (!regular_) {
    fd_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd_ < 0) refuse(errno);
    return;
  }
  open_beside();
  try {
    if (const int error = reserve_space(fd_, size); error != 0) refuse(error);
  } catch (...) {
    undo();  // there is no destructor to do it
    close();
    throw;
  }
}

AtomicFile::~AtomicFile() {
  undo();
  close();
}

// Follows links by hand: the target need not exist.
void AtomicFile::find_target() {
  constexpr int kLongestChain = 40;
  if (destination_.empty()) refuse(ENOENT);
  if (destination_.native().find('\0') != std::string::npos) refuse(EINVAL);
  target_ = destination_;
  std::error_code error;
  for (int i = 0; fs::is_symlink(target_, error); ++i) {
    if (i == kLongestChain) refuse(ELOOP);
    const fs::path link = fs::read_symlink(target_, error);
    if (error) refuse(error.value());
    target_ = folder_of(target_) / link;  // an absolute link replaces the whole path
  }

  struct stat status = {};
  if (::stat(target_.c_str(), &status) != 0) {
    if (errno != ENOENT) refuse(errno);
    if (!target_.has_filename()) refuse(EISDIR);  // "folder/"
    return;
  }
  if (S_ISDIR(status.st_mode)) refuse(EISDIR);
  regular_ = S_ISREG(status.st_mode);
  existed_ = true;
  // Replacing needs only the folder's permission; a file that is write-protected is meant to stay.
  if (regular_ && ::access(target_.c_str(), W_OK) != 0) refuse(errno);
}

void AtomicFile::open_beside() {
  constexpr mode_t kMode = 0666;  // the system applies the umask
  const fs::path folder = folder_of(target_);
  // Gone with the process, even a killed one.
  fd_ = open_unnamed(folder);
  if (fd_ >= 0) return;
  const bool made = with_fresh_name(folder, name_, [&](const char* name) {
    fd_ = ::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
    return fd_ >= 0;
  });
  if (!made) refuse(errno);
}

void AtomicFile::write(std::span<const std::byte> first, std::span<const std::byte> second) {
  std::array<iovec, 2> parts = {{{const_cast<std::byte*>(first.data()), first.size()},
                                 {const_cast<std::byte*>(second.data()), second.size()}}};
  std::size_t at = 0;
  while (at < parts.size()) {
    if (parts[at].iov_len == 0) {
      ++at;
      continue;
    }
    const ssize_t count = ::writev(fd_, &parts[at], static_cast<int>(parts.size() - at));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) refuse(count < 0 ? errno : EIO);
    auto left = static_cast<std::size_t>(count);
    for (; at < parts.size() && left >= parts[at].iov_len; ++at) left -= parts[at].iov_len;
    if (at == parts.size()) break;
    parts[at].iov_base = static_cast<std::byte*>(parts[at].iov_base) + left;
    parts[at].iov_len -= left;
  }
}

std::size_t AtomicFile::copy(const base::PlaceInFile& place, std::size_t size) {
  const std::ptrdiff_t count = copier_.copy(fd_, place, size);
  if (count < 0) refuse(errno);
  return static_cast<std::size_t>(count);
}

// There is no fsync: a model can be made again, and waiting for the disk would cost many times the
// writing. After a power failure soon after, either file may be found at this place; after any
// other failure the rules above hold.
void AtomicFile::finish() {
  if (!regular_) return;
  if (existed_) {
    // As if the old file had been overwritten.
    struct stat status = {};
    if (::stat(target_.c_str(), &status) == 0) set_mode(fd_, status.st_mode & 07777);
  }
  if (name_.empty()) {
    const bool named = with_fresh_name(folder_of(target_), name_,
                                       [&](const char* name) { return give_name(fd_, name); });
    if (!named) refuse(errno);
  }
  // Network file systems tell of a full disk here.
  if (::close(std::exchange(fd_, -1)) != 0 && errno != EINTR) refuse(errno);
}

void AtomicFile::replace() {
  if (!regular_) return;
  // A second name keeps what was there. Where links are not possible, undo() cannot bring it back.
  with_fresh_name(folder_of(target_), backup_, [&](const char* name) {
    return ::linkat(AT_FDCWD, target_.c_str(), AT_FDCWD, name, 0) == 0;
  });
  if (::rename(name_.c_str(), target_.c_str()) != 0) refuse(errno);
  name_.clear();
  replaced_ = true;
}

void AtomicFile::undo() noexcept {
  if (!name_.empty()) ::unlink(name_.c_str());
  name_.clear();
  if (std::exchange(replaced_, false)) {
    if (!backup_.empty()) {
      ::rename(backup_.c_str(), target_.c_str());
    } else if (!existed_) {
      ::unlink(target_.c_str());
    }
  } else if (!backup_.empty()) {
    ::unlink(backup_.c_str());
  }
  backup_.clear();
}

void AtomicFile::settle() noexcept {
  replaced_ = false;
  if (!backup_.empty()) ::unlink(backup_.c_str());
  backup_.clear();
}

void AtomicFile::close() noexcept {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

void AtomicFile::refuse(int error) const {
  // "Bad address" would say nothing to anybody.
  const std::string reason = error == EFAULT
                                 ? "the file that a weight is read from was cut short meanwhile"
                                 : std::generic_category().message(error);
  base::fail("SX1601", "cannot write '" + destination_.string() + "': " + reason);
}

}  // namespace sardonyx::proto
