#include "frontends/checkpoints/distributed.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/diagnostic.h"
#include "base/mapped_file.h"
#include "frontends/archive/pickle.h"
#include "frontends/archive/saved_tensors.h"
#include "frontends/archive/zip.h"

namespace sardonyx::checkpoints {
namespace {

using archive::Pickle;
using archive::PickleItem;
using Kind = PickleItem::Kind;

constexpr const char* kMetadata = ".metadata";
// Files of such sizes are made before they are filled.
constexpr std::int64_t kMaxElements = std::int64_t{1} << 42;
// All pairs of pieces may have to be compared.
constexpr std::size_t kMaxPieces = 1 << 14;
constexpr std::size_t kMaxRank = 64;

// A piece as storage data have it.
struct StoredPiece {
  std::optional<std::vector<std::int64_t>> offsets;  // nothing where there is one piece
  std::string file;
  Extent extent;
  bool is_compressed = false;
};

class MetadataReader {
 public:
  MetadataReader(std::span<const std::byte> bytes, const std::string& path)
      : pickle_(bytes), path_(path) {}

  std::vector<DistributedTensor> tensors() {
    const PickleItem& root = pickle_.root();
    if (class_of(root) != "Metadata")
      refuse("it has a " + made_by(root) + ", which is no part of metadata");
    read_places(attribute(root, "storage_data"));
    const PickleItem* const entries = attribute(root, "state_dict_metadata");
    if (!entries || entries->kind != Kind::kDictionary) refuse("it has no tensors");
    std::map<std::string, DistributedTensor> tensors;
    for (std::size_t i = 0; i + 1 < entries->items.size(); i += 2) {
      const PickleItem& entry = *pickle_.item(*entries, i + 1);
      if (class_of(entry) != "TensorStorageMetadata") continue;
      DistributedTensor tensor = read_tensor(*pickle_.item(*entries, i), entry);
      tensors.insert_or_assign(tensor.name, std::move(tensor));
    }
    if (!problems_.empty()) throw base::Error(problems_);
    std::vector<DistributedTensor> result;
    for (auto& [name, tensor] : tensors) result.push_back(std::move(tensor));
    return result;
  }

 private:
  [[noreturn]] void refuse(const std::string& reason) const {
    base::fail(kDamaged, path_ + " is no metadata of a checkpoint: " + reason, kCopyAgain);
  }

  void problem(std::string message) {
    base::Diagnostic diagnostic;
    diagnostic.code = kDamaged;
    diagnostic.message = std::move(message);
    diagnostic.help = kCopyAgain;
    problems_.push_back(std::move(diagnostic));
  }

  // The "module name" that made an object; empty where it is none.
  std::string_view global_of(const PickleItem& item) const {
    const PickleItem* const callable = item.kind == Kind::kCall ? pickle_.item(item, 0) : nullptr;
    if (!callable || callable->kind != Kind::kGlobal) return {};
    return callable->text;
  }
  // The name of its class, where that is one of torch.distributed's.
  std::string_view class_of(const PickleItem& item) const {
    const std::string_view made = global_of(item);
    if (!made.starts_with("torch.distributed.checkpoint.")) return {};
    return made.substr(made.find(' ') + 1);
  }
  std::string made_by(const PickleItem& item) const {
    std::string name = archive::printable(global_of(item));
    std::ranges::replace(name, ' ', '.');
    return name.empty() ? "value of another kind" : name;
  }

  // An attribute of an object; null where it has none of the name.
  const PickleItem* attribute(const PickleItem& object, std::string_view name) const {
    const PickleItem* const state = object.kind == Kind::kCall ? pickle_.item(object, 2) : nullptr;
    if (!state || state->kind != Kind::kDictionary) return nullptr;
    for (std::size_t i = 0; i + 1 < state->items.size(); i += 2) {
      const PickleItem& key = *pickle_.item(*state, i);
      if (key.kind == Kind::kText && key.text == name) return pickle_.item(*state, i + 1);
    }
    return nullptr;
  }

  // The numbers of a torch.Size, a list or a tuple; nothing for others, and for negative ones.
  std::optional<std::vector<std::int64_t>> counts(const PickleItem* item) const {
    if (item && global_of(*item) == "torch Size") {
      const PickleItem* const arguments = pickle_.item(*item, 1);
      item = arguments ? pickle_.item(*arguments, 0) : nullptr;
    }
    if (!item || item->kind != Kind::kSequence) return std::nullopt;
    std::vector<std::int64_t> result;
    for (const std::uint32_t index : item->items) {
      const PickleItem& number = pickle_.at(index);
      if (number.kind != Kind::kInteger || number.integer < 0) return std::nullopt;
      result.push_back(number.integer);
    }
    return result;
  }
  static std::optional<std::uint64_t> count(const PickleItem* item) {
    if (!item || item->kind != Kind::kInteger || item->integer < 0) return std::nullopt;
    return static_cast<std::uint64_t>(item->integer);
  }

  void read_places(const PickleItem* data) {
    if (!data || data->kind != Kind::kDictionary) return;
    for (std::size_t i = 0; i + 1 < data->items.size(); i += 2) {
      const PickleItem& index = *pickle_.item(*data, i);
      const PickleItem& info = *pickle_.item(*data, i + 1);
      const PickleItem* const name = attribute(index, "fqn");
      const PickleItem* const file = attribute(info, "relative_path");
      if (!name || name->kind != Kind::kText || !file || file->kind != Kind::kText)
        refuse("a piece has no name, or is in no file");
      const auto offset = count(attribute(info, "offset"));
      const auto length = count(attribute(info, "length"));
      if (!offset || !length)
        refuse("'" + archive::printable(name->text) + "' lies at no place of a file");
      const PickleItem* const transforms = attribute(info, "transform_descriptors");
      const bool is_compressed =
          transforms && transforms->kind != Kind::kNone &&
          !(transforms->kind == Kind::kSequence && transforms->items.empty());
      places_[name->text].push_back(
          {counts(attribute(index, "offset")), file->text, {*offset, *length}, is_compressed});
    }
  }

  DistributedTensor read_tensor(const PickleItem& name, const PickleItem& entry) {
    if (name.kind != Kind::kText || !is_name(name.text)) refuse("a tensor has no name");
    DistributedTensor tensor;
    tensor.name = name.text;
    tensor.dtype = dtype_of(entry);
    if (tensor.dtype == base::DType::kUndefined) refuse("'" + tensor.name + "' is no tensor");
    const auto dims = counts(attribute(entry, "size"));
    if (!dims || dims->size() > kMaxRank ||
        element_count(*dims).value_or(kMaxElements) >= kMaxElements)
      refuse("'" + tensor.name + "' has no size");
    tensor.dims = *dims;
    const PickleItem* const chunks = attribute(entry, "chunks");
    if (!chunks || chunks->kind != Kind::kSequence || chunks->items.size() > kMaxPieces)
      refuse("'" + tensor.name + "' has no pieces");
    for (const std::uint32_t chunk : chunks->items) read_piece(pickle_.at(chunk), tensor);
    check_cover(tensor);
    for (Piece& piece : tensor.pieces) place(tensor.name, piece);
    return tensor;
  }

  // The first of the state of TensorProperties, which is a tuple.
  base::DType dtype_of(const PickleItem& entry) const {
    constexpr std::string_view kModule = "torch ";
    const PickleItem* const properties = attribute(entry, "properties");
    const PickleItem* const state =
        properties && properties->kind == Kind::kCall ? pickle_.item(*properties, 2) : nullptr;
    const PickleItem* const dtype =
        state && state->kind == Kind::kSequence ? pickle_.item(*state, 0) : nullptr;
    if (!dtype || dtype->kind != Kind::kGlobal || !dtype->text.starts_with(kModule))
      return base::DType::kUndefined;
    return base::dtype_from_name(dtype->text.substr(kModule.size()))
        .value_or(base::DType::kUndefined);
  }

  void read_piece(const PickleItem& chunk, DistributedTensor& tensor) const {
    const auto offsets = counts(attribute(chunk, "offsets"));
    const auto sizes = counts(attribute(chunk, "sizes"));
    bool inside = offsets && sizes && offsets->size() == tensor.dims.size() &&
                  sizes->size() == tensor.dims.size();
    for (std::size_t i = 0; inside && i < tensor.dims.size(); ++i)
      inside = (*offsets)[i] <= tensor.dims[i] && (*sizes)[i] <= tensor.dims[i] - (*offsets)[i];
    if (!inside) refuse("'" + tensor.name + "' has a piece that is no part of it");
    tensor.pieces.push_back({*offsets, *sizes, {}, {}});
  }

  static bool overlap(const Piece& a, const Piece& b) {
    for (std::size_t i = 0; i < a.sizes.size(); ++i)
      if (a.offsets[i] + a.sizes[i] <= b.offsets[i] || b.offsets[i] + b.sizes[i] <= a.offsets[i])
        return false;
    return true;
  }

  // Pieces that are disjoint and have as many elements as the tensor are all of it.
  void check_cover(const DistributedTensor& tensor) const {
    std::vector<const Piece*> pieces;
    std::int64_t covered = 0;
    const std::int64_t whole = *element_count(tensor.dims);
    for (const Piece& piece : tensor.pieces) {
      const std::int64_t elements = *element_count(piece.sizes);
      if (elements > 0) pieces.push_back(&piece);
      covered += elements;
    }
    std::ranges::sort(pieces, {}, [](const Piece* piece) { return piece->offsets; });
    for (std::size_t i = 0; i < pieces.size(); ++i)
      for (std::size_t j = i + 1; j < pieces.size(); ++j) {
        const bool behind = !pieces[i]->sizes.empty() &&
                            pieces[j]->offsets[0] - pieces[i]->offsets[0] >= pieces[i]->sizes[0];
        if (behind) break;
        if (overlap(*pieces[i], *pieces[j])) refuse("pieces of '" + tensor.name + "' overlap");
      }
    if (covered != whole || tensor.pieces.empty())
      refuse("the pieces of '" + tensor.name + "' have " + std::to_string(covered) +
             " elements of " + std::to_string(whole));
  }

  void place(const std::string& name, Piece& piece) {
    const auto found = places_.find(name);
    const StoredPiece* stored = nullptr;
    if (found != places_.end())
      for (const StoredPiece& each : found->second)
        if (!stored && (!each.offsets || *each.offsets == piece.offsets)) stored = &each;
    if (!stored) return problem("'" + name + "' has a piece that is in no file");
    if (stored->is_compressed)
      return problem("'" + name + "' is compressed, which is not supported");
    const std::filesystem::path path(stored->file);
    if (!is_name(stored->file) || path.filename() != path || stored->file == "..")
      return problem("'" + name +
                     "' is outside of the folder: " + archive::printable(stored->file));
    piece.file = stored->file;
    piece.extent = stored->extent;
  }

  Pickle pickle_;
  const std::string& path_;
  std::map<std::string, std::vector<StoredPiece>> places_;
  std::vector<base::Diagnostic> problems_;
};

// Diagnostics of a file that could not be read as what it should be, as one of a checkpoint.
[[noreturn]] void refuse_as(const std::string& what, const base::Error& error) {
  base::fail(kDamaged, what + ": " + error.diagnostics().front().message, kCopyAgain);
}

void add_problems(std::vector<base::Diagnostic>& problems, const base::Error& error) {
  problems.insert(problems.end(), error.diagnostics().begin(), error.diagnostics().end());
}

void check_files(const std::string& folder, const std::vector<DistributedTensor>& tensors) {
  std::map<std::string, std::vector<Extent>> extents;
  for (const DistributedTensor& tensor : tensors)
    for (const Piece& piece : tensor.pieces) extents[piece.file].push_back(piece.extent);
  std::vector<base::Diagnostic> problems;
  for (const auto& [name, parts] : extents) {
    const std::filesystem::path path = std::filesystem::path(folder) / name;
    try {
      std::error_code error;
      const std::uint64_t size = std::filesystem::file_size(path, error);
      if (error) base::fail(kDamaged, "the file " + name + " is missing", kCopyAgain);
      check_inside("the file " + name, size, parts);
    } catch (const base::Error& error) {
      add_problems(problems, error);
    }
  }
  if (!problems.empty()) throw base::Error(std::move(problems));
}

// The bytes of a tensor's elements in the storage, from the first to the end of the last; nothing
// where they are beyond its end.
std::optional<Extent> extent_in(const archive::StoredTensor& stored, std::uint64_t storage_bytes) {
  const auto elements = element_count(stored.shape);
  if (!elements || stored.strides.size() != stored.shape.size() || stored.offset < 0)
    return std::nullopt;
  const auto width = static_cast<std::uint64_t>(base::bit_width(stored.dtype)) / 8;
  if (width == 0) return std::nullopt;
  if (*elements == 0) return Extent{};
  const std::uint64_t held = storage_bytes / width;
  if (std::cmp_greater_equal(stored.offset, held)) return std::nullopt;
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < stored.shape.size(); ++i) {
    const std::int64_t steps = stored.shape[i] - 1, stride = stored.strides[i];
    if (steps == 0) continue;
    if (stride < 0 || std::cmp_greater(stride, held / static_cast<std::uint64_t>(steps)))
      return std::nullopt;
    last += static_cast<std::uint64_t>(steps) * static_cast<std::uint64_t>(stride);
    if (last >= held - static_cast<std::uint64_t>(stored.offset)) return std::nullopt;
  }
  // No tensor that was written has elements at one place.
  if (std::cmp_greater(*elements, last + 1)) return std::nullopt;
  return Extent{static_cast<std::uint64_t>(stored.offset) * width, (last + 1) * width};
}

}  // namespace

std::vector<DistributedTensor> parse_distributed(std::span<const std::byte> metadata,
                                                 const std::string& path) {
  try {
    return MetadataReader(metadata, path).tensors();
  } catch (const base::Error& error) {
    if (error.diagnostics().front().code == kDamaged) throw;
    refuse_as(path + " is no metadata of a checkpoint", error);
  }
}

std::vector<DistributedTensor> read_distributed(const std::string& folder) {
  const std::string path = (std::filesystem::path(folder) / kMetadata).string();
  const base::MappedFile file(path);
  const base::CutShortGuard guard;
  std::vector<DistributedTensor> tensors = parse_distributed(file.bytes(), path);
  base::check_not_cut_short();
  check_files(folder, tensors);
  return tensors;
}

StridedPlace locate_piece(std::span<const std::byte> file, const std::string& path,
                          const std::string& tensor, const Piece& piece) {
  check_inside(path, file.size(), {{piece.extent}});
  const std::string what = "'" + tensor + "' cannot be read from " + path;
  const auto part = file.subspan(static_cast<std::size_t>(piece.extent.offset),
                                 static_cast<std::size_t>(piece.extent.length));
  try {
    const archive::TensorTable table = archive::read_saved_tensor({part, nullptr}, tensor);
    const archive::StoredTensor& stored = table.tensors.at(tensor);
    if (!stored.unsupported.empty()) base::fail(kDamaged, stored.unsupported);
    if (stored.shape != piece.sizes)
      base::fail(kDamaged, "it is no tensor of the size that the metadata have");
    StridedPlace place{stored.dtype, stored.shape, stored.strides, {}};
    if (element_count(stored.shape) == 0) return place;
    const archive::ZipEntry* const entry = table.archive->find(stored.storage);
    if (!entry) base::fail(kDamaged, "its storage is missing");
    if (entry->method != 0) base::fail(kDamaged, "it is compressed, which is not supported");
    const std::span<const std::byte> storage = table.archive->read(*entry).data;
    const auto extent = extent_in(stored, storage.size());
    if (!extent) base::fail(kDamaged, "it goes beyond its storage");
    place.extent = {static_cast<std::uint64_t>(storage.data() - file.data()) + extent->offset,
                    extent->length};
    return place;
  } catch (const base::Error& error) {
    refuse_as(what, error);
  }
}

std::vector<StridedPlace> locate_pieces(const std::string& folder,
                                        const DistributedTensor& tensor) {
  const base::CutShortGuard guard;
  std::map<std::string, base::MappedFile> files;
  std::vector<StridedPlace> places;
  for (const Piece& piece : tensor.pieces) {
    const std::string path = (std::filesystem::path(folder) / piece.file).string();
    const auto [file, is_new] = files.try_emplace(path);
    if (is_new) file->second = base::MappedFile(path);
    places.push_back(locate_piece(file->second.bytes(), path, tensor.name, piece));
    if (places.back().dtype != tensor.dtype)
      base::fail(kDamaged, "'" + tensor.name + "' has another type in " + path, kCopyAgain);
  }
  base::check_not_cut_short();
  return places;
}

}  // namespace sardonyx::checkpoints
