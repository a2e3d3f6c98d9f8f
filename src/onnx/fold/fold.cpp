#include "onnx/fold/fold.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <string>
#include <unordered_map>

#include "onnx/fold/folders.h"

namespace sardonyx::onnx {
namespace folding {
namespace {

using Table = std::unordered_map<std::string_view, Folder>;

Table make_table() {
  Table table;
  for (const auto entries :
       {elementwise_folders(), movement_folders(), product_folders(), reduction_folders(),
        creation_folders(), function_folders(), placement_folders()}) {
    for (const Entry& entry : entries) table.emplace(entry.op_type, entry.fold);
  }
  return table;
}

// What lies in strides is copied first; more than so many elements are left to passes on weights.
constexpr std::int64_t kMaxCopied = std::int64_t{1} << 20;

// Constants that are small enough and whole.
bool usable(const ValueInfo* value, Weights weights, std::int64_t most_elements) {
  if (value->constant == nullptr || (value->is_weight && weights == Weights::kKeep)) return false;
  const Tensor& tensor = *value->constant;
  return !tensor.missing && tensor.is_materialized() && base::bit_width(tensor.dtype) >= 8 &&
         tensor.element_count() <= (tensor.contiguous() ? most_elements : kMaxCopied);
}

}  // namespace

std::int64_t Operands::most_elements() const {
  return weights == Weights::kFold ? kMaxFoldedWeight : std::int64_t{1} << 18;
}

std::optional<std::int64_t> Operands::count(const Dims& dims) const {
  // Also without the sizes that are 0, so that no product of some of them is beyond 64 bits.
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) {
    if (dim < 0 || (dim != 0 && count > most_elements() / dim)) return std::nullopt;
    count *= std::max<std::int64_t>(dim, 1);
  }
  return std::ranges::find(dims, 0) != dims.end() ? 0 : count;
}

bool rounds_off(const Operands& o) {
  return o.weights == Weights::kFold && o.at(0) != nullptr && base::is_floating(o.at(0)->dtype) &&
         base::bit_width(o.at(0)->dtype) <= 32;
}

Dims row_major(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

std::optional<Dims> broadcast(const Dims& a, const Dims& b) {
  Dims result(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    result[result.size() - 1 - i] = x == 1 ? y : x;
  }
  return result;
}

Dims broadcast_strides(const Dims& dims, const Dims& to) {
  const Dims own = row_major(dims);
  Dims strides(to.size(), 0);
  const std::size_t lead = to.size() - dims.size();
  for (std::size_t i = 0; i < dims.size(); ++i) strides[lead + i] = dims[i] == 1 ? 0 : own[i];
  return strides;
}

Tensor gathered(const Tensor& from, Dims dims, const std::vector<std::int64_t>& source) {
  const std::int64_t width = base::bit_width(from.dtype) / 8;
  std::vector<std::byte> bytes(source.size() * static_cast<std::size_t>(width));
  for (std::size_t i = 0; i < source.size(); ++i) {
    std::copy_n(from.data + source[i] * width, width,
                bytes.data() + static_cast<std::int64_t>(i) * width);
  }
  return Tensor::of_bytes(from.dtype, std::move(dims), bytes);
}

Tensor strided(const Tensor& from, Dims dims, std::int64_t first, const Dims& strides) {
  const std::int64_t width = base::bit_width(from.dtype) / 8;
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) count *= dim;
  std::vector<std::byte> bytes(static_cast<std::size_t>(count * width));
  each_index(dims, [&](std::int64_t i, const Dims& index) {
    const std::int64_t at = std::inner_product(index.begin(), index.end(), strides.begin(), first);
    std::copy_n(from.data + at * width, width, bytes.data() + i * width);
  });
  return Tensor::of_bytes(from.dtype, std::move(dims), bytes);
}

std::optional<std::vector<std::int64_t>> axes_of(const Operands& operands, std::size_t index,
                                                 std::int64_t rank) {
  std::vector<std::int64_t> axes;
  if (const Tensor* given = operands.at(index)) {
    const auto ints = given->ints();
    if (!ints) return std::nullopt;
    axes = *ints;
  } else if (const auto* attribute = operands.node.ints("axes")) {
    axes = *attribute;
  } else {
    return std::nullopt;
  }
  for (std::int64_t& axis : axes) {
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return std::nullopt;
  }
  return axes;
}

}  // namespace folding

std::vector<Tensor> fold(const Node& node, Weights weights) {
  static const folding::Table table = folding::make_table();
  if (!node.domain.empty()) return {};
  const auto found = table.find(node.op_type);
  if (found == table.end()) return {};
  folding::Operands operands{node, weights, {}};
  std::deque<Tensor> copies;  // of what lies in strides
  for (const ValueInfo* input : node.inputs) {
    if (input != nullptr && !folding::usable(input, weights, operands.most_elements())) return {};
    const Tensor* tensor = input != nullptr ? input->constant.get() : nullptr;
    if (tensor != nullptr && !tensor->contiguous()) {
      copies.push_back(folding::strided(*tensor, tensor->dims, 0, tensor->strides));
      tensor = &copies.back();
    }
    operands.inputs.push_back(tensor);
  }
  folding::Result result = found->second(operands);
  return result ? std::move(*result) : std::vector<Tensor>{};
}

}  // namespace sardonyx::onnx
