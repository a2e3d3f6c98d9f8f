// In the WebAssembly build files are the host's, which has neither links nor permissions.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>
#include <utility>

#include "base/diagnostic.h"
#include "base/mapped_file.h"
#include "proto/writer/atomic_file.h"

// The host's (host.js): appends a part of one file to another, without any of its bytes in memory.
// Returns an error number.
extern "C" __attribute__((import_module("sardonyx"), import_name("copy"))) int
sardonyx_copy_from_file(int to, const char* path, std::size_t path_bytes, double offset,
                        double bytes);

namespace sardonyx::proto {

AtomicFile::AtomicFile(const std::filesystem::path& destination, std::int64_t /*size*/)
    : destination_(destination), target_(destination) {
  find_target();
  open_beside();
}

AtomicFile::~AtomicFile() {
  undo();
  close();
}

void AtomicFile::find_target() {
  if (destination_.empty()) refuse(ENOENT);
  struct stat status = {};
  existed_ = ::stat(target_.c_str(), &status) == 0;
  if (!target_.has_filename() || (existed_ && S_ISDIR(status.st_mode))) refuse(EISDIR);
}

void AtomicFile::open_beside() {
  static unsigned count = 0;
  name_ = target_.parent_path() / (".sardonyx-" + std::to_string(count++) + ".tmp");
  fd_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0666);
  if (fd_ >= 0) return;
  name_.clear();
  refuse(errno);
}

void AtomicFile::write(std::span<const std::byte> first, std::span<const std::byte> second) {
  for (std::span<const std::byte> part : {first, second}) {
    while (!part.empty()) {
      const ssize_t count = ::write(fd_, part.data(), part.size());
      if (count <= 0) refuse(count < 0 ? errno : EIO);
      part = part.subspan(static_cast<std::size_t>(count));
    }
  }
}

std::size_t AtomicFile::copy(const base::PlaceInFile& place, std::size_t size) {
  const int error =
      sardonyx_copy_from_file(fd_, place.path.data(), place.path.size(),
                              static_cast<double>(place.offset), static_cast<double>(size));
  if (error != 0) refuse(error);
  return size;
}

void AtomicFile::finish() {
  if (::close(std::exchange(fd_, -1)) != 0) refuse(errno);
}

void AtomicFile::replace() {
  if (existed_) {
    backup_ = name_.string() + ".old";
    if (std::rename(target_.c_str(), backup_.c_str()) != 0) refuse(errno);
  }
  if (std::rename(name_.c_str(), target_.c_str()) != 0) refuse(errno);
  name_.clear();
  replaced_ = true;
}

void AtomicFile::undo() noexcept {
  if (!name_.empty()) ::unlink(name_.c_str());
  name_.clear();
  if (std::exchange(replaced_, false) && !existed_) ::unlink(target_.c_str());
  if (!backup_.empty()) std::rename(backup_.c_str(), target_.c_str());
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
  base::fail("SX1601", "cannot write '" + destination_.string() +
                           "': " + std::generic_category().message(error));
}

}  // namespace sardonyx::proto
