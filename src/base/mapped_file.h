// A file mapped into memory for reading.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace sardonyx::base {

// Holds the mapping for as long as it lives; spans into it must not outlive it. The pages are the
// file's own (page cache), so mapping a file of any size costs no memory until it is touched.
class MappedFile {
 public:
  MappedFile() = default;
  // Throws Error (SX1101) naming the path and the system's reason; a directory, a pipe or a device
  // is refused. An empty file gives empty bytes.
  explicit MappedFile(std::string path);
  // The first `most` bytes alone, or as many as there are.
  MappedFile(std::string path, std::uint64_t most);
  ~MappedFile();

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }
  const std::string& path() const { return path_; }

  // Tells the system that the pages wholly inside `part` are not needed soon, so that a pass over
  // a large file does not fill the process's resident memory. They are read again when touched.
  void release(std::span<const std::byte> part) const noexcept;

 private:
  void unmap() noexcept;

  std::string path_;
  std::span<const std::byte> bytes_;
};

// MappedFile::release() of whichever live MappedFile holds `part`; memory that is no MappedFile's
// is left alone (letting go of pages that are not a file's would lose what is in them).
void release_pages(std::span<const std::byte> part) noexcept;

// Bytes that are read once, from any threads: lets go of their pages now and then.
class ResidentPages {
 public:
  explicit ResidentPages(std::span<const std::byte> bytes) : bytes_(bytes) {}

  void add(std::int64_t bytes_read) {
    if (resident_.fetch_add(bytes_read) + bytes_read >= kMost) release();
  }
  void release() {
    resident_ = 0;
    release_pages(bytes_);
  }

 private:
  // Each time costs a run over all pages.
  static constexpr std::int64_t kMost = std::int64_t{32} << 20;

  std::span<const std::byte> bytes_;
  std::atomic<std::int64_t> resident_ = 0;
};

// Asks for pages of a live MappedFile together, which takes less time than one after the other as
// they are read. Only advice.
void expect_pages(std::span<const std::byte> part) noexcept;

// While one lives, pages of mapped files that are no longer there, because somebody cut a file
// short, read as zeros instead of ending the process. Whoever reads asks afterwards.
class CutShortGuard {
 public:
  CutShortGuard();
  ~CutShortGuard();
  CutShortGuard(const CutShortGuard&) = delete;
  CutShortGuard& operator=(const CutShortGuard&) = delete;
};

// Throws Error (SX1101) where some live MappedFile was found to be cut short.
void check_not_cut_short();

// Where bytes lie in a file.
struct PlaceInFile {
  std::string path;  // as the file was named when it was mapped
  std::int64_t offset = 0;
  // Which file it was: another one may have its name by now.
  std::uint64_t device = 0, inode = 0;
};

// The place of bytes that some live MappedFile holds; nothing for other memory.
std::optional<PlaceInFile> place_in_file(std::span<const std::byte> part);

}  // namespace sardonyx::base
