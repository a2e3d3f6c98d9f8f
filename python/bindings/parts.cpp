// The parts of models, and models made of parts: nodes, parts of graphs, weights as arrays.
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "bindings.h"
#include "onnx/graph/branches.h"
#include "onnx/graph/extract.h"
#include "onnx/graph/ir.h"
#include "onnx/graph/shared_constants.h"
#include "proto/reader/read.h"
#include "refresh/record.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx::bindings {
namespace nb = nanobind;
using namespace nb::literals;

namespace {

// The bytes stay what they are for as long as tensors borrow from them.
Model parse(const nb::bytes& bytes) {
  auto owner = std::make_shared<const std::string>(bytes.c_str(), bytes.size());
  return Model(proto::parse(std::as_bytes(std::span(*owner)), owner));
}

// The captured node that a node came from: of a model that was read, as its metadata says it, which
// is the last entry of a list of quoted texts.
std::string captured_node(const onnx::Node& node) {
  if (node.origin) return node.origin->captured_node;
  for (const auto& [key, scopes] : node.metadata) {
    if (key != "pkg.torch.onnx.name_scopes" || scopes.size() < 4) continue;
    const std::size_t end = scopes.size() - 2;  // of the quote before the bracket
    const std::size_t begin = scopes.rfind(scopes[end], end - 1);
    if (begin != std::string::npos) return scopes.substr(begin + 1, end - begin - 1);
  }
  return {};
}

// The nodes of the main graph: (name, domain, operator, captured node, outputs, whether all of
// their types are known).
nb::list nodes(const Model& model) {
  nb::list result;
  for (const onnx::Node* node = model.internal().graph->first; node; node = node->next) {
    nb::list outputs;
    bool typed = true;
    for (const onnx::ValueInfo* output : node->outputs) {
      outputs.append(output ? nb::cast(output->name) : nb::cast(std::string()));
      typed = typed && (!output || output->dtype != base::DType::kUndefined);
    }
    result.append(nb::make_tuple(node->name, node->domain, node->op_type, captured_node(*node),
                                 outputs, typed));
  }
  return result;
}

// The path of the module that each node of the main graph came from, "encoder.layers.0"; empty
// where it came from none, or a file does not say so.
std::vector<std::string> module_paths(const Model& model) {
  std::vector<std::string> result;
  for (const onnx::Node* node = model.internal().graph->first; node; node = node->next) {
    const bool known = node->origin && !node->origin->scopes.empty();
    result.push_back(known ? node->origin->scopes.back() : std::string());
  }
  return result;
}

// The constants that have names of their own: (name, dtype, dims, bytes, is a weight,
// lies in memory as it is).
nb::list constants(const Model& model) {
  nb::list result;
  for (const onnx::ValueInfo* value : model.internal().initializers) {
    if (!value->constant || !onnx::has_uses(value)) continue;
    const onnx::Tensor& tensor = *value->constant;
    const bool in_memory =
        !tensor.missing && tensor.is_materialized() && (tensor.data || tensor.element_count() == 0);
    result.append(nb::make_tuple(value->name, static_cast<int>(tensor.dtype), tensor.dims,
                                 tensor.byte_count(), value->is_weight, in_memory));
  }
  return result;
}

onnx::ValueInfo* find_constant(const Model& model, const std::string& name) {
  for (onnx::ValueInfo* value : model.internal().initializers) {
    if (value->constant && value->name == name) return value;
  }
  return nullptr;
}

// What NumPy has no name for passes as unsigned integers of its width.
nb::dlpack::dtype array_type(base::DType dtype) {
  using Code = nb::dlpack::dtype_code;
  const auto bits = static_cast<std::uint8_t>(base::bit_width(dtype));
  const auto type = [bits](Code code) {
    return nb::dlpack::dtype{static_cast<std::uint8_t>(code), bits, 1};
  };
  switch (dtype) {
    case base::DType::kBool:
      return type(Code::Bool);
    case base::DType::kFloat16:
    case base::DType::kFloat32:
    case base::DType::kFloat64:
      return type(Code::Float);
    default:
      return type(base::is_integer(dtype) && base::is_signed(dtype) ? Code::Int : Code::UInt);
  }
}

// Elements that are changed as they are read are made.
nb::object made_array(const onnx::Tensor& tensor) {
  auto* values = new std::vector<double>(tensor.reals().value());
  const nb::capsule owner(
      values, [](void* pointer) noexcept { delete static_cast<std::vector<double>*>(pointer); });
  const std::vector<std::size_t> shape(tensor.dims.begin(), tensor.dims.end());
  const nb::object array =
      nb::cast(nb::ndarray<nb::numpy, double>(values->data(), shape.size(), shape.data(), owner));
  const std::string_view dtype = base::dtype_name(tensor.dtype);
  return array.attr("astype")(nb::str(dtype.data(), dtype.size()));
}

// The elements where they lie, not to be written to. Types under 8 bits are their packed bytes.
nb::object constant_array(const Model& model, const std::string& name) {
  const onnx::ValueInfo* value = find_constant(model, name);
  if (!value || !value->constant->data) return nb::none();
  if (!value->constant->is_materialized()) return made_array(*value->constant);
  auto* held = new std::shared_ptr<const onnx::Tensor>(value->constant);
  const nb::capsule owner(held, [](void* pointer) noexcept {
    delete static_cast<std::shared_ptr<const onnx::Tensor>*>(pointer);
  });
  const onnx::Tensor& tensor = **held;
  using Array = nb::ndarray<nb::numpy, nb::ro>;
  if (base::bit_width(tensor.dtype) < 8) {
    const std::size_t size = static_cast<std::size_t>(tensor.byte_count());
    return nb::cast(Array(tensor.data, 1, &size, owner, nullptr, nb::dtype<std::uint8_t>()));
  }
  const std::vector<std::size_t> shape(tensor.dims.begin(), tensor.dims.end());
  const std::int64_t* strides = tensor.strides.empty() ? nullptr : tensor.strides.data();
  return nb::cast(
      Array(tensor.data, shape.size(), shape.data(), owner, strides, array_type(tensor.dtype)));
}

// Makes weights of the inputs named in `same` ((input, constant of `source`) each) and `given`
// ((input, dtype, dims, bytes or None) each).
void attach(Model& model, const Model& source, const nb::list& same, const nb::list& given) {
  onnx::Graph& graph = *model.internal().graph;
  std::unordered_map<std::string, onnx::ValueInfo*> inputs;
  for (onnx::ValueInfo* input : graph.inputs) inputs.emplace(input->name, input);
  const auto make_weight = [&](const std::string& name, std::shared_ptr<const onnx::Tensor> data,
                               bool is_weight) {
    const auto found = inputs.find(name);
    if (found == inputs.end()) base::fail("SX1501", "the model has no input '" + name + "'");
    onnx::ValueInfo* value = found->second;
    std::erase(graph.inputs, value);
    value->constant = std::move(data);
    value->is_weight = is_weight;
    model.internal().initializers.push_back(value);
  };
  for (const nb::handle entry : same) {
    const nb::tuple fields = nb::cast<nb::tuple>(entry);
    const onnx::ValueInfo* from = find_constant(source, nb::cast<std::string>(fields[1]));
    if (!from) continue;
    make_weight(nb::cast<std::string>(fields[0]), from->constant, from->is_weight);
  }
  for (const nb::handle entry : given) {
    const nb::tuple fields = nb::cast<nb::tuple>(entry);
    auto tensor = std::make_shared<onnx::Tensor>();
    tensor->dtype = static_cast<base::DType>(nb::cast<int>(fields[1]));
    tensor->dims = nb::cast<std::vector<std::int64_t>>(fields[2]);
    if (fields[3].is_none()) {
      tensor->missing = tensor->element_count() != 0;
    } else {
      const auto bytes =
          nb::cast<nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig>>(fields[3]);
      if (std::cmp_not_equal(bytes.size(), tensor->byte_count()))
        base::fail("SX1154", "the data of '" + nb::cast<std::string>(fields[0]) +
                                 "' does not fit its shape and element type");
      tensor->data = reinterpret_cast<const std::byte*>(bytes.data());
      tensor->owner = std::shared_ptr<const void>(
          new nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig>(bytes),
          [](const nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig>* held) {
            const nb::gil_scoped_acquire locked;
            delete held;
          });
    }
    make_weight(nb::cast<std::string>(fields[0]), std::move(tensor), true);
  }
}

// The nodes that read an input or output of the main graph: (domain, operator).
nb::list readers(const Model& model, const std::string& name) {
  nb::list found;
  const onnx::Graph& graph = *model.internal().graph;
  for (const auto* values : {&graph.inputs, &graph.outputs})
    for (const onnx::ValueInfo* value : *values)
      if (value->name == name)
        for (const onnx::Use& use : value->uses)
          found.append(nb::make_tuple(use.node->domain, use.node->op_type));
  return found;
}

// From here on an axis of an input, whose size is free, is known to be `most` or less.
void limit(Model& model, const std::string& input, std::size_t axis, std::int64_t most) {
  for (const onnx::ValueInfo* value : model.internal().graph->inputs)
    if (value->name == input && value->has_rank && axis < value->shape.size() &&
        value->shape[axis].is_symbol())
      model.internal().pool->constrain(value->shape[axis],
                                       {symbolic::range(value->shape[axis]).low, most});
}

// The least and the most that an axis of an input can be.
std::pair<std::int64_t, std::int64_t> bounds(const Model& model, const std::string& input,
                                             std::size_t axis) {
  for (const onnx::ValueInfo* value : model.internal().graph->inputs)
    if (value->name == input && value->has_rank && axis < value->shape.size()) {
      const symbolic::Range known = symbolic::range(value->shape[axis]);
      return {known.low, known.high};
    }
  return {0, std::numeric_limits<std::int64_t>::max()};
}

// What an input is where callers give nothing: zeros.
void set_zero_default(Model& model, const std::string& input, std::vector<std::int64_t> dims) {
  for (onnx::ValueInfo* value : model.internal().graph->inputs)
    if (value->name == input)
      value->initial = std::make_shared<const onnx::Tensor>(
          onnx::Tensor::filled(value->dtype, std::move(dims), 0.0));
}

std::vector<Model> split(const Model& model, const std::string& path, std::size_t layers,
                         std::size_t count) {
  const onnx::Model& whole = model.internal();
  const std::vector<std::size_t> stages = onnx::stages_by_layer(whole, path, layers, count);
  std::vector<Model> made;
  for (auto& part : onnx::split(whole, stages, count + 2)) made.emplace_back(std::move(part));
  return made;
}

std::vector<std::size_t> shared_constants(const std::vector<const Model*>& models,
                                          std::int64_t bytes) {
  std::vector<std::size_t> found(models.size());
  std::unordered_map<const onnx::Tensor*, std::size_t> first;
  for (std::size_t i = 0; i < models.size(); ++i)
    for (const onnx::ValueInfo* value : models[i]->internal().initializers) {
      if (value->constant == nullptr || value->constant->byte_count() < bytes) continue;
      const auto [known, is_new] = first.emplace(value->constant.get(), i);
      if (!is_new) ++found[known->second];
    }
  return found;
}

// Only what lies in a file of its own may stay there.
void take_constants(Model& model, const Model& source) {
  std::unordered_map<std::string_view, const onnx::ValueInfo*> known;
  for (const onnx::ValueInfo* value : source.internal().initializers)
    if (value->constant != nullptr) known.emplace(value->name, value);
  for (onnx::ValueInfo* value : model.internal().initializers) {
    const auto found = known.find(value->name);
    if (value->constant == nullptr || found == known.end()) continue;
    const onnx::Tensor& other = *found->second->constant;
    if (other.dtype == value->constant->dtype && other.dims == value->constant->dims)
      value->constant = found->second->constant;
  }
}

std::int64_t take_equal_constants(Model& model, const Model& source, const onnx::WeightNames& names,
                                  std::int64_t least) {
  return onnx::take_equal_constants(model.internal(), source.internal(), names, least);
}

}  // namespace

void bind_parts(nb::module_& module) {
  module.def("parse_model", &parse, "message"_a, "Reads an ONNX model that is in memory.");
  module.def("nodes", &nodes, "model"_a,
             "(name, domain, operator, captured node, outputs, typed) of the main graph's nodes.");
  module.def("readers", &readers, "model"_a, "name"_a,
             "(domain, operator) of the nodes that read an input or output of the main graph.");
  module.def("module_paths", &module_paths, "model"_a,
             "The path of the module that each of the main graph's nodes came from.");
  module.def("limit", &limit, "model"_a, "name"_a, "axis"_a, "most"_a,
             "Says the most that a free axis of an input can be.");
  module.def("set_zero_default", &set_zero_default, "model"_a, "name"_a, "dims"_a,
             "Has an input be zeros where callers leave it out.");
  module.def("bounds", &bounds, "model"_a, "name"_a, "axis"_a,
             "The least and the most that an axis of an input can be.");
  module.def("constants", &constants, "model"_a,
             "(name, dtype, dims, bytes, is_weight, in_memory) of the initializers in use.");
  module.def("constant_array", &constant_array, "model"_a, "name"_a,
             "An initializer's elements, not copied; None where there are none.");
  module.def("attach", &attach, "model"_a, "source"_a, "same"_a, "given"_a,
             "Makes weights of inputs.");
  module.def(
      "extract",
      [](const Model& model, std::size_t begin, std::size_t end,
         const std::vector<std::string>& wanted) {
        return Model(onnx::extract(model.internal(), begin, end, wanted));
      },
      "model"_a, "begin"_a, "end"_a, "wanted"_a,
      "The main graph's nodes begin to end - 1 as a model of their own.");
  module.def("split", &split, "model"_a, "path"_a, "layers"_a, "count"_a,
             "The model as several that are run one after another: what is before the layers, "
             "`count` groups of the `layers` modules `path`.0 and so on, and what follows them.");
  module.def(
      "shared_constants", &shared_constants, "models"_a, "least"_a,
      "For each of the models: how many of its constants of `least` bytes or more later ones have, "
      "too.");
  module.def("take_constants", &take_constants, "model"_a, "source"_a,
             "Has constants be those that the other model has under their names.");
  module.def("take_equal_constants", &take_equal_constants, "model"_a, "source"_a, "names"_a,
             "least"_a, nb::call_guard<nb::gil_scoped_release>(),
             "Has constants of `least` bytes or more be the equal ones that the other model has; "
             "how many bytes these are. `names`: of weights, here and there.");
  module.def(
      "in_branches",
      [](const Model& then, const Model& otherwise, const std::string& condition,
         const std::map<std::string, std::string>& kept, std::optional<std::size_t> grown) {
        Model made(
            onnx::in_branches(then.internal(), otherwise.internal(), condition, kept, grown));
        if (then.origins() == nullptr || otherwise.origins() == nullptr) return made;
        refresh::Origins origins = *then.origins();
        origins.tied.insert(otherwise.origins()->tied.begin(), otherwise.origins()->tied.end());
        origins.local.insert(otherwise.origins()->local.begin(), otherwise.origins()->local.end());
        made.set_origins(std::make_shared<refresh::Origins>(std::move(origins)));
        return made;
      },
      "then"_a, "otherwise"_a, "condition"_a, "kept"_a, "grown"_a = nb::none(),
      "Two models as one, which runs the first where the condition, an input more, holds. `kept`: "
      "outputs that the first lacks, and inputs that it hands out instead, which may be of any "
      "size along the axis `grown`.");
  module.def(
      "functions",
      [](const Model& model) {
        std::vector<std::string> names;
        for (const onnx::Function& function : model.internal().functions)
          names.push_back(function.domain + "::" + function.name);
        return names;
      },
      "model"_a, "The model-local functions.");
}

}  // namespace sardonyx::bindings
