// The storages that tensors in archives lie in.
#pragma once

#include <optional>
#include <string_view>

#include "base/dtype.h"

namespace sardonyx::archive {

// Of "torch FloatStorage", as pickles name it; nothing where there is no such storage.
std::optional<base::DType> dtype_of_storage(std::string_view type);

}  // namespace sardonyx::archive
