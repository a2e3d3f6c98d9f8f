#include "frontends/pt2/weights.h"

#include <optional>
#include <utility>

#include "frontends/pt2/enums.h"
#include "frontends/pt2/json.h"
#include "program/ir/extent.h"

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
  program::check_extent(*weight, *storage);
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
