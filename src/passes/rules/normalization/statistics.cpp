#include "passes/rules/normalization/statistics.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace sardonyx::passes {

namespace {

// How many of the last axes these are; nothing where they are others.
std::optional<std::size_t> trailing(const onnx::ValueInfo* axes, std::size_t rank) {
  const auto list = axes->constant == nullptr ? std::nullopt : axes->constant->ints();
  if (!list || list->empty() || list->size() > rank) return std::nullopt;
  std::vector<bool> reduced(rank, false);
  for (std::int64_t axis : *list) {
    if (axis < 0) axis += static_cast<std::int64_t>(rank);
    if (axis < 0 || axis >= static_cast<std::int64_t>(rank)) return std::nullopt;
    reduced[static_cast<std::size_t>(axis)] = true;
  }
  for (std::size_t i = rank - list->size(); i < rank; ++i)
    if (!reduced[i]) return std::nullopt;
  return list->size();
}

bool has_dims(const onnx::ValueInfo* value, const std::vector<std::int64_t>& dims) {
  return value->has_rank && std::ranges::equal(value->shape, dims, [](symbolic::Expr a, auto b) {
           return a.known() && a.is(b);
         });
}

}  // namespace

std::optional<Normalized> normalized(const onnx::ValueInfo* x, const onnx::Node* mean,
                                     double epsilon, onnx::ValueInfo* scale, onnx::Node* root,
                                     rewriting::RuleContext& context) {
  const auto declined = [&](std::string reason) {
    context.decline(root, std::move(reason));
    return std::nullopt;
  };
  if (!x->has_rank) return declined("the rank is not known");
  const auto count = trailing(mean->input(1), x->shape.size());
  if (!count) return declined("the axes are not the last ones");
  std::vector<std::int64_t> dims;
  for (std::size_t i = x->shape.size() - *count; i < x->shape.size(); ++i) {
    if (!x->shape[i].known() || !x->shape[i].is_constant())
      return declined("the sizes that are normalized over are not constant");
    dims.push_back(x->shape[i].value());
  }
  const auto narrow = static_cast<float>(epsilon);
  if (x->dtype == onnx::DType::kFloat64 && double{narrow} != epsilon)
    return declined("float32, the type of the attribute, does not hold epsilon");
  const auto ones = onnx::Tensor::filled(x->dtype, std::move(dims), 1);
  if (scale == nullptr)
    scale = context.model().add_constant(ones);
  else if (!has_dims(scale, ones.dims))
    return declined("what it is scaled by is not of the sizes normalized over");
  return Normalized{-static_cast<std::int64_t>(*count), narrow, scale};
}

bool same_axes(const onnx::ValueInfo* x, const onnx::ValueInfo* a, const onnx::ValueInfo* b) {
  if (a == b) return true;
  if (!x->has_rank || a->constant == nullptr || b->constant == nullptr) return false;
  auto of_a = a->constant->ints(), of_b = b->constant->ints();
  if (!of_a || !of_b) return false;
  for (auto* axes : {&*of_a, &*of_b}) {
    for (std::int64_t& axis : *axes)
      if (axis < 0) axis += static_cast<std::int64_t>(x->shape.size());
    std::ranges::sort(*axes);
  }
  return of_a == of_b;
}

}  // namespace sardonyx::passes
