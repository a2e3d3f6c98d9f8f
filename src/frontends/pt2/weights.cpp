#include "frontends/pt2/weights.h"

#include <optional>
#include <utility>

#include "frontends/pt2/enums.h"
#include "frontends/pt2/json.h"

namespace sardonyx::pt2 {
namespace {

using program::Storage;
using program::Weight;

std::int64_t fixed_size(Json json, std::string_view what) {
  const Tagged tagged = as_tagged(json, what);
  if (tagged.tag != "as_int") wrong_shape(what, "a number: the size of a weight is fixed");
  return as_integer(tagged.value, what);
}

std::vector<std::int64_t> fixed_sizes(Json json, std::string_view what) {
  std::vector<std::int64_t> sizes;
  for (const Json size : as_array(json, what)) sizes.push_back(fixed_size(size, what));
  return sizes;
}

StoredTensor payload(JsonObject json, const std::string& folder) {
  StoredTensor tensor;
  tensor.storage = folder + std::string(text_member(json, "path_name"));
  const auto pickled = find_member(json, "use_pickle");
  tensor.pickled = pickled && as_flag(*pickled, "use_pickle");
  if (tensor.pickled) return tensor;
  const auto meta = find_member(json, "tensor_meta");
  if (!meta) {
    tensor.unsupported = "an object";
    return tensor;
  }
  const JsonObject object = as_object(*meta, "tensor_meta");
  tensor.dtype = dtype_of(as_integer(member(object, "dtype"), "dtype"));
  tensor.shape = fixed_sizes(member(object, "sizes"), "sizes");
  tensor.strides = fixed_sizes(member(object, "strides"), "strides");
  tensor.offset = fixed_size(member(object, "storage_offset"), "storage_offset");
  return tensor;
}

// Elements of the storage that the tensor reaches over, 0 when it has none itself; nothing when a
// number is negative or the arithmetic leaves 64 bits.
std::optional<std::int64_t> extent(const Weight& weight) {
  if (weight.shape.size() != weight.strides.size() || weight.offset < 0) return std::nullopt;
  std::int64_t count = 1;
  std::int64_t last = weight.offset;
  bool empty = false;
  for (std::size_t i = 0; i < weight.shape.size(); ++i) {
    const std::int64_t size = weight.shape[i];
    const std::int64_t stride = weight.strides[i];
    if (size < 0 || stride < 0) return std::nullopt;
    empty = empty || size == 0;
    // An empty tensor's other sizes matter as well: they become a shape.
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(count, size > 0 ? size : 1, &count) ||
        __builtin_mul_overflow(size > 0 ? size - 1 : 0, stride, &reach) ||
        __builtin_add_overflow(last, reach, &last)) {
      return std::nullopt;
    }
  }
  if (empty) return 0;
  std::int64_t bytes = 0;  // of the tensor on its own: a stride of 0 must not make it endless
  if (__builtin_mul_overflow(count, std::int64_t{16}, &bytes) ||
      __builtin_add_overflow(last, std::int64_t{1}, &last) ||
      __builtin_mul_overflow(last, std::int64_t{16}, &bytes)) {
    return std::nullopt;
  }
  return last;
}

void check_extent(const Weight& weight, Storage& storage) {
  const std::string name = "the weight '" + weight.name + "'";
  const std::optional<std::int64_t> reach = extent(weight);
  if (!reach) base::fail("SX1108", name + " has negative sizes, or sizes beyond 64 bits");
  if (base::byte_size(weight.dtype, *reach) <= storage.size) return;
  // Programs captured under FakeTensorMode are saved with empty payloads.
  if (storage.size == 0) {
    storage.data = nullptr;
    return;
  }
  base::fail("SX1108", name + " reaches over " + std::to_string(*reach) + " elements of " +
                           std::string(base::dtype_name(weight.dtype)) +
                           ", but the file holds only " + std::to_string(storage.size) +
                           " bytes for it");
}

}  // namespace

TensorTable read_payload_config(std::shared_ptr<const ZipReader> archive, const ZipEntry& config,
                                const std::string& folder) {
  TensorTable table;
  JsonDocument document;
  const Bytes text = archive->read(config);
  const JsonObject root = as_object(document.parse(text.data, {}), "the payload configuration");
  for (const auto field : object_member(root, "config"))
    table.tensors.emplace(field.key, payload(as_object(field.value, field.key), folder));
  table.archive = std::move(archive);
  return table;
}

Storage* Weights::storage_of(Table& table, const StoredTensor& tensor) {
  const auto [found, is_new] = table.storages.try_emplace(tensor.storage, nullptr);
  if (!is_new) return found->second;
  const ZipEntry* entry = table.contents.archive->find(tensor.storage);
  if (!entry)
    base::fail("SX1107",
               "the archive has no entry '" + printable(tensor.storage) + "' with its bytes");
  Bytes bytes = table.contents.archive->read(*entry);
  Storage* storage = program_.add_storage();
  storage->size = static_cast<std::int64_t>(bytes.data.size());
  storage->data = bytes.data.data();
  storage->owner = std::move(bytes.owner);
  return found->second = storage;
}

const Weight* Weights::add_from(Table& table, const std::string& name, const StoredTensor& tensor) {
  if (!tensor.unsupported.empty()) {
    base::fail("SX1222", "the weight '" + name + "' is " + tensor.unsupported,
               "convert it to a plain dense tensor before export");
  }
  if (tensor.pickled) {
    const ZipEntry* entry = table.contents.archive->find(tensor.storage);
    if (!entry)
      base::fail("SX1107", "the archive has no entry '" + printable(tensor.storage) + "'");
    add_table(read_saved_tensor(table.contents.archive->read(*entry), name));
    return add_from(tables_.back(), name, tables_.back().contents.tensors.at(name));
  }
  Weight* weight = program_.add_weight();
  weight->name = name;
  weight->dtype = tensor.dtype;
  weight->shape = tensor.shape;
  weight->strides = tensor.strides;
  weight->offset = tensor.offset;
  Storage* storage = storage_of(table, tensor);
  weight->storage = storage;
  check_extent(*weight, *storage);
  return weight;
}

const Weight* Weights::add(std::string_view name) {
  const std::string key(name);
  for (Table& table : tables_) {
    const auto found = table.contents.tensors.find(key);
    if (found == table.contents.tensors.end()) continue;
    try {
      return add_from(table, key, found->second);
    } catch (base::Error& error) {
      error.within("in the weight '" + key + "'");
      throw;
    }
  }
  base::fail("SX1107", "the archive has no data for the weight '" + key + "'",
             "the file may be damaged: save it again");
}

}  // namespace sardonyx::pt2
