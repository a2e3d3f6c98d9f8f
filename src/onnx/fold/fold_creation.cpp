// Operators that make tensors out of shapes and numbers.
#include <algorithm>
#include <cmath>

#include "onnx/fold/folders.h"

namespace sardonyx::onnx::folding {
namespace {

// A large result is better made by the runtime than carried in the file.
constexpr std::int64_t kMaxMade = 4096;

Result shape(const Operands& o) {
  const Tensor* x = o.at(0);
  if (x == nullptr) return {};
  const auto rank = static_cast<std::int64_t>(x->dims.size());
  const auto clamp = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const std::int64_t start = clamp(o.node.int_or("start", 0));
  const std::int64_t end = std::max(start, clamp(o.node.int_or("end", rank)));
  const Dims part(x->dims.begin() + start, x->dims.begin() + end);
  return {{Tensor::of_ints(part, {end - start})}};
}

Result size(const Operands& o) {
  if (o.at(0) == nullptr) return {};
  return {{Tensor::of_int(o.at(0)->element_count())}};
}

Result constant_of_shape(const Operands& o) {
  const auto dims = o.at(0) != nullptr ? o.at(0)->ints() : std::nullopt;
  if (!dims) return {};
  const auto count = o.count(*dims);
  if (!count || *count > kMaxMade) return {};
  const Attribute* value = o.node.find("value");
  if (value == nullptr) return {{Tensor::filled(DType::kFloat32, *dims, 0)}};
  const auto* tensor = std::get_if<std::shared_ptr<const Tensor>>(&value->data);
  if (tensor == nullptr || base::bit_width((*tensor)->dtype) < 8) return {};
  return {
      {gathered(**tensor, *dims, std::vector<std::int64_t>(static_cast<std::size_t>(*count), 0))}};
}

// Integers only: how many steps a float range has depends on rounding.
Result range(const Operands& o) {
  for (std::size_t i = 0; i < 3; ++i) {
    if (o.at(i) == nullptr || o.at(i)->dtype != DType::kInt64) return {};
    if (o.at(i)->element_count() != 1) return {};
  }
  const std::int64_t start = o.at(0)->ints()->front(), limit = o.at(1)->ints()->front();
  const std::int64_t delta = o.at(2)->ints()->front();
  if (delta == 0) return {};
  const double exact = std::ceil((static_cast<double>(limit) - static_cast<double>(start)) /
                                 static_cast<double>(delta));
  if (exact > static_cast<double>(kMaxMade)) return {};
  const auto count = std::max<std::int64_t>(static_cast<std::int64_t>(exact), 0);
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(start + i * delta);
  return {{Tensor::of_ints(values, {count})}};
}

constexpr Entry kEntries[] = {
    {"ConstantOfShape", constant_of_shape},
    {"Range", range},
    {"Shape", shape},
    {"Size", size},
};

}  // namespace

std::span<const Entry> creation_folders() { return kEntries; }

}  // namespace sardonyx::onnx::folding
