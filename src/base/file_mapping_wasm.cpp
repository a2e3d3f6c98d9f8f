// WebAssembly maps no files: they are read into memory, in slices.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <new>
#include <system_error>
#include <utility>

#include "base/diagnostic.h"
#include "base/file_mapping.h"
#include "base/mapped_file.h"
#include "base/page_memory.h"

namespace sardonyx::base {
namespace {

constexpr std::size_t kSlice = std::size_t{16} << 20;  // bytes that are read at a time

[[noreturn]] void refuse(const std::string& path, int error) {
  fail("SX1101", "cannot read '" + path + "': " + std::generic_category().message(error));
}

class Descriptor {
 public:
  explicit Descriptor(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY)) {
    if (fd_ < 0) refuse(path, errno);
  }
  ~Descriptor() { ::close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

struct Held {
  const std::byte* end;
  PlaceInFile start;
  // Who has it. Where nobody writes to them, the bytes of a file are in memory once.
  int users = 1;
  bool is_shared = false;
};

// There are no threads.
std::map<const std::byte*, Held, std::less<>>& held_files() {
  static auto* const all = new std::map<const std::byte*, Held, std::less<>>;
  return *all;
}

void read_all(const std::string& path, int file, std::span<std::byte> to) {
  while (!to.empty()) {
    const ssize_t count = ::read(file, to.data(), std::min(to.size(), kSlice));
    if (count < 0) refuse(path, errno);
    if (count == 0)
      fail("SX1101", "cannot read '" + path + "': it was cut short while it was read");
    to = to.subspan(static_cast<std::size_t>(count));
  }
}

// Frees files that nobody has any more.
void forget_unused() {
  std::erase_if(held_files(), [](const auto& each) {
    const auto& [begin, held] = each;
    if (held.users > 0) return false;
    free_pages(begin, static_cast<std::size_t>(held.end - begin));
    return true;
  });
}

// The bytes of a file that is held already.
std::span<std::byte> shared_bytes(const std::string& path, const struct stat& status) {
  for (auto& [begin, held] : held_files()) {
    if (!held.is_shared || std::cmp_not_equal(held.start.inode, status.st_ino)) continue;
    ++held.users;
    held.start.path = path;  // it may have been moved
    return {const_cast<std::byte*>(begin), static_cast<std::size_t>(held.end - begin)};
  }
  return {};
}

std::span<std::byte> allocate_for(const std::string& path, std::uint64_t bytes) {
  try {
    if (std::cmp_greater(bytes, std::numeric_limits<std::size_t>::max())) throw std::bad_alloc();
    return {allocate_pages(static_cast<std::size_t>(bytes)), static_cast<std::size_t>(bytes)};
  } catch (const std::bad_alloc&) {
    fail("SX1004",
         "the " + std::to_string(bytes / 1'000'000) + " MB of '" + path +
             "' do not fit into WebAssembly's memory, which ends at 4 GB",
         "remove other models, or use the command `sardonyx`, which has no such limit");
  }
}

}  // namespace

std::span<std::byte> map_file(const std::string& path, bool is_writable, std::uint64_t most) {
  if (path.find('\0') != std::string::npos)
    fail("SX1101", "cannot read '" + path.substr(0, path.find('\0')) +
                       "': a NUL character follows in the path");
  const Descriptor file(path);
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0) refuse(path, errno);
  if (S_ISDIR(status.st_mode)) refuse(path, EISDIR);
  const auto file_bytes = static_cast<std::uint64_t>(status.st_size);
  const bool is_shared = !is_writable && most >= file_bytes;
  if (is_shared)
    if (const std::span<std::byte> known = shared_bytes(path, status); !known.empty()) return known;
  if (std::min(file_bytes, most) == 0) return {};
  forget_unused();
  const std::span<std::byte> bytes = allocate_for(path, std::min(file_bytes, most));
  try {
    read_all(path, file.get(), bytes);
  } catch (...) {
    free_pages(bytes.data(), bytes.size());
    throw;
  }
  const PlaceInFile start = {path, 0, static_cast<std::uint64_t>(status.st_dev),
                             static_cast<std::uint64_t>(status.st_ino)};
  held_files()[bytes.data()] = {bytes.data() + bytes.size(), start, 1, is_shared};
  return bytes;
}

void unmap_file(std::span<const std::byte> bytes) noexcept {
  if (bytes.empty()) return;
  const auto held = held_files().find(bytes.data());
  --held->second.users;
  // What was just shown is likely to be converted next.
  if (!held->second.is_shared) forget_unused();
}

void release_pages(std::span<const std::byte> /*part*/) noexcept {}
void expect_pages(std::span<const std::byte> /*part*/) noexcept {}

// What was read stays read.
CutShortGuard::CutShortGuard() = default;
CutShortGuard::~CutShortGuard() = default;
void check_not_cut_short() {}

std::optional<PlaceInFile> place_in_file(std::span<const std::byte> part) {
  const auto& all = held_files();
  const auto after = all.upper_bound(part.data());
  if (after == all.begin()) return std::nullopt;
  const auto& [begin, held] = *std::prev(after);
  if (std::less<>()(held.end, part.data() + part.size())) return std::nullopt;
  PlaceInFile place = held.start;
  // Differences of pointers end at 2 GB.
  place.offset = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(part.data()) -
                                           reinterpret_cast<std::uintptr_t>(begin));
  return place;
}

}  // namespace sardonyx::base
