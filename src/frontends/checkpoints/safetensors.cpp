#include "frontends/checkpoints/safetensors.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>

#include "base/diagnostic.h"
#include "base/mapped_file.h"

namespace sardonyx::checkpoints {
namespace {

using base::DType;
using Json = simdjson::dom::element;

// Headers are short; a longer one is no header (the format's own limit).
constexpr std::uint64_t kLongestHeader = 100'000'000;
constexpr std::size_t kLengthBytes = 8;

struct TypeName {
  std::string_view name;
  DType dtype;
};
constexpr std::array<TypeName, 19> kTypes = {{
    {"F64", DType::kFloat64},
    {"F32", DType::kFloat32},
    {"F16", DType::kFloat16},
    {"BF16", DType::kBFloat16},
    {"I64", DType::kInt64},
    {"I32", DType::kInt32},
    {"I16", DType::kInt16},
    {"I8", DType::kInt8},
    {"U64", DType::kUInt64},
    {"U32", DType::kUInt32},
    {"U16", DType::kUInt16},
    {"U8", DType::kUInt8},
    {"BOOL", DType::kBool},
    {"C64", DType::kComplex64},
    {"F8_E4M3", DType::kFloat8E4M3FN},
    {"F8_E4M3FNUZ", DType::kFloat8E4M3FNUZ},
    {"F8_E5M2", DType::kFloat8E5M2},
    {"F8_E5M2FNUZ", DType::kFloat8E5M2FNUZ},
    {"F8_E8M0", DType::kFloat8E8M0},
}};

// Reads one file; what is wrong is said of it.
class Document {
 public:
  Document(const std::string& path, const char* kind) : path_(path), kind_(kind) {}

  [[noreturn]] void refuse(const std::string& reason) const {
    base::fail(kDamaged, path_ + " is no " + kind_ + ": " + reason, kCopyAgain);
  }

  simdjson::dom::object object(std::span<const std::byte> text) {
    simdjson::dom::object root;
    const auto* begin = reinterpret_cast<const char*>(text.data());
    const simdjson::error_code error = parser_.parse(begin, text.size(), true).get(root);
    if (error != simdjson::SUCCESS) refuse(simdjson::error_message(error));
    return root;
  }

 private:
  const std::string& path_;
  const char* kind_;
  simdjson::dom::parser parser_;
};

bool read_counts(Json json, std::vector<std::int64_t>& counts) {
  simdjson::dom::array array;
  if (json.get(array) != simdjson::SUCCESS) return false;
  for (const Json item : array) {
    std::int64_t count = 0;
    if (item.get(count) != simdjson::SUCCESS || count < 0) return false;
    counts.push_back(count);
  }
  return true;
}

TensorInFile read_tensor(const Document& document, std::string_view name, Json json,
                         std::uint64_t start) {
  if (!is_name(name)) document.refuse("a tensor has a name that is no text");
  TensorInFile tensor;
  tensor.name = name;
  std::string_view type;
  Json shape, offsets;
  if (json["dtype"].get(type) != simdjson::SUCCESS ||
      json["shape"].get(shape) != simdjson::SUCCESS ||
      json["data_offsets"].get(offsets) != simdjson::SUCCESS)
    document.refuse(in_quotes(name) + " lacks a dtype, a shape or its place");
  const auto* const known = std::ranges::find(kTypes, type, &TypeName::name);
  if (known == kTypes.end())
    document.refuse(in_quotes(name) + " is of the unknown type " + std::string(type));
  tensor.dtype = known->dtype;
  std::vector<std::int64_t> place;
  if (!read_counts(shape, tensor.dims) || !read_counts(offsets, place) || place.size() != 2 ||
      place[1] < place[0])
    document.refuse("the sizes or places of " + in_quotes(name) + " are no numbers");
  const std::int64_t length = place[1] - place[0];
  const auto count = element_count(tensor.dims);
  if (!count || base::byte_size(tensor.dtype, *count) != length)
    document.refuse(in_quotes(name) + " has " + std::to_string(length) +
                    " bytes, which its shape and type do not come to");
  tensor.extent = {start + static_cast<std::uint64_t>(place[0]),
                   static_cast<std::uint64_t>(length)};
  return tensor;
}

void read_metadata(const Document& document, Json json, Safetensors& result) {
  simdjson::dom::object entries;
  if (json.get(entries) != simdjson::SUCCESS) document.refuse("its metadata are no object");
  for (const auto& [key, value] : entries) {
    std::string_view text;
    if (value.get(text) == simdjson::SUCCESS) result.metadata.emplace_back(key, text);
  }
}

// The length of the header that follows it.
std::uint64_t header_bytes(const Document& document, std::span<const std::byte> file) {
  std::uint64_t length = 0;
  if (file.size() < kLengthBytes) document.refuse("it has no header");
  for (std::size_t i = kLengthBytes; i-- > 0;)
    length = length << 8 | std::to_integer<std::uint64_t>(file[i]);
  if (length > kLongestHeader) document.refuse("its header is cut off, or too long");
  return length;
}

std::span<const std::byte> header_of(const Document& document, std::span<const std::byte> file) {
  const std::uint64_t length = header_bytes(document, file);
  if (length > file.size() - kLengthBytes) document.refuse("its header is cut off, or too long");
  return file.subspan(kLengthBytes, static_cast<std::size_t>(length));
}

// The header alone is read: all of a file may be more than there are addresses for.
Safetensors read_one(const std::string& path) {
  const Document document(path, "safetensors file");
  const base::MappedFile length(path, kLengthBytes);
  const base::MappedFile start(path, kLengthBytes + header_bytes(document, length.bytes()));
  return parse_safetensors(start.bytes(), std::filesystem::file_size(path), path);
}

// Calls `read` for a file that is there, and adds what is wrong with it to the diagnostics.
template <typename Read>
void read_file(const std::string& path, std::vector<base::Diagnostic>& problems, const Read& read) {
  try {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored))
      base::fail(kDamaged, "the file " + path + " is missing", kCopyAgain);
    const base::CutShortGuard guard;
    read();
    base::check_not_cut_short();
  } catch (const base::Error& error) {
    problems.insert(problems.end(), error.diagnostics().begin(), error.diagnostics().end());
  }
}

}  // namespace

Safetensors parse_safetensors(std::span<const std::byte> file, const std::string& path) {
  return parse_safetensors(file, file.size(), path);
}

Safetensors parse_safetensors(std::span<const std::byte> start, std::uint64_t file_bytes,
                              const std::string& path) {
  Document document(path, "safetensors file");
  const std::span<const std::byte> header = header_of(document, start);
  Safetensors result;
  for (const auto& [name, value] : document.object(header)) {
    if (name == "__metadata__") {
      read_metadata(document, value, result);
    } else {
      result.tensors.push_back(read_tensor(document, name, value, kLengthBytes + header.size()));
    }
  }
  std::vector<NamedExtent> places;
  std::vector<Extent> extents;
  for (const TensorInFile& tensor : result.tensors) {
    places.push_back({tensor.name, tensor.extent});
    extents.push_back(tensor.extent);
  }
  if (const std::string problem = conflict(std::move(places)); !problem.empty())
    document.refuse(problem);
  check_inside(path, file_bytes, extents);
  return result;
}

std::vector<SafetensorsFile> read_safetensors(const std::vector<std::string>& paths) {
  std::vector<SafetensorsFile> files;
  std::vector<base::Diagnostic> problems;
  for (const std::string& path : paths)
    read_file(path, problems, [&] { files.push_back({path, read_one(path)}); });
  if (!problems.empty()) throw base::Error(std::move(problems));
  return files;
}

ShardIndex parse_shard_index(std::span<const std::byte> file, const std::string& path) {
  Document document(path, "index of safetensors files");
  const simdjson::dom::object root = document.object(file);
  simdjson::dom::object map;
  if (root["weight_map"].get(map) != simdjson::SUCCESS)
    document.refuse("it has no `weight_map` of names");
  ShardIndex index;
  std::set<std::string, std::less<>> shards;
  for (const auto& [name, value] : map) {
    std::string_view shard;
    if (value.get(shard) != simdjson::SUCCESS || !is_name(shard) || shard.empty())
      document.refuse("its `weight_map` names what are no files");
    index.weight_map.emplace_back(name, shard);
    shards.emplace(shard);
  }
  index.shards.assign(shards.begin(), shards.end());
  return index;
}

ShardIndex read_shard_index(const std::string& path) {
  std::vector<base::Diagnostic> problems;
  ShardIndex index;
  read_file(path, problems,
            [&] { index = parse_shard_index(base::MappedFile(path).bytes(), path); });
  if (!problems.empty()) throw base::Error(std::move(problems));
  return index;
}

std::vector<SafetensorsFile> read_sharded_safetensors(const std::string& path) {
  const ShardIndex index = read_shard_index(path);
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::vector<std::string> paths;
  for (const std::string& shard : index.shards) {
    if (std::filesystem::path(shard).filename() != shard || shard == "." || shard == "..")
      base::fail(kDamaged, path + " names files outside of its folder: " + shard, kCopyAgain);
    paths.push_back((folder / shard).string());
  }
  std::vector<SafetensorsFile> files = read_safetensors(paths);
  const std::map<std::string, std::string, std::less<>> listed(index.weight_map.begin(),
                                                               index.weight_map.end());
  std::unordered_map<std::string, std::size_t> owners;
  for (std::size_t i = 0; i < files.size(); ++i)
    for (const TensorInFile& tensor : files[i].contents.tensors) {
      const auto [held, is_new] = owners.try_emplace(tensor.name, i);
      const auto found = listed.find(tensor.name);
      if (is_new) continue;
      if (found == listed.end())
        base::fail(kDamaged, "several shards of " + path + " have " + in_quotes(tensor.name),
                   kCopyAgain);
      if (found->second == index.shards[i]) held->second = i;
    }
  std::vector<base::Diagnostic> lacking;
  for (const auto& [name, shard] : index.weight_map) {
    if (owners.contains(name)) continue;
    base::Diagnostic& problem = lacking.emplace_back();
    problem.code = kDamaged;
    problem.message = path + " lists " + in_quotes(name) + " in " + shard + ", which lacks it";
    problem.help = kCopyAgain;
  }
  if (!lacking.empty()) throw base::Error(std::move(lacking));
  for (std::size_t i = 0; i < files.size(); ++i)
    std::erase_if(files[i].contents.tensors,
                  [&](const TensorInFile& tensor) { return owners.at(tensor.name) != i; });
  return files;
}

}  // namespace sardonyx::checkpoints
