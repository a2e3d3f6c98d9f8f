#include "frontends/archive/zip.h"

#include <simdjson.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/diagnostic.h"

namespace sardonyx::archive {
namespace {

constexpr const char* kDamaged = "SX1102";
constexpr const char* kUnsupported = "SX1103";

constexpr std::uint32_t kLocalHeader = 0x04034b50;
constexpr std::uint32_t kCentralHeader = 0x02014b50;
constexpr std::uint32_t kEndOfDirectory = 0x06054b50;
constexpr std::uint32_t kEndOfDirectory64 = 0x06064b50;
constexpr std::uint32_t kLocator64 = 0x07064b50;
constexpr std::size_t kLocalSize = 30;
constexpr std::size_t kCentralSize = 46;
constexpr std::size_t kEndSize = 22;
constexpr std::size_t kEnd64Size = 56;
constexpr std::size_t kLocatorSize = 20;
constexpr std::uint64_t kMaxUnpacked = std::uint64_t{4} << 30;
constexpr std::uint64_t kMaxRatio = 16;

[[noreturn]] void damaged(const std::string& what) {
  base::fail(kDamaged, "the archive is damaged: " + what,
             "the file may be truncated: save it again");
}

// Little-endian numbers at any offset; everything out of bounds is damage.
class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::span<const std::byte> part(std::uint64_t offset, std::uint64_t length,
                                  const char* what) const {
    if (offset > bytes_.size() || length > bytes_.size() - offset)
      damaged(std::string(what) + " lies outside of the file");
    return bytes_.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(length));
  }

 private:
  std::span<const std::byte> bytes_;
};

// Within a part whose length is known to suffice.
template <class Number>
Number number(std::span<const std::byte> part, std::size_t offset) {
  Number value = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    value = static_cast<Number>(
        value | static_cast<Number>(std::to_integer<Number>(part[offset + i]) << (8 * i)));
  }
  return value;
}

std::uint16_t u16(std::span<const std::byte> part, std::size_t at) {
  return number<std::uint16_t>(part, at);
}
std::uint32_t u32(std::span<const std::byte> part, std::size_t at) {
  return number<std::uint32_t>(part, at);
}
std::uint64_t u64(std::span<const std::byte> part, std::size_t at) {
  return number<std::uint64_t>(part, at);
}

struct Directory {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t count = 0;
};

// An archive begins with its first entry; an empty one is its end record alone.
bool begins_as_archive(std::span<const std::byte> file) {
  return file.size() >= 2 && file[0] == std::byte{'P'} && file[1] == std::byte{'K'};
}

[[noreturn]] void no_archive(bool is_empty) {
  base::fail(kDamaged,
             is_empty ? "the file is empty"
                      : "the file is no zip archive, as programs in .pt2 and .pt files are",
             "save programs by torch.export.save() or torch.jit.save(); the name of an ONNX model "
             "ends in .onnx");
}

// The end record stands at the end, but for a comment of its own of up to 65535 bytes.
std::size_t find_end(std::span<const std::byte> file) {
  if (!begins_as_archive(file) && file.size() < kEndSize) no_archive(file.empty());
  if (file.size() < kEndSize) damaged("it is too short");
  const std::size_t last = file.size() - kEndSize;
  const std::size_t first = last > 0xFFFF ? last - 0xFFFF : 0;
  for (std::size_t at = last + 1; at-- > first;) {
    if (u32(file, at) == kEndOfDirectory && u16(file, at + 20) == last - at) return at;
  }
  if (!begins_as_archive(file)) no_archive(false);
  damaged("it has no central directory");
}

Directory find_directory(std::span<const std::byte> file) {
  const Cursor cursor(file);
  const std::size_t end = find_end(file);
  const auto record = file.subspan(end, kEndSize);
  Directory directory{u32(record, 16), u32(record, 12), u16(record, 10)};
  std::uint64_t limit = end;

  if (end >= kLocatorSize && u32(file, end - kLocatorSize) == kLocator64) {
    const auto locator = file.subspan(end - kLocatorSize, kLocatorSize);
    limit = u64(locator, 8);
    const auto record64 = cursor.part(limit, kEnd64Size, "the ZIP64 end record");
    if (u32(record64, 0) != kEndOfDirectory64) damaged("its ZIP64 end record is none");
    directory = {u64(record64, 48), u64(record64, 40), u64(record64, 32)};
  }
  if (directory.offset > limit || directory.size > limit - directory.offset)
    damaged("its central directory lies outside of the file");
  if (directory.count > directory.size / kCentralSize)
    damaged("its central directory is too short for its entries");
  return directory;
}

// The ZIP64 extra field holds those of the three that do not fit their 32 bits, in this order.
void read_extra64(std::span<const std::byte> extra, ZipEntry& entry) {
  constexpr std::uint64_t kIn64 = 0xFFFFFFFF;
  while (extra.size() >= 4) {
    const std::uint16_t id = u16(extra, 0);
    const std::size_t length = u16(extra, 2);
    if (length > extra.size() - 4) damaged("an extra field is too long");
    auto field = extra.subspan(4, length);
    extra = extra.subspan(4 + length);
    if (id != 1) continue;
    for (std::uint64_t* value : {&entry.size, &entry.compressed_size, &entry.header_offset}) {
      if (*value != kIn64) continue;
      if (field.size() < 8) damaged("a ZIP64 field is too short");
      *value = u64(field, 0);
      field = field.subspan(8);
    }
  }
}

std::shared_ptr<std::vector<std::byte>> inflate_all(std::span<const std::byte> input,
                                                    std::uint64_t size, const std::string& name) {
  // Deflate cannot do better than 1032:1, so a larger claim is a lie not worth the memory.
  if (size / 1032 > input.size()) damaged("entry '" + name + "' cannot unpack to its size");
  auto output = std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(size));
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) damaged("zlib is not available");
  std::size_t taken = 0;
  std::size_t made = 0;
  int status = Z_OK;
  while (status == Z_OK) {  // in pieces, since zlib counts in 32 bits
    constexpr std::size_t kPiece = 1U << 30;
    const std::size_t in = std::min(input.size() - taken, kPiece);
    const std::size_t out = std::min(output->size() - made, kPiece);
    stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(input.data() + taken));
    stream.avail_in = static_cast<uInt>(in);
    stream.next_out = reinterpret_cast<Bytef*>(output->data() + made);
    stream.avail_out = static_cast<uInt>(out);
    status = inflate(&stream, Z_NO_FLUSH);
    taken += in - stream.avail_in;
    made += out - stream.avail_out;
    if (status == Z_OK && in == stream.avail_in && out == stream.avail_out) break;  // no progress
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END || made != output->size())
    damaged("entry '" + name + "' cannot be unpacked");
  return output;
}

}  // namespace

std::string printable(std::string_view bytes) {
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7F; };
  const bool valid = simdjson::validate_utf8(bytes.data(), bytes.size());
  if (valid && std::none_of(bytes.begin(), bytes.end(), is_control)) return std::string(bytes);
  std::string text;
  for (const char c : bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x7F && !is_control(byte)) {
      text += c;
    } else {
      text += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return text;
}

ZipReader::ZipReader(Bytes archive) : archive_(std::move(archive)) {
  const Directory directory = find_directory(archive_.data);
  read_directory(directory.offset, directory.size, directory.count);
}

void ZipReader::read_directory(std::uint64_t offset, std::uint64_t size, std::uint64_t count) {
  auto rest = Cursor(archive_.data).part(offset, size, "the central directory");
  entries_.reserve(static_cast<std::size_t>(count));
  for (std::uint64_t i = 0; i < count; ++i) {
    if (rest.size() < kCentralSize || u32(rest, 0) != kCentralHeader)
      damaged("entry " + std::to_string(i) + " of its central directory is none");
    const std::size_t name_length = u16(rest, 28);
    const std::size_t extra_length = u16(rest, 30);
    const std::size_t comment_length = u16(rest, 32);
    const std::size_t length = kCentralSize + name_length + extra_length + comment_length;
    if (length > rest.size()) damaged("its central directory is too short for its entries");

    ZipEntry entry;
    entry.name = {reinterpret_cast<const char*>(rest.data() + kCentralSize), name_length};
    entry.encrypted = (u16(rest, 8) & 1) != 0;
    entry.method = u16(rest, 10);
    entry.compressed_size = u32(rest, 20);
    entry.size = u32(rest, 24);
    entry.header_offset = u32(rest, 42);
    read_extra64(rest.subspan(kCentralSize + name_length, extra_length), entry);
    by_name_.try_emplace(entry.name, entries_.size());
    entries_.push_back(entry);
    rest = rest.subspan(length);
  }
}

const ZipEntry* ZipReader::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &entries_[found->second];
}

Bytes ZipReader::read(const ZipEntry& entry) const {
  const std::string name = printable(entry.name);
  if (entry.encrypted) base::fail(kUnsupported, "entry '" + name + "' is encrypted");
  const Cursor cursor(archive_.data);
  const auto header = cursor.part(entry.header_offset, kLocalSize, "a local header");
  if (u32(header, 0) != kLocalHeader) damaged("entry '" + name + "' has no local header");
  const std::uint64_t skip =
      kLocalSize + std::uint64_t{u16(header, 26)} + std::uint64_t{u16(header, 28)};
  // No overflow: the header itself lies in the file.
  const auto packed = cursor.part(entry.header_offset + skip, entry.compressed_size,
                                  ("entry '" + name + "'").c_str());
  if (entry.method == 0) {
    if (entry.size != entry.compressed_size) damaged("entry '" + name + "' has two sizes");
    return {packed, archive_.owner};
  }
  if (entry.method != 8) {
    base::fail(kUnsupported,
               "entry '" + name + "' is compressed by method " + std::to_string(entry.method),
               "pack the archive with stored or deflated entries");
  }
  if (entry.size > std::numeric_limits<std::size_t>::max() / 2)
    damaged("entry '" + name + "' is too large");
  const std::uint64_t most = kMaxUnpacked + kMaxRatio * archive_.data.size();
  const std::uint64_t before = unpacked_->load();
  if (entry.size > most || before > most - entry.size) {
    base::fail(kDamaged, "the archive unpacks to more than 4 GB and 16 times its size",
               "where that is meant, pack it again with stored entries, as torch.jit.save does");
  }
  unpacked_->fetch_add(entry.size);
  const auto unpacked = inflate_all(packed, entry.size, name);
  return {*unpacked, unpacked};
}

}  // namespace sardonyx::archive
