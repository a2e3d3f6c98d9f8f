#include "frontends/archive/saved_tensors.h"

#include <optional>
#include <utility>

#include "base/diagnostic.h"
#include "frontends/archive/pickle.h"
#include "frontends/archive/storages.h"

namespace sardonyx::archive {
namespace {

using base::DType;
using Kind = PickleItem::Kind;

class StateDict {
 public:
  StateDict(const Pickle& pickle, std::string folder)
      : pickle_(pickle), folder_(std::move(folder)) {}

  StoredTensor tensor(const PickleItem& item) const {
    StoredTensor tensor;
    if (!read(item, tensor, 0)) tensor.unsupported = "no plain tensor: " + what(item);
    return tensor;
  }

 private:
  std::string what(const PickleItem& item) const {
    const PickleItem* callable = item.kind == Kind::kCall ? pickle_.item(item, 0) : nullptr;
    return callable && callable->kind == Kind::kGlobal ? "made by " + printable(callable->text)
                                                       : "an object of another kind";
  }

  bool read(const PickleItem& item, StoredTensor& tensor, int depth) const {
    if (item.kind != Kind::kCall || depth > 4) return false;
    const PickleItem* callable = pickle_.item(item, 0);
    const PickleItem* arguments = pickle_.item(item, 1);
    return callable && arguments && call(*callable, *arguments, tensor, depth);
  }

  bool call(const PickleItem& callable, const PickleItem& arguments, StoredTensor& tensor,
            int depth) const {
    if (callable.kind != Kind::kGlobal || depth > 4) return false;
    const std::string& name = callable.text;
    if (name == "torch._utils _rebuild_tensor_v2" || name == "torch._utils _rebuild_tensor" ||
        name == "torch._utils _rebuild_tensor_v3") {
      return rebuild(arguments, name.ends_with("3"), tensor);
    }
    // (function, type, arguments, attributes): a tensor on which Python code set attributes.
    if (name == "torch._tensor _rebuild_from_type_v2") {
      const PickleItem* function = pickle_.item(arguments, 0);
      const PickleItem* type = pickle_.item(arguments, 1);
      const PickleItem* inner = pickle_.item(arguments, 2);
      return function && type && inner && is_plain(*type) &&
             call(*function, *inner, tensor, depth + 1);
    }
    if (name == "torch._utils _rebuild_parameter" ||
        name == "torch._utils _rebuild_parameter_with_state") {
      const PickleItem* data = pickle_.item(arguments, 0);
      return data && read(*data, tensor, depth + 1);
    }
    return false;
  }

  static bool is_plain(const PickleItem& type) {
    return type.kind == Kind::kGlobal &&
           (type.text == "torch Tensor" || type.text == "torch.nn.parameter Parameter" ||
            type.text == "torch.nn.parameter Buffer");
  }

  // (storage, offset, sizes, strides, requires_grad, hooks[, dtype][, metadata]): the
  // metadata say that the elements are conjugates or negatives of those in the storage.
  bool rebuild(const PickleItem& arguments, bool has_dtype, StoredTensor& tensor) const {
    const PickleItem* storage = pickle_.item(arguments, 0);
    const PickleItem* offset = pickle_.item(arguments, 1);
    const PickleItem* sizes = pickle_.item(arguments, 2);
    const PickleItem* strides = pickle_.item(arguments, 3);
    if (!storage || !offset || !sizes || !strides || offset->kind != Kind::kInteger) return false;
    tensor.offset = offset->integer;
    if (!integers(*sizes, tensor.shape) || !integers(*strides, tensor.strides)) return false;
    if (!read_storage(*storage, tensor)) return false;
    const PickleItem* metadata = pickle_.item(arguments, has_dtype ? 7 : 6);
    if (metadata && metadata->kind != Kind::kNone && !metadata->items.empty()) return false;
    if (!has_dtype) return tensor.dtype != DType::kUndefined;
    const PickleItem* dtype = pickle_.item(arguments, 6);
    constexpr std::string_view kModule = "torch ";
    if (!dtype || dtype->kind != Kind::kGlobal || !dtype->text.starts_with(kModule)) return false;
    const auto known = base::dtype_from_name(dtype->text.substr(kModule.size()));
    if (known) tensor.dtype = *known;
    return known.has_value();
  }

  // ('storage', type, key, location, element count)
  bool read_storage(const PickleItem& item, StoredTensor& tensor) const {
    const PickleItem* id = item.kind == Kind::kPersistent ? pickle_.item(item, 0) : nullptr;
    if (!id) return false;
    const PickleItem* type = pickle_.item(*id, 1);
    const PickleItem* key = pickle_.item(*id, 2);
    if (!type || !key || type->kind != Kind::kGlobal || key->kind != Kind::kText) return false;
    tensor.dtype = dtype_of_storage(type->text).value_or(DType::kUndefined);
    tensor.storage = folder_ + key->text;
    return true;
  }

  bool integers(const PickleItem& item, std::vector<std::int64_t>& into) const {
    if (item.kind != Kind::kSequence) return false;
    for (const std::uint32_t index : item.items) {
      if (pickle_.at(index).kind != Kind::kInteger) return false;
      into.push_back(pickle_.at(index).integer);
    }
    return true;
  }

  const Pickle& pickle_;
  std::string folder_;
};

// A torch.save() archive: its pickle, and where its storages are.
struct SavedArchive {
  explicit SavedArchive(Bytes bytes)
      : archive(std::make_shared<const ZipReader>(std::move(bytes))) {
    constexpr std::string_view kPickle = "data.pkl";
    const ZipEntry* entry = nullptr;
    for (const ZipEntry& candidate : archive->entries()) {
      const std::string_view name = candidate.name;
      const bool named = name == kPickle || name.ends_with("/data.pkl");
      if (named && (!entry || name.size() < entry->name.size())) entry = &candidate;
    }
    if (!entry) base::fail("SX1110", "the saved state has no data.pkl");
    const std::string root(entry->name.substr(0, entry->name.size() - kPickle.size()));
    const ZipEntry* order = archive->find(root + "byteorder");
    if (order && archive->read(*order).text() == "big")
      base::fail("SX1103", "the archive was written on a big-endian machine");
    folder = root + "data/";
    data = archive->read(*entry);
  }

  std::shared_ptr<const ZipReader> archive;
  std::string folder;
  Bytes data;
};

}  // namespace

TensorTable read_state_dict(Bytes bytes) {
  const SavedArchive saved(std::move(bytes));
  const Pickle pickle(saved.data.data);
  if (pickle.root().kind != Kind::kDictionary)
    base::fail("SX1110", "the saved state is no dictionary");
  const StateDict reader(pickle, saved.folder);
  TensorTable table;
  table.archive = saved.archive;
  for (std::size_t i = 0; i + 1 < pickle.root().items.size(); i += 2) {
    const PickleItem& key = *pickle.item(pickle.root(), i);
    if (key.kind != Kind::kText) continue;
    table.tensors.insert_or_assign(key.text, reader.tensor(*pickle.item(pickle.root(), i + 1)));
  }
  return table;
}

TensorTable read_saved_tensor(Bytes bytes, const std::string& name) {
  const SavedArchive saved(std::move(bytes));
  const Pickle pickle(saved.data.data);
  TensorTable table;
  table.archive = saved.archive;
  table.tensors.emplace(name, StateDict(pickle, saved.folder).tensor(pickle.root()));
  return table;
}

}  // namespace sardonyx::archive
