// Tensors made of shapes and numbers, random ones among them.
#include <cmath>

#include "onnx/infer/inference.h"

namespace sardonyx::onnx {
namespace {

void constant(Inference& node) {
  const Attribute* value = node.node().find("value");
  const auto* tensor =
      value == nullptr ? nullptr : std::get_if<std::shared_ptr<const Tensor>>(&value->data);
  if (tensor == nullptr || *tensor == nullptr) return;
  node.set_dtype(0, (*tensor)->dtype);
  node.set_shape(0, Shape((*tensor)->dims.begin(), (*tensor)->dims.end()));
}

void constant_of_shape(Inference& node) {
  const Attribute* value = node.node().find("value");
  const auto* tensor =
      value == nullptr ? nullptr : std::get_if<std::shared_ptr<const Tensor>>(&value->data);
  node.set_dtype(0, tensor == nullptr ? DType::kFloat32 : (*tensor)->dtype);
  auto shape = node.contents(0);
  if (!shape) return;
  if (tensor != nullptr && shape->size() == 1 && shape->front().is_constant()) {
    const std::int64_t count = shape->front().value();
    const auto element = (*tensor)->ints();
    if (element && element->size() == 1 && count > 0 && count < 64)
      node.set_contents(0, std::vector<Expr>(static_cast<std::size_t>(count), element->front()));
  }
  node.set_shape(0, std::move(*shape));
}

void range(Inference& node) {
  node.set_rank(0, 1);
  const auto start = node.contents(0), limit = node.contents(1);
  const auto delta = node.ints(2);
  const bool scalars =
      start && limit && delta && start->size() == 1 && limit->size() == 1 && delta->size() == 1;
  if (base::is_integer(node.dtype(0)) && scalars && delta->front() != 0) {
    const std::int64_t step = delta->front();
    const Expr span = step > 0 ? limit->front() - start->front() : start->front() - limit->front();
    const Expr count = symbolic::ceil_div(span, step > 0 ? step : -step);
    if (count.is_constant())
      node.set_shape(0, {std::max<std::int64_t>(0, count.value())});
    else if (count.known())
      node.set_shape(0, {symbolic::certainly_nonnegative(span) ? count : symbolic::max(count, 0)});
    return;
  }
  double bounds[3];
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& value = node.node().input(i)->constant;
    const auto reals = value == nullptr ? std::nullopt : value->reals();
    if (!reals || reals->size() != 1) return;
    bounds[i] = reals->front();
  }
  const double count = std::ceil((bounds[1] - bounds[0]) / bounds[2]);
  if (std::isfinite(count)) node.set_shape(0, {static_cast<std::int64_t>(std::max(count, 0.0))});
}

void eye_like(Inference& node) {
  node.same_as(0, 0);
  if (node.node().find("dtype") != nullptr)
    node.set_dtype(0, static_cast<DType>(node.integer("dtype", 1)));
}

void random_of_shape(Inference& node) {
  node.set_dtype(0, static_cast<DType>(node.integer("dtype", 1)));
  if (const auto* shape = node.list("shape"))
    node.set_shape(0, Shape(shape->begin(), shape->end()));
}

void random_like(Inference& node) {
  node.same_as(0, 0);
  if (node.node().find("dtype") != nullptr)
    node.set_dtype(0, static_cast<DType>(node.integer("dtype", 1)));
}

void multinomial(Inference& node) {
  node.set_dtype(0, static_cast<DType>(node.integer("dtype", 6)));
  if (node.has_rank(0, 1)) node.set_shape(0, {node.shape(0)[0], node.integer("sample_size", 1)});
}

constexpr InferenceRule kRules[] = {
    {Op::kConstant, constant},
    {Op::kConstantOfShape, constant_of_shape},
    {Op::kRange, range},
    {Op::kEyeLike, eye_like},
    {Op::kRandomNormal, random_of_shape},
    {Op::kRandomUniform, random_of_shape},
    {Op::kRandomNormalLike, random_like},
    {Op::kRandomUniformLike, random_like},
    {Op::kBernoulli, random_like},
    {Op::kMultinomial, multinomial},
};

}  // namespace

std::span<const InferenceRule> creation_rules() { return kRules; }

}  // namespace sardonyx::onnx
