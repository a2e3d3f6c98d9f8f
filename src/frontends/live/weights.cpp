#include "frontends/live/weights.h"

#include <utility>

#include "frontends/live/tensors.h"

namespace sardonyx::live {

const program::Weight* Weights::add(std::string_view name, nanobind::handle tensor) {
  LiveTensor live = look_at(name, tensor);
  program::Storage*& storage = known_[live.storage_address()];
  if (!storage) {
    storage = program_.add_storage();
    storage->size = live.storage_bytes();
    storage->data = live.storage_data();
    // The storage rather than the tensor: `module.weight = other` must not free what we point to.
    // Kept for fake tensors too, so that no later storage can have the same address.
    storage->owner = live.owner();
  }
  program::Weight* weight = program_.add_weight();
  weight->name = name;
  weight->dtype = live.dtype;
  weight->shape = std::move(live.shape);
  weight->strides = std::move(live.strides);
  weight->offset = live.offset;
  weight->storage = storage;
  return weight;
}

}  // namespace sardonyx::live
