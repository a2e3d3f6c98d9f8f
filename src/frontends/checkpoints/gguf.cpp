#include "frontends/checkpoints/gguf.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/diagnostic.h"
#include "base/mapped_file.h"
#include "kernels/ggml_blocks.h"

namespace sardonyx::checkpoints {
namespace {

using base::DType;

// Versions that count in 64 bits.
constexpr std::array<std::uint32_t, 2> kVersions = {2, 3};
constexpr std::uint64_t kDefaultAlignment = 32;
constexpr int kMaxDepth = 4;
constexpr std::uint32_t kMaxGgmlRank = 8;

// The types of metadata: bytes of a value by number; those of strings and arrays vary.
constexpr std::array<std::uint8_t, 13> kValueBytes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
enum ValueType : std::uint8_t { kUInt32 = 4, kInt32 = 5, kText = 8, kArray = 9, kUInt64 = 10 };

// The element types that are no blocks.
struct PlainType {
  std::uint32_t number;
  DType dtype;
};
constexpr std::array<PlainType, 8> kPlainTypes = {{{0, DType::kFloat32},
                                                   {1, DType::kFloat16},
                                                   {24, DType::kInt8},
                                                   {25, DType::kInt16},
                                                   {26, DType::kInt32},
                                                   {27, DType::kInt64},
                                                   {28, DType::kFloat64},
                                                   {30, DType::kBFloat16}}};

// A tensor of the table, as it is there.
struct Entry {
  std::string_view name;
  std::vector<std::int64_t> dims;
  std::uint32_t type = 0;
  std::uint64_t offset = 0;
};

// Takes one value after the other.
class Reader {
 public:
  Reader(std::span<const std::byte> bytes, const std::string& path) : bytes_(bytes), path_(path) {}

  [[noreturn]] void refuse(const std::string& reason) const {
    base::fail(kDamaged, path_ + " is no GGUF file, or cut short: " + reason, kCopyAgain);
  }

  std::size_t at() const { return at_; }
  std::uint64_t remaining() const { return bytes_.size() - at_; }

  std::span<const std::byte> take(std::uint64_t length) {
    if (length > remaining()) refuse("a value goes beyond its end");
    const auto part = bytes_.subspan(at_, static_cast<std::size_t>(length));
    at_ += static_cast<std::size_t>(length);
    return part;
  }

  std::uint64_t number(std::size_t width) {
    const auto part = take(width);
    std::uint64_t value = 0;
    for (std::size_t i = width; i-- > 0;)
      value = value << 8 | std::to_integer<std::uint64_t>(part[i]);
    return value;
  }
  std::uint32_t number_32() { return static_cast<std::uint32_t>(number(4)); }

  std::string_view text() {
    const auto part = take(number(8));
    return {reinterpret_cast<const char*>(part.data()), part.size()};
  }

  // Goes past a value.
  void skip(std::uint32_t type, int depth) {
    if (type == kText) {
      (void)text();
    } else if (type == kArray) {
      skip_array(depth);
    } else if (type < kValueBytes.size()) {
      take(kValueBytes.at(type));
    } else {
      refuse("it has a value of the unknown type " + std::to_string(type));
    }
  }

 private:
  void skip_array(int depth) {
    if (depth == kMaxDepth) refuse("arrays are nested too deep");
    const std::uint32_t type = number_32();
    const std::uint64_t count = number(8);
    const std::uint64_t width = type < kValueBytes.size() ? kValueBytes.at(type) : 0;
    // Strings and arrays have at least their length.
    if (count > remaining() / (width == 0 ? 8 : width)) refuse("an array goes beyond its end");
    if (width > 0) {
      take(count * width);
      return;
    }
    for (std::uint64_t i = 0; i < count; ++i) skip(type, depth + 1);
  }

  std::span<const std::byte> bytes_;
  const std::string& path_;
  std::size_t at_ = 0;
};

struct Metadata {
  std::string architecture;
  std::uint64_t alignment = kDefaultAlignment;
};

Metadata read_metadata(Reader& reader, std::uint64_t count) {
  Metadata metadata;
  std::unordered_set<std::string_view> keys;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string_view key = reader.text();
    if (!keys.insert(key).second) reader.refuse("it has two values of one key");
    const std::uint32_t type = reader.number_32();
    if (key == "general.architecture" && type == kText) {
      metadata.architecture = reader.text();
      if (!is_name(metadata.architecture)) reader.refuse("its architecture is no text");
    } else if (key == "general.alignment") {
      if (type != kUInt32 && type != kInt32 && type != kUInt64)
        reader.refuse("its alignment is no number");
      metadata.alignment = reader.number(kValueBytes.at(type));
    } else {
      reader.skip(type, 0);
    }
  }
  const bool is_power =
      metadata.alignment != 0 && (metadata.alignment & (metadata.alignment - 1)) == 0;
  if (!is_power || metadata.alignment > 1U << 30)
    reader.refuse("its alignment is " + std::to_string(metadata.alignment));
  return metadata;
}

Entry read_entry(Reader& reader) {
  Entry entry;
  entry.name = reader.text();
  if (!is_name(entry.name)) reader.refuse("a tensor has a name that is no text");
  const std::uint32_t rank = reader.number_32();
  if (rank > kMaxGgmlRank) reader.refuse("a tensor has " + std::to_string(rank) + " dimensions");
  for (std::uint32_t i = 0; i < rank; ++i)
    entry.dims.push_back(static_cast<std::int64_t>(reader.number(8)));
  std::ranges::reverse(entry.dims);
  entry.type = reader.number_32();
  entry.offset = reader.number(8);
  return entry;
}

const PlainType* plain_type(std::uint32_t number) {
  const auto* const found = std::ranges::find(kPlainTypes, number, &PlainType::number);
  return found == kPlainTypes.end() ? nullptr : found;
}

void check_types(const std::vector<Entry>& entries, const std::string& path) {
  std::set<std::uint32_t> unknown;
  for (const Entry& entry : entries)
    if (!plain_type(entry.type) && !kernels::ggml_block(entry.type)) unknown.insert(entry.type);
  if (unknown.empty()) return;
  std::string known;
  for (const kernels::GgmlBlock& block : kernels::ggml_blocks()) {
    known += ", ";
    known += block.name;
  }
  base::fail("SX2001",
             fmt::format("{} has tensors of ggml's types {}, which are not supported", path,
                         fmt::join(unknown, ", ")),
             "F32, F16, BF16" + known + " are supported");
}

GgufTensor described(const Reader& reader, const Entry& entry, std::uint64_t start) {
  GgufTensor tensor;
  tensor.name = entry.name;
  tensor.dims = entry.dims;
  const auto count = element_count(entry.dims);
  if (!count) reader.refuse("'" + tensor.name + "' has no size");
  std::int64_t bytes = 0;
  if (const PlainType* const plain = plain_type(entry.type)) {
    tensor.dtype = plain->dtype;
    bytes = base::byte_size(plain->dtype, *count);
  } else {
    const kernels::GgmlBlock& block = *kernels::ggml_block(entry.type);
    tensor.block = block.name;
    if (entry.dims.empty() || entry.dims.back() % block.elements != 0)
      reader.refuse(
          fmt::format("rows of '{}' are no whole blocks of {}", tensor.name, block.elements));
    bytes = *count / block.elements * block.bytes;
  }
  if (entry.offset > UINT64_MAX - start) reader.refuse("'" + tensor.name + "' lies nowhere");
  tensor.extent = {start + entry.offset, static_cast<std::uint64_t>(bytes)};
  return tensor;
}

}  // namespace

Gguf parse_gguf(std::span<const std::byte> file, const std::string& path) {
  Reader reader(file, path);
  constexpr std::string_view kMagic = "GGUF";
  const auto magic = reader.take(std::min<std::uint64_t>(kMagic.size(), file.size()));
  if (std::string_view(reinterpret_cast<const char*>(magic.data()), magic.size()) != kMagic)
    reader.refuse("it does not begin as one");
  const std::uint32_t version = reader.number_32();
  if (std::ranges::find(kVersions, version) == kVersions.end())
    reader.refuse(fmt::format("its version is {}, and {} are supported", version,
                              fmt::join(kVersions, " and ")));
  const std::uint64_t count = reader.number(8), values = reader.number(8);
  const Metadata metadata = read_metadata(reader, values);
  std::vector<Entry> entries;
  for (std::uint64_t i = 0; i < count; ++i) entries.push_back(read_entry(reader));
  check_types(entries, path);

  const std::uint64_t start =
      (reader.at() + metadata.alignment - 1) / metadata.alignment * metadata.alignment;
  Gguf result{metadata.architecture, {}};
  std::vector<NamedExtent> places;
  std::vector<Extent> extents;
  for (const Entry& entry : entries) {
    result.tensors.push_back(described(reader, entry, start));
    places.push_back({entry.name, result.tensors.back().extent});
    extents.push_back(result.tensors.back().extent);
  }
  check_inside(path, file.size(), extents);
  if (const std::string problem = conflict(std::move(places)); !problem.empty())
    reader.refuse(problem);
  return result;
}

Gguf read_gguf(const std::string& path) {
  const base::MappedFile file(path);
  const base::CutShortGuard guard;
  Gguf result = parse_gguf(file.bytes(), path);
  base::check_not_cut_short();
  return result;
}

}  // namespace sardonyx::checkpoints
