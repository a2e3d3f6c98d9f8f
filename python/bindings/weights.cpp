// Weights of a model, replaced by live tensors.
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bindings.h"
#include "frontends/live/tensors.h"
#include "onnx/ir.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx::bindings {
namespace nb = nanobind;
using namespace nb::literals;

namespace {

// The tensor's bytes, borrowed. Complex numbers are pairs of reals, as everywhere in a model.
onnx::Tensor borrow(const live::LiveTensor& live) {
  onnx::Tensor tensor;
  tensor.dtype = base::real_of(live.dtype);
  tensor.dims = live.shape;
  tensor.strides = live.strides;
  if (base::is_complex(live.dtype)) {
    for (std::int64_t& stride : tensor.strides) stride *= 2;
    tensor.dims.push_back(2);
    tensor.strides.push_back(1);
  }
  if (const std::byte* data = live.storage_data()) {
    tensor.data = data + base::byte_size(live.dtype, live.offset);
  }
  tensor.missing = !tensor.data && tensor.element_count() != 0;
  tensor.owner = live.owner();
  return tensor;
}

// The axes in the order that a pass has given them; dims that do not fit are told as they are.
void turn(onnx::Tensor& tensor, const std::vector<std::int64_t>& axes) {
  if (axes.empty() || axes.size() != tensor.dims.size()) return;
  if (tensor.strides.empty()) {
    tensor.strides.assign(axes.size(), 1);
    for (std::size_t i = axes.size() - 1; i-- > 0;)
      tensor.strides[i] = tensor.strides[i + 1] * tensor.dims[i + 1];
  }
  onnx::Tensor turned = tensor;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    turned.dims[i] = tensor.dims[static_cast<std::size_t>(axes[i])];
    turned.strides[i] = tensor.strides[static_cast<std::size_t>(axes[i])];
  }
  tensor = std::move(turned);
}

std::string text_of(base::DType dtype, const std::vector<std::int64_t>& dims) {
  std::string text(base::dtype_name(dtype));
  text += '[';
  for (std::size_t i = 0; i < dims.size(); ++i) {
    text += (i ? ", " : "") + std::to_string(dims[i]);
  }
  return text + "]";
}

std::unordered_map<std::string_view, onnx::ValueInfo*> weights_of(const onnx::Model& model) {
  std::unordered_map<std::string_view, onnx::ValueInfo*> weights;
  for (onnx::ValueInfo* value : model.initializers) {
    if (value->is_weight && value->constant) weights.emplace(value->name, value);
  }
  return weights;
}

nb::list weight_names(const Model& model) {
  nb::list names;
  for (const auto& [name, value] : weights_of(model.internal())) {
    names.append(nb::str(name.data(), name.size()));
  }
  return names;
}

// What does not fit; nothing is replaced then.
nb::list apply_weights(Model& model, const nb::dict& tensors) {
  const auto weights = weights_of(model.internal());
  std::vector<std::pair<onnx::ValueInfo*, onnx::Tensor>> replacements;
  nb::list problems;
  for (const auto& [key, value] : tensors) {
    const std::string name = nb::str(key).c_str();
    const auto found = weights.find(name);
    if (found == weights.end()) {
      problems.append(nb::str(("the model has no weight '" + name + "'").c_str()));
      continue;
    }
    onnx::Tensor tensor = borrow(live::look_at(name, value));
    if (found->second->is_folded) {
      const std::string problem = "'" + name +
                                  "' has been worked into other weights; export with "
                                  "optimize=False to replace it";
      problems.append(nb::str(problem.c_str()));
      continue;
    }
    const onnx::Tensor& old = *found->second->constant;
    const auto& program_dims = found->second->weight_dims;
    turn(tensor, found->second->weight_axes);
    if (!program_dims.empty() && tensor.dims == program_dims)
      tensor = onnx::with_dims(tensor, old.dims).value();
    if (tensor.dtype != old.dtype || tensor.dims != old.dims) {
      const std::string problem =
          "'" + name + "' is " +
          text_of(old.dtype, program_dims.empty() ? old.dims : program_dims) +
          " in the model, and " + text_of(tensor.dtype, tensor.dims) + " here";
      problems.append(nb::str(problem.c_str()));
      continue;
    }
    replacements.emplace_back(found->second, std::move(tensor));
  }
  if (nb::len(problems) > 0) return problems;
  for (auto& [value, tensor] : replacements) {
    value->constant = std::make_shared<const onnx::Tensor>(std::move(tensor));
  }
  return problems;
}

}  // namespace

void bind_weights(nb::module_& module) {
  module.def("weight_names", &weight_names, "model"_a, "The weights by name.");
  module.def("apply_weights", &apply_weights, "model"_a, "tensors"_a,
             "Replaces weights by tensors; returns what does not fit, and replaces nothing then.");
}

}  // namespace sardonyx::bindings
