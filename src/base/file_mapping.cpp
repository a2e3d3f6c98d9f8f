#include "base/file_mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>

#include "base/diagnostic.h"
#include "base/mapped_file.h"

namespace sardonyx::base {
namespace {

constexpr const char* kCannotRead = "SX1101";

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
  fail(kCannotRead, "cannot read '" + path + "': " + reason);
}

[[noreturn]] void refuse_errno(const std::string& path, int error) {
  refuse(path, std::generic_category().message(error));
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

int open_for_reading(const std::string& path) {
  // Without O_NONBLOCK, opening a pipe that nobody writes to would hang.
  for (;;) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 || errno != EINTR) return fd;
  }
}

// Which address ranges are ours to release: borrowed bytes come with no word of where they lie.
class Mappings {
 public:
  static Mappings& live() {
    // Never destroyed: a mapping may outlive every static object.
    static auto* const mappings = new Mappings;
    return *mappings;
  }

  void add(std::span<const std::byte> bytes, const std::string& path, const struct stat& file,
           bool is_writable) {
    const std::scoped_lock lock(mutex_);
    held_.emplace(bytes.data(),
                  Held{bytes.data() + bytes.size(), path, file.st_dev, file.st_ino, is_writable});
  }
  void remove(std::span<const std::byte> bytes) {
    const std::scoped_lock lock(mutex_);
    const auto found = held_.find(bytes.data());
    if (found->second.cut_short) {
      if (is_watched_) gone_ = found->second.path;
      --cut_short_;
    }
    held_.erase(found);
  }
  // While mappings are watched, one that was cut short is known beyond its end.
  void watch(bool begin) {
    const std::scoped_lock lock(mutex_);
    is_watched_ = begin;
    gone_.clear();
  }
  // The mapping that holds the byte is cut short; false where none does.
  bool cut_short_at(const std::byte* byte) {
    const std::scoped_lock lock(mutex_);
    const auto found = find({byte, 1});
    if (found == held_.end()) return false;
    if (!std::exchange(found->second.cut_short, true)) ++cut_short_;
    return true;
  }
  // The path of one that is; empty where none is.
  std::string cut_short() {
    if (cut_short_ == 0 && !is_watched_) return {};
    const std::scoped_lock lock(mutex_);
    if (!gone_.empty()) return gone_;
    for (const auto& [first, held] : held_)
      if (held.cut_short) return held.path;
    return {};
  }
  // Whether a file has the bytes, whatever somebody wrote.
  bool hold(std::span<const std::byte> part) {
    const std::scoped_lock lock(mutex_);
    const auto found = find(part);
    return found != held_.end() && !found->second.is_writable;
  }
  std::optional<PlaceInFile> place(std::span<const std::byte> part) {
    const std::scoped_lock lock(mutex_);
    const auto found = find(part);
    if (found == held_.end() || found->second.is_writable) return std::nullopt;
    const Held& held = found->second;
    return PlaceInFile{held.path, part.data() - found->first, held.device, held.inode};
  }

 private:
  struct Held {
    const std::byte* end;
    std::string path;
    std::uint64_t device, inode;
    bool is_writable;
    bool cut_short = false;
  };
  using ByFirstByte = std::map<const std::byte*, Held, std::less<>>;

  ByFirstByte::iterator find(std::span<const std::byte> part) {
    const auto after = held_.upper_bound(part.data());
    if (after == held_.begin()) return held_.end();
    const auto before = std::prev(after);
    const bool ends_inside = !std::less<>()(before->second.end, part.data() + part.size());
    return ends_inside ? before : held_.end();
  }

  std::mutex mutex_;
  ByFirstByte held_;
  std::atomic<int> cut_short_ = 0;
  std::atomic<bool> is_watched_ = false;
  std::string gone_;  // the path of a mapping that is no more
};

// Only advice: a failure leaves the pages where they are. Of the pages wholly inside.
void advise(std::span<const std::byte> part, int advice) noexcept {
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(part.data());
  const std::uintptr_t first = (begin + page - 1) / page * page;
  const std::uintptr_t last = (begin + part.size()) / page * page;
  if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, advice);
}

// How many guards live, and what was done about the signal before the first of them.
struct Guards {
  std::mutex mutex;
  int count = 0;
  struct sigaction before = {};
};
Guards& guards() {
  static auto* const all = new Guards;  // never destroyed, as the mappings
  return *all;
}

// A page that is not there becomes one of zeros. The thread that asked for it holds no lock: bytes
// of mapped files are not read under ours.
void replace_page(int /*signal*/, siginfo_t* info, void* /*context*/) {
  const int error = errno;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  auto* const byte = static_cast<const std::byte*>(info->si_addr);
  auto* const first = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(byte) / page * page);
  const bool replaced = info->si_code == BUS_ADRERR && Mappings::live().cut_short_at(byte) &&
                        ::mmap(first, page, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
  // Not ours: it comes again, and is dealt with as it would be without us.
  if (!replaced) ::sigaction(SIGBUS, &guards().before, nullptr);
  errno = error;
}

}  // namespace

CutShortGuard::CutShortGuard() {
  const std::scoped_lock lock(guards().mutex);
  if (guards().count++ > 0) return;
  Mappings::live().watch(true);
  struct sigaction action = {};
  action.sa_sigaction = replace_page;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGBUS, &action, &guards().before);
}

CutShortGuard::~CutShortGuard() {
  const std::scoped_lock lock(guards().mutex);
  if (--guards().count > 0) return;
  ::sigaction(SIGBUS, &guards().before, nullptr);
  Mappings::live().watch(false);
}

void check_not_cut_short() {
  const std::string path = Mappings::live().cut_short();
  if (!path.empty()) refuse(path, "it was cut short while it was read");
}

std::span<std::byte> map_file(const std::string& path, bool is_writable, std::uint64_t most) {
  // The system would stop at the NUL and open another file.
  if (path.find('\0') != std::string::npos)
    refuse(path.substr(0, path.find('\0')), "a NUL character follows in the path");

  const Descriptor file(open_for_reading(path));
  if (file.get() < 0) refuse_errno(path, errno);

  struct stat status = {};
  if (::fstat(file.get(), &status) != 0) refuse_errno(path, errno);
  if (S_ISDIR(status.st_mode)) refuse_errno(path, EISDIR);
  if (!S_ISREG(status.st_mode)) refuse(path, "it is not a regular file");
  const std::uint64_t bytes_there = std::min(static_cast<std::uint64_t>(status.st_size), most);
  if (bytes_there == 0) return {};  // mmap refuses a length of 0

  if (std::cmp_greater(bytes_there, std::numeric_limits<std::size_t>::max()))
    refuse_errno(path, EFBIG);
  const auto size = static_cast<std::size_t>(bytes_there);
  const int protection = is_writable ? PROT_READ | PROT_WRITE : PROT_READ;
  void* address = ::mmap(nullptr, size, protection, MAP_PRIVATE | MAP_NORESERVE, file.get(), 0);
  if (address == MAP_FAILED) refuse_errno(path, errno);
  const std::span bytes(static_cast<std::byte*>(address), size);
  Mappings::live().add(bytes, path, status, is_writable);
  return bytes;
}

void unmap_file(std::span<const std::byte> bytes) noexcept {
  if (bytes.empty()) return;
  Mappings::live().remove(bytes);
  ::munmap(const_cast<std::byte*>(bytes.data()), bytes.size());
}

void release_pages(std::span<const std::byte> part) noexcept {
  if (Mappings::live().hold(part)) advise(part, MADV_DONTNEED);
}

void expect_pages(std::span<const std::byte> part) noexcept {
#ifdef MADV_POPULATE_READ
  if (!part.empty() && Mappings::live().hold(part)) advise(part, MADV_POPULATE_READ);
#else
  static_cast<void>(part);
#endif
}

std::optional<PlaceInFile> place_in_file(std::span<const std::byte> part) {
  return Mappings::live().place(part);
}

}  // namespace sardonyx::base
