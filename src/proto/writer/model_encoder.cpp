#include "proto/writer/model_encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/diagnostic.h"
#include "base/stack_trace.h"
#include "onnx/graph/names.h"
#include "onnx/operators/operator.h"
#include "proto/reader/type_reader.h"
#include "proto/wire/fields.h"
#include "proto/writer/strided_copy.h"

namespace sardonyx::proto {
namespace {

using onnx::Graph;
using onnx::Node;
using onnx::ValueInfo;

constexpr std::string_view kStackTrace = "pkg.torch.onnx.stack_trace";

std::int64_t ir_version_for(const onnx::Model& model) {
  if (model.ir_version != 0) return model.ir_version;
  const auto own = model.opsets.find("");
  // Version 10 brought metadata_props and the overloads of functions.
  return std::max<std::int64_t>(10,
                                own == model.opsets.end() ? 0 : onnx::ir_version_of(own->second));
}

AttributeType type_of(const onnx::Attribute::Data& data) {
  struct Visitor {
    AttributeType operator()(std::int64_t) const { return AttributeType::kInt; }
    AttributeType operator()(float) const { return AttributeType::kFloat; }
    AttributeType operator()(const std::string&) const { return AttributeType::kString; }
    AttributeType operator()(const std::shared_ptr<const onnx::Tensor>&) const {
      return AttributeType::kTensor;
    }
    AttributeType operator()(const Graph*) const { return AttributeType::kGraph; }
    AttributeType operator()(const std::vector<std::int64_t>&) const {
      return AttributeType::kInts;
    }
    AttributeType operator()(const std::vector<float>&) const { return AttributeType::kFloats; }
    AttributeType operator()(const std::vector<std::string>&) const {
      return AttributeType::kStrings;
    }
    AttributeType operator()(const std::vector<Graph*>&) const { return AttributeType::kGraphs; }
    AttributeType operator()(base::DType) const { return AttributeType::kInt; }
    AttributeType operator()(const onnx::Opaque& value) const {
      return static_cast<AttributeType>(value.kind);
    }
  };
  return std::visit(Visitor(), data);
}

}  // namespace

ModelEncoder::ModelEncoder(const onnx::Model& model, const Plan& plan, const WriteOptions& options)
    : model_(model), plan_(plan), options_(options), ir_version_(ir_version_for(model)) {}

std::int64_t ModelEncoder::measure() {
  model();
  return out_.size();
}

void ModelEncoder::write(Stream& stream) {
  out_.start_writing(stream);
  model();
}

// Fields go in the order of their numbers, as protobuf's own serializers put them.
void ModelEncoder::model() {
  namespace f = field::model;
  out_.integer(f::kIrVersion, ir_version_);
  out_.optional_text(f::kProducerName, model_.producer_name);
  out_.optional_text(f::kProducerVersion, model_.producer_version);
  out_.optional_text(f::kDomain, model_.domain);
  if (model_.model_version != 0) out_.integer(f::kModelVersion, model_.model_version);
  out_.optional_text(f::kDocString, model_.doc);
  out_.message(f::kGraph, [&] { graph(*model_.graph); });
  for (const auto& [domain, version] : model_.opsets) opset(f::kOpsetImport, domain, version);
  for (const auto& [key, value] : model_.metadata)
    if (!options_.metadata.contains(key)) entry(f::kMetadataProps, key, value);
  for (const auto& [key, value] : options_.metadata) entry(f::kMetadataProps, key, value);
  for (const onnx::Function& each : model_.functions)
    out_.message(f::kFunctions, [&] { function(each); });
  out_.fields(model_.carried);
}

void ModelEncoder::graph(const Graph& graph) {
  namespace f = field::graph;
  const bool main = &graph == model_.graph;
  const auto inner = plan_.inner_of.find(&graph);
  const std::vector<Inner>* const held =
      inner == plan_.inner_of.end() ? nullptr : &plan_.inner[inner->second];
  const auto names_around = constant_names_;
  if (held != nullptr)
    for (const Inner& each : *held)
      constant_names_.insert_or_assign(each.placement.value, each.name);
  nodes(graph);
  // A graph must have a name.
  out_.text(f::kName, graph.name.empty() ? "graph" : std::string_view(graph.name));
  if (main) {
    for (const Placement& placement : plan_.initializers)
      out_.message(f::kInitializer, [&] { initializer(placement); });
  }
  if (held != nullptr)
    for (const Inner& each : *held)
      out_.message(f::kInitializer, [&] { initializer(each.placement); });
  for (const ValueInfo* input : graph.inputs) value_info(f::kInput, *input);
  if (main) {
    for (const ValueInfo* weight : plan_.weight_inputs) value_info(f::kInput, *weight);
  }
  for (const ValueInfo* output : graph.outputs) value_info(f::kOutput, *output);
  value_infos(f::kValueInfo, graph);
  for (const onnx::Annotation& each : graph.annotations) {
    // Of what is still there, under its name.
    if (each.value->names != nullptr)
      out_.message(f::kAnnotation, [&] { out_.fields(each.message); });
  }
  for (const ValueInfo* value : graph.sparse) {
    if (onnx::has_uses(value))
      out_.message(f::kSparseInitializer, [&] { out_.fields(value->carried->sparse); });
  }
  out_.fields(graph.carried);
  constant_names_ = names_around;
}

void ModelEncoder::function(const onnx::Function& function) {
  namespace f = field::function;
  out_.text(f::kName, function.name);
  for (const ValueInfo* input : function.body->inputs) out_.text(f::kInput, input->name);
  for (const ValueInfo* output : function.body->outputs) out_.text(f::kOutput, output->name);
  for (const std::string& name : function.attributes) out_.text(f::kAttribute, name);
  if (const auto constants = plan_.function_constants.find(function.body);
      constants != plan_.function_constants.end()) {
    name_constants(*function.body, constants->second);
    for (const ValueInfo* value : constants->second) constant_node(*value);
  }
  for (const Node* each = function.body->first; each != nullptr; each = each->next)
    out_.message(f::kNode, [&] { node(*each); });
  for (const auto& [domain, version] : function.opsets) opset(f::kOpsetImport, domain, version);
  out_.text(f::kDomain, function.domain);
  for (const onnx::Attribute& each : function.attribute_defaults)
    out_.message(f::kAttributeProto, [&] { attribute(each); });
  // Functions have known types of values since version 10.
  if (ir_version_ >= 10) value_infos(f::kValueInfo, *function.body);
  out_.optional_text(f::kOverload, function.overload);
  out_.fields(function.carried);
  constant_names_.clear();
}

// A function has names of its own, of which those of constants from outside must be none.
void ModelEncoder::name_constants(const Graph& body, const std::vector<const ValueInfo*>& values) {
  for (const ValueInfo* value : values) {
    if (!body.names->has(value->name)) continue;
    std::string name = value->name;
    for (int i = 1; body.names->has(name); ++i) name = fmt::format("{}_{}", value->name, i);
    constant_names_.emplace(value, std::move(name));
  }
}

std::string_view ModelEncoder::name_of(const ValueInfo* value) const {
  if (value == nullptr) return {};
  const auto found = constant_names_.find(value);
  return found == constant_names_.end() ? std::string_view(value->name) : found->second;
}

void ModelEncoder::nodes(const Graph& graph) {
  for (const Node* each = graph.first; each != nullptr; each = each->next)
    out_.message(field::graph::kNode, [&] { node(*each); });
}

void ModelEncoder::node(const Node& node) {
  namespace f = field::node;
  for (const ValueInfo* input : node.inputs) out_.text(f::kInput, name_of(input));
  for (const ValueInfo* output : node.outputs) out_.text(f::kOutput, name_of(output));
  out_.optional_text(f::kName, node.name);
  out_.text(f::kOpType, node.op_type);
  for (const onnx::Attribute& each : node.attributes)
    out_.message(f::kAttribute, [&] { attribute(each); });
  out_.optional_text(f::kDomain, node.domain);
  out_.optional_text(f::kOverload, node.overload);
  node_metadata(node);
  out_.fields(node.carried);
}

void ModelEncoder::node_metadata(const Node& node) {
  namespace f = field::node;
  if (node.origin != nullptr && options_.include_metadata) {
    origin_.set(*node.origin, options_.strip_paths);
    entry(f::kMetadataProps, "namespace", origin_.name_space);
    entry(f::kMetadataProps, "pkg.torch.onnx.class_hierarchy", origin_.class_hierarchy);
    if (!node.origin->captured_text.empty())
      entry(f::kMetadataProps, "pkg.torch.onnx.fx_node", node.origin->captured_text);
    entry(f::kMetadataProps, "pkg.torch.onnx.name_scopes", origin_.name_scopes);
    if (!origin_.stack_trace.empty()) entry(f::kMetadataProps, kStackTrace, origin_.stack_trace);
  }
  for (const auto& [key, value] : node.metadata) {
    const bool strips = options_.strip_paths && key == kStackTrace;
    entry(f::kMetadataProps, key, strips ? base::without_paths(value, true) : value);
  }
}

void ModelEncoder::constant_node(const ValueInfo& value) {
  namespace f = field::node;
  out_.message(field::function::kNode, [&] {
    out_.text(f::kOutput, name_of(&value));
    out_.text(f::kOpType, "Constant");
    out_.message(f::kAttribute, [&] {
      out_.text(field::attribute::kName, "value");
      out_.message(field::attribute::kTensor, [&] { tensor(*value.constant, {}); });
      out_.integer(field::attribute::kType, static_cast<std::int64_t>(AttributeType::kTensor));
    });
  });
}

void ModelEncoder::attribute(const onnx::Attribute& attribute) {
  namespace f = field::attribute;
  out_.text(f::kName, attribute.name);
  if (attribute.reference.empty()) attribute_data(attribute.data);
  out_.integer(f::kType, static_cast<std::int64_t>(type_of(attribute.data)));
  out_.optional_text(f::kReference, attribute.reference);
  out_.fields(attribute.carried);
}

void ModelEncoder::attribute_data(const onnx::Attribute::Data& data) {
  namespace f = field::attribute;
  const auto put = [&](const auto& value) {
    using T = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<T, std::int64_t>) {
      out_.integer(f::kInt, value);
    } else if constexpr (std::is_same_v<T, base::DType>) {
      out_.integer(f::kInt, static_cast<std::int64_t>(value));
    } else if constexpr (std::is_same_v<T, onnx::Opaque>) {
      out_.fields(value.fields);
    } else if constexpr (std::is_same_v<T, float>) {
      out_.real(f::kFloat, value);
    } else if constexpr (std::is_same_v<T, std::string>) {
      out_.text(f::kString, value);
    } else if constexpr (std::is_same_v<T, std::shared_ptr<const onnx::Tensor>>) {
      out_.message(f::kTensor, [&] { tensor(*value, {}); });
    } else if constexpr (std::is_same_v<T, Graph*>) {
      out_.message(f::kGraph, [&] { graph(*value); });
    } else if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
      for (const std::int64_t each : value) out_.integer(f::kInts, each);
    } else if constexpr (std::is_same_v<T, std::vector<float>>) {
      for (const float each : value) out_.real(f::kFloats, each);
    } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      for (const std::string& each : value) out_.text(f::kStrings, each);
    } else {
      static_assert(std::is_same_v<T, std::vector<Graph*>>);
      for (const Graph* each : value) out_.message(f::kGraphs, [&] { graph(*each); });
    }
  };
  std::visit(put, data);
}

// Whether the type is still what was read, which says more than element type and shape.
bool ModelEncoder::keeps_type(const ValueInfo& value) const {
  if (value.carried == nullptr || value.carried->type.empty()) return false;
  if (value.type_kind == onnx::TypeKind::kOther) return true;
  ValueInfo read;
  read_type(value.carried->type, read, *model_.pool);
  return read.type_kind == value.type_kind && read.dtype == value.dtype &&
         read.has_rank == value.has_rank && onnx::same_text(read.shape, value.shape);
}

void ModelEncoder::value_infos(std::uint32_t field, const Graph& graph) {
  if (!options_.include_value_info) return;
  for (const Node* node = graph.first; node != nullptr; node = node->next) {
    for (const ValueInfo* value : node->outputs) {
      // An output of the graph is described there.
      if (value == nullptr || !value->returns.empty() || value->is_disputed) continue;
      if (value->dtype != base::DType::kUndefined || value->carried != nullptr)
        value_info(field, *value);
    }
  }
}

void ModelEncoder::value_info(std::uint32_t field, const ValueInfo& value) {
  namespace f = field::value_info;
  out_.message(field, [&] {
    out_.text(f::kName, value.name);
    if (keeps_type(value))
      out_.message(f::kType, [&] { out_.fields(value.carried->type); });
    else if (value.dtype != base::DType::kUndefined)  // else nothing is known
      out_.message(f::kType, [&] { type(value); });
    if (value.carried != nullptr) out_.fields(value.carried->info);
  });
}

void ModelEncoder::type(const ValueInfo& value) {
  namespace f = field::type;
  const auto tensor = [&] { tensor_type(value); };
  if (value.type_kind == onnx::TypeKind::kTensor) {
    out_.message(f::kTensor, tensor);
    return;
  }
  const bool sequence = value.type_kind == onnx::TypeKind::kSequence;
  out_.message(sequence ? f::kSequence : f::kOptional,
               [&] { out_.message(f::kElementType, [&] { out_.message(f::kTensor, tensor); }); });
}

void ModelEncoder::tensor_type(const ValueInfo& value) {
  namespace f = field::type;
  out_.integer(f::kElementType, static_cast<std::int64_t>(value.dtype));
  if (value.has_rank) out_.message(f::kShape, [&] { shape(value.shape); });
}

void ModelEncoder::shape(const onnx::Shape& shape) {
  namespace f = field::shape;
  for (const symbolic::Expr& dim : shape) {
    out_.message(f::kDim, [&] {
      if (dim.is_constant()) {
        if (dim.value() >= 0) out_.integer(f::kDimValue, dim.value());
      } else if (dim.known()) {
        out_.text(f::kDimParam, dim.str());
      }
    });
  }
}

void ModelEncoder::initializer(const Placement& placement) {
  namespace f = field::tensor;
  const onnx::Tensor& data = data_of(*placement.value);
  const auto& carried = placement.value->carried;
  const std::string_view name = name_of(placement.value);
  if (!placement.external) {
    tensor(data, name);
    if (carried != nullptr) out_.fields(carried->tensor);
    return;
  }
  tensor_head(data);
  out_.text(f::kName, name);
  entry(f::kExternalData, "location",
        placement.location.empty() ? plan_.location : placement.location);
  entry(f::kExternalData, "offset", std::to_string(placement.offset));
  entry(f::kExternalData, "length", std::to_string(placement.length));
  out_.integer(f::kDataLocation, static_cast<std::int64_t>(kExternalLocation));
  if (carried != nullptr) out_.fields(carried->tensor);
}

void ModelEncoder::tensor_head(const onnx::Tensor& tensor) {
  for (const std::int64_t dim : tensor.dims) out_.integer(field::tensor::kDims, dim);
  out_.integer(field::tensor::kDataType, static_cast<std::int64_t>(tensor.dtype));
}

void ModelEncoder::tensor(const onnx::Tensor& tensor, std::string_view name) {
  namespace f = field::tensor;
  if (lacks_data(tensor)) base::fail("SX1604", "the tensor of an attribute has no data");
  tensor_head(tensor);
  if (tensor.dtype == base::DType::kString) {
    for (const std::string& text : tensor.strings) out_.text(f::kStringData, text);
    out_.optional_text(f::kName, name);
    return;
  }
  out_.optional_text(f::kName, name);
  out_.bytes(f::kRawData, tensor.byte_count(), [&](Stream& stream) { put_data(tensor, stream); });
}

void ModelEncoder::opset(std::uint32_t field, const std::string& domain, std::int64_t version) {
  out_.message(field, [&] {
    out_.text(field::opset::kDomain, domain);
    out_.integer(field::opset::kVersion, version);
  });
}

void ModelEncoder::entry(std::uint32_t field, std::string_view key, std::string_view value) {
  out_.message(field, [&] {
    out_.text(field::entry::kKey, key);
    out_.text(field::entry::kValue, value);
  });
}

}  // namespace sardonyx::proto
