#include "program/ir/extent.h"

#include <optional>
#include <string>

#include "base/diagnostic.h"

namespace sardonyx::program {
namespace {

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

}  // namespace

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

}  // namespace sardonyx::program
