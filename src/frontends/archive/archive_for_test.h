// Makes zip archives for tests: as PyTorch lays them out, and wrong in ways it never does.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "frontends/archive/zip.h"

namespace sardonyx::archive {

// Little-endian.
inline std::string packed(std::uint64_t value, std::size_t width) {
  std::string text;
  for (std::size_t i = 0; i < width; ++i, value >>= 8) text += static_cast<char>(value & 0xFF);
  return text;
}

struct ArchiveForTest {
  struct Entry {
    std::string name;
    std::string bytes;  // as they lie in the file
    std::uint64_t size = 0;
    std::uint16_t method = 0;
    std::uint16_t flags = 0x0808;
    bool zip64 = false;
  };

  std::vector<Entry> entries;
  bool zip64_end = false;
  std::string comment;

  void add(std::string name, const std::string& bytes) {
    entries.push_back({std::move(name), bytes, bytes.size(), 0, 0x0808, false});
  }

  void add_deflated(std::string name, const std::string& text) {
    z_stream stream{};
    deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    std::string bytes(text.size() + 1024, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
    stream.avail_out = static_cast<uInt>(bytes.size());
    deflate(&stream, Z_FINISH);
    bytes.resize(stream.total_out);
    deflateEnd(&stream);
    entries.push_back({std::move(name), bytes, text.size(), 8, 0x0808, false});
  }

  // Local headers carry no sizes, and a data descriptor follows each payload, as PyTorch does it.
  std::string str() const {
    std::string file;
    std::string directory;
    for (const Entry& entry : entries) {
      const std::uint64_t offset = file.size();
      file += packed(0x04034b50, 4) + packed(20, 2) + packed(entry.flags, 2) +
              packed(entry.method, 2) + packed(0, 16) + packed(entry.name.size(), 2) +
              packed(5, 2) + entry.name + "FB" + packed(1, 2) + "Z" + entry.bytes +
              packed(0x08074b50, 4) + packed(0, 12);
      directory += central(entry, offset);
    }
    return file + directory + end(file.size(), directory.size());
  }

  Bytes bytes() const {
    const auto text = std::make_shared<const std::string>(str());
    return {std::as_bytes(std::span(*text)), text};
  }

 private:
  static std::string central(const Entry& entry, std::uint64_t offset) {
    const auto field = [&](std::uint64_t value) { return packed(entry.zip64 ? ~0ULL : value, 4); };
    std::string extra;
    if (entry.zip64) {
      extra = packed(0x4646, 2) + packed(1, 2) + "Z" + packed(1, 2) + packed(24, 2) +
              packed(entry.size, 8) + packed(entry.bytes.size(), 8) + packed(offset, 8);
    }
    return packed(0x02014b50, 4) + packed(20, 2) + packed(20, 2) + packed(entry.flags, 2) +
           packed(entry.method, 2) + packed(0, 8) + field(entry.bytes.size()) + field(entry.size) +
           packed(entry.name.size(), 2) + packed(extra.size(), 2) + packed(0, 10) + field(offset) +
           entry.name + extra;
  }

  std::string end(std::uint64_t offset, std::uint64_t size) const {
    const std::uint64_t count = entries.size();
    std::string text;
    if (zip64_end) {
      text = packed(0x06064b50, 4) + packed(44, 8) + packed(45, 2) + packed(45, 2) + packed(0, 8) +
             packed(count, 8) + packed(count, 8) + packed(size, 8) + packed(offset, 8) +
             packed(0x07064b50, 4) + packed(0, 4) + packed(offset + size, 8) + packed(1, 4);
    }
    const auto small = [&](std::uint64_t value, std::size_t width) {
      return packed(zip64_end ? ~0ULL : value, width);
    };
    return text + packed(0x06054b50, 4) + packed(0, 4) + small(count, 2) + small(count, 2) +
           small(size, 4) + small(offset, 4) + packed(comment.size(), 2) + comment;
  }
};

}  // namespace sardonyx::archive
