// Before: y = MatMul(x, w), w being the transpose of what lies in a file
// After:  turned = Transpose(w); y = MatMul(x, turned), w as it lies in the file
// A model that refers to the files of its weights can have them in no other form: what else it
// needs (axes in another order, another floating type) is computed by nodes at its beginning,
// which runtimes compute once as they load it.
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "onnx/graph/recipe.h"
#include "passes/passes.h"

namespace sardonyx::passes {
namespace {

using onnx::DType;
using onnx::Graph;
using onnx::Node;
using onnx::Tensor;
using onnx::ValueInfo;

using Axes = std::vector<std::int64_t>;

// A tensor as it lies, and what it takes to make another of it.
struct Lying {
  Tensor tensor;
  Axes axes;                 // axis i of what is made is axis axes[i]; empty where none moves
  std::vector<DType> casts;  // one after the other
};

// The axes of strides, longest first; those of size 1 can stand anywhere.
Axes by_stride(const Tensor& tensor) {
  Axes order(tensor.dims.size());
  std::iota(order.begin(), order.end(), 0);
  const auto at = [](const Axes& list, std::int64_t i) {
    return list[static_cast<std::size_t>(i)];
  };
  std::ranges::stable_sort(order, [&](std::int64_t a, std::int64_t b) {
    const bool one_a = at(tensor.dims, a) == 1, one_b = at(tensor.dims, b) == 1;
    if (one_a || one_b) return one_a && !one_b;
    return at(tensor.strides, a) > at(tensor.strides, b);
  });
  return order;
}

Tensor turned_back(const Tensor& tensor, const Axes& order) {
  Tensor lying = tensor;
  for (std::size_t i = 0; i < order.size(); ++i) {
    lying.dims[i] = tensor.dims[static_cast<std::size_t>(order[i])];
    lying.strides[i] = tensor.strides[static_cast<std::size_t>(order[i])];
  }
  return lying;
}

// Nothing for what is computed otherwise, and for parts of what lies there.
std::optional<Lying> lying(const Tensor& tensor) {
  if (tensor.data == nullptr || tensor.element_count() == 0 ||
      base::bit_width(tensor.stored_dtype()) < 8 || onnx::derivation_of(tensor) != nullptr)
    return std::nullopt;
  Lying found;
  if (!tensor.is_materialized()) {
    for (const onnx::Computation& each : tensor.recipe->computations) {
      const auto* const move = std::get_if<onnx::CastWithOffset>(&each.step);
      if (move == nullptr || move->by != 0) return std::nullopt;
      found.casts.push_back(move->dtype);
    }
  }
  found.tensor = tensor;
  found.tensor.dtype = tensor.stored_dtype();
  found.tensor.recipe = nullptr;
  if (tensor.contiguous()) {
    found.tensor.strides.clear();
    return found;
  }
  const Axes order = by_stride(tensor);
  found.tensor = turned_back(found.tensor, order);
  if (!found.tensor.contiguous()) return std::nullopt;
  found.tensor.strides.clear();
  found.axes.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    found.axes[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  return found;
}

bool is_of_main(const onnx::Model& model, const Graph* graph) {
  while (graph != nullptr && graph->parent != nullptr) graph = graph->parent;
  return graph == model.graph;
}

bool may_change(const onnx::Model& model, const ValueInfo* value) {
  return value->names != nullptr && value->constant != nullptr && value->returns.empty() &&
         !value->is_pinned && value->carried == nullptr && onnx::has_uses(value) &&
         std::ranges::all_of(
             value->uses, [&](const onnx::Use& use) { return is_of_main(model, use.node->graph); });
}

void set_type(ValueInfo* value, DType dtype, const Axes& dims) {
  value->dtype = dtype;
  value->has_rank = true;
  value->shape.assign(dims.begin(), dims.end());
}

class Maker {
 public:
  explicit Maker(onnx::Model& model) : model_(model), first_(model.graph->first) {}

  // `weight` becomes what lies in the file; everything that read it reads what is made of that.
  void replace(ValueInfo* weight, Lying how) {
    ValueInfo* made = model_.add_value(weight->name + "_made");
    set_type(made, weight->dtype, weight->constant->dims);
    made->graph = model_.graph;
    onnx::replace_all_uses(weight, made);
    ValueInfo* const last = made;
    set_type(weight, how.tensor.dtype, how.tensor.dims);
    ValueInfo* from = weight;
    const std::size_t steps = how.casts.size() + (how.axes.empty() ? 0 : 1);
    for (std::size_t i = 0; i < steps; ++i) {
      const bool casts = i < how.casts.size();
      Node* const node = model_.add_node(casts ? "Cast" : "Transpose", "");
      onnx::insert_before(first_, node);
      onnx::add_input(node, from);
      if (casts) {
        onnx::set_attribute(node, "to", how.casts[i]);
      } else {
        onnx::set_attribute(node, "perm", how.axes);
      }
      if (i + 1 < steps) {
        made = model_.add_value(weight->name + "_made");
        set_type(made, how.casts[i], how.tensor.dims);
      } else {
        made = last;
      }
      onnx::add_output(node, made);
      model_.name_node(node, made->name);
      from = made;
    }
    weight->constant = std::make_shared<const Tensor>(std::move(how.tensor));
  }

 private:
  onnx::Model& model_;
  Node* first_;
};

}  // namespace

std::int64_t reference_external_weights(onnx::Model& model,
                                        const std::function<bool(const onnx::Tensor&)>& stays) {
  std::int64_t count = 0;
  if (model.graph->first == nullptr) return count;
  Maker maker(model);
  for (ValueInfo* value : model.initializers) {
    if (!may_change(model, value)) continue;
    std::optional<Lying> how = lying(*value->constant);
    if (!how || (how->axes.empty() && how->casts.empty()) || !stays(how->tensor)) continue;
    maker.replace(value, *std::move(how));
    ++count;
  }
  return count;
}

}  // namespace sardonyx::passes
