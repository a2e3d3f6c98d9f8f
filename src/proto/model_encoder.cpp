#include "proto/model_encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/diagnostic.h"
#include "proto/fields.h"
#include "proto/gather.h"

namespace sardonyx::proto {
namespace {

using onnx::Graph;
using onnx::Node;
using onnx::ValueInfo;

// The version of the format that came with an opset of ONNX's own, from the "Released Versions" of
// the ONNX documentation (docs/Versioning.md).
std::int64_t ir_version_of(std::int64_t opset) {
  struct Release {
    std::int64_t opset, ir_version;
  };
  constexpr std::array<Release, 10> kReleases = {{{28, 14},
                                                  {25, 13},
                                                  {24, 12},
                                                  {23, 11},
                                                  {21, 10},
                                                  {19, 9},
                                                  {15, 8},
                                                  {12, 7},
                                                  {11, 6},
                                                  {10, 5}}};
  for (const Release& release : kReleases) {
    if (opset >= release.opset) return release.ir_version;
  }
  return 4;
}

std::int64_t ir_version_for(const onnx::Model& model) {
  if (model.ir_version != 0) return model.ir_version;
  const auto own = model.opsets.find("");
  // Version 10 brought metadata_props and the overloads of functions.
  return std::max<std::int64_t>(10, own == model.opsets.end() ? 0 : ir_version_of(own->second));
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
  for (const auto& [key, value] : model_.metadata) entry(f::kMetadataProps, key, value);
  for (const onnx::Function& each : model_.functions)
    out_.message(f::kFunctions, [&] { function(each); });
}

void ModelEncoder::graph(const Graph& graph) {
  namespace f = field::graph;
  const bool main = &graph == model_.graph;
  nodes(graph);
  // A graph must have a name.
  out_.text(f::kName, graph.name.empty() ? "graph" : std::string_view(graph.name));
  if (main) {
    for (const Placement& placement : plan_.initializers)
      out_.message(f::kInitializer, [&] { initializer(placement); });
  }
  for (const ValueInfo* input : graph.inputs) value_info(f::kInput, *input);
  if (main) {
    for (const ValueInfo* weight : plan_.weight_inputs) value_info(f::kInput, *weight);
  }
  for (const ValueInfo* output : graph.outputs) value_info(f::kOutput, *output);
  value_infos(f::kValueInfo, graph);
}

void ModelEncoder::function(const onnx::Function& function) {
  namespace f = field::function;
  out_.text(f::kName, function.name);
  for (const ValueInfo* input : function.body->inputs) out_.text(f::kInput, input->name);
  for (const ValueInfo* output : function.body->outputs) out_.text(f::kOutput, output->name);
  for (const std::string& name : function.attributes) out_.text(f::kAttribute, name);
  if (const auto constants = plan_.function_constants.find(function.body);
      constants != plan_.function_constants.end()) {
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
}

void ModelEncoder::nodes(const Graph& graph) {
  for (const Node* each = graph.first; each != nullptr; each = each->next)
    out_.message(field::graph::kNode, [&] { node(*each); });
}

void ModelEncoder::node(const Node& node) {
  namespace f = field::node;
  const auto name_of = [](const ValueInfo* value) {
    return value == nullptr ? std::string_view() : std::string_view(value->name);
  };
  for (const ValueInfo* input : node.inputs) out_.text(f::kInput, name_of(input));
  for (const ValueInfo* output : node.outputs) out_.text(f::kOutput, name_of(output));
  out_.optional_text(f::kName, node.name);
  out_.text(f::kOpType, node.op_type);
  for (const onnx::Attribute& each : node.attributes)
    out_.message(f::kAttribute, [&] { attribute(each); });
  out_.optional_text(f::kDomain, node.domain);
  out_.optional_text(f::kOverload, node.overload);
  node_metadata(node);
}

void ModelEncoder::node_metadata(const Node& node) {
  namespace f = field::node;
  if (node.origin != nullptr && options_.include_metadata) {
    origin_.set(*node.origin);
    entry(f::kMetadataProps, "namespace", origin_.name_space);
    entry(f::kMetadataProps, "pkg.torch.onnx.class_hierarchy", origin_.class_hierarchy);
    if (!node.origin->captured_text.empty())
      entry(f::kMetadataProps, "pkg.torch.onnx.fx_node", node.origin->captured_text);
    entry(f::kMetadataProps, "pkg.torch.onnx.name_scopes", origin_.name_scopes);
    if (!node.origin->stack_trace.empty())
      entry(f::kMetadataProps, "pkg.torch.onnx.stack_trace", node.origin->stack_trace);
  }
  for (const auto& [key, value] : node.metadata) entry(f::kMetadataProps, key, value);
}

void ModelEncoder::constant_node(const ValueInfo& value) {
  namespace f = field::node;
  out_.message(field::function::kNode, [&] {
    out_.text(f::kOutput, value.name);
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
}

void ModelEncoder::attribute_data(const onnx::Attribute::Data& data) {
  namespace f = field::attribute;
  const auto put = [&](const auto& value) {
    using T = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<T, std::int64_t>) {
      out_.integer(f::kInt, value);
    } else if constexpr (std::is_same_v<T, base::DType>) {
      out_.integer(f::kInt, static_cast<std::int64_t>(value));
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

void ModelEncoder::value_infos(std::uint32_t field, const Graph& graph) {
  if (!options_.include_value_info) return;
  for (const Node* node = graph.first; node != nullptr; node = node->next) {
    for (const ValueInfo* value : node->outputs) {
      // An output of the graph is described there.
      if (value == nullptr || value->dtype == base::DType::kUndefined) continue;
      if (value->returns.empty()) value_info(field, *value);
    }
  }
}

void ModelEncoder::value_info(std::uint32_t field, const ValueInfo& value) {
  namespace f = field::value_info;
  out_.message(field, [&] {
    out_.text(f::kName, value.name);
    // No element type means that nothing is known.
    if (value.dtype != base::DType::kUndefined) out_.message(f::kType, [&] { type(value); });
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
  const onnx::Tensor& data = *placement.value->constant;
  if (!placement.external) {
    tensor(data, placement.value->name);
    return;
  }
  tensor_head(data);
  out_.text(f::kName, placement.value->name);
  entry(f::kExternalData, "location", plan_.location);
  entry(f::kExternalData, "offset", std::to_string(placement.offset));
  entry(f::kExternalData, "length", std::to_string(placement.length));
  out_.integer(f::kDataLocation, static_cast<std::int64_t>(kExternalLocation));
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
