#include "frontends/torchscript/recording/weights.h"

#include <algorithm>
#include <cstring>

#include "program/ir/extent.h"
#include "program/ir/strides.h"

namespace sardonyx::torchscript {

using program::Value;
using symbolic::Expr;

const program::Weight* Weights::stored_weight(const StoredTensor& stored) {
  if (options_.weight) {
    if (const program::Weight* found = options_.weight(program_, stored.name)) return found;
  }
  const auto [storage, is_new_storage] = storages_.try_emplace(stored.storage, nullptr);
  if (is_new_storage) {
    archive::Bytes bytes = archive_.storage(stored.storage);
    storage->second = program_.add_storage();
    storage->second->data = bytes.data.data();
    storage->second->size = static_cast<std::int64_t>(bytes.data.size());
    storage->second->owner = std::move(bytes.owner);
  }
  program::Weight* weight = program_.add_weight();
  weight->name = stored.name;
  weight->dtype = stored.dtype;
  weight->shape = stored.shape;
  weight->strides = stored.strides;
  weight->offset = stored.offset;
  weight->storage = storage->second;
  program::check_extent(*weight, *storage->second);
  return weight;
}

AbstractValue Weights::read(const StoredTensor& stored, program::InputKind kind) {
  const auto [found, is_new] = weights_.try_emplace(stored.name, nullptr);
  if (!is_new) return AbstractValue::of_tensor(found->second);
  const program::Weight* weight = stored_weight(stored);
  Value* value = program_.add_value();
  value->name = stored.name;
  std::ranges::replace(value->name, '.', '_');
  value->dtype = weight->dtype;
  for (const std::int64_t size : weight->shape) value->shape.emplace_back(size);
  for (const std::int64_t stride : weight->strides) value->strides.emplace_back(stride);
  program::drop_contiguous_strides(*value);
  value->weight = weight;
  program_.inputs.push_back({kind, value, stored.name, true});
  found->second = value;
  return AbstractValue::of_tensor(value);
}

void Weights::read_held(const AbstractValue& container) {
  for (AbstractValue& item : container.held->items) {
    if (item.kind == AbstractValue::Kind::kStored)
      item = read(*item.stored, program::InputKind::kBuffer);
    if (item.held && item.kind != AbstractValue::Kind::kObject) read_held(item);
  }
}

std::vector<std::int64_t> Weights::stored_integers(const StoredTensor& stored) const {
  std::vector<std::int64_t> made;
  const bool is_plain = stored.dtype == base::DType::kInt16 && stored.shape.size() == 1 &&
                        stored.offset == 0 && stored.strides == std::vector<std::int64_t>{1};
  if (!is_plain || stored.shape[0] < 0) return made;
  const archive::Bytes bytes = archive_.storage(stored.storage);
  std::int16_t number = 0;
  if (static_cast<std::uint64_t>(stored.shape[0]) > bytes.data.size() / sizeof number) return made;
  for (std::int64_t i = 0; i < stored.shape[0]; ++i) {
    std::memcpy(&number, bytes.data.data() + i * 2, sizeof number);
    made.push_back(number);
  }
  return made;
}

std::optional<Expr> Weights::constant_integer(const StoredTensor& stored) const {
  if (stored.dtype != base::DType::kInt64 || !stored.shape.empty()) return std::nullopt;
  const archive::Bytes bytes = archive_.storage(stored.storage);
  std::int64_t number = 0;
  if (stored.offset < 0 ||
      static_cast<std::uint64_t>(stored.offset) + 1 > bytes.data.size() / sizeof number)
    return std::nullopt;
  std::memcpy(&number, bytes.data.data() + stored.offset * 8, sizeof number);
  return Expr(number);
}

}  // namespace sardonyx::torchscript
