// Reading zip archives: enough of the format for what PyTorch writes and what repacks it, safe on
// any bytes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sardonyx::archive {

struct ZipEntry {
  std::string_view name;  // in the archive's bytes
  std::uint64_t compressed_size = 0;
  std::uint64_t size = 0;
  std::uint64_t header_offset = 0;
  std::uint16_t method = 0;  // 0 stored, 8 deflated
  bool encrypted = false;
};

// Bytes and what keeps them alive.
struct Bytes {
  std::span<const std::byte> data;
  std::shared_ptr<const void> owner;

  std::string_view text() const {
    return {reinterpret_cast<const char*>(data.data()), data.size()};
  }
};

// Bytes of a file as text for a message: as they are where they are printable UTF-8, else with
// \xNN in the place of what is not ASCII.
std::string printable(std::string_view bytes);

// The directory of an archive that lies in `archive`; nested archives are read the same way. Sizes
// come from the central directory, as PyTorch leaves them out of the local headers; ZIP64 is read.
class ZipReader {
 public:
  // Throws SX1102 when the bytes are no zip archive, or a truncated one.
  explicit ZipReader(Bytes archive);

  const std::vector<ZipEntry>& entries() const { return entries_; }
  const ZipEntry* find(std::string_view name) const;  // null when there is none

  // A stored entry's bytes where they lie, a deflated one's in memory of their own. Throws SX1102
  // when the entry is damaged, or when what was unpacked comes to more than 4 GB and 16 times the
  // archive's size; SX1103 when it is encrypted or compressed in another way.
  Bytes read(const ZipEntry& entry) const;

 private:
  void read_directory(std::uint64_t offset, std::uint64_t size, std::uint64_t count);

  Bytes archive_;
  // Of all entries that were read: several may unpack the same bytes.
  std::shared_ptr<std::atomic<std::uint64_t>> unpacked_ =
      std::make_shared<std::atomic<std::uint64_t>>(0);
  std::vector<ZipEntry> entries_;
  std::unordered_map<std::string_view, std::size_t> by_name_;
};

}  // namespace sardonyx::archive
