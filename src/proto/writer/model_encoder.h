// The messages of an ONNX model, described once for measuring and for writing.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "onnx/graph/ir.h"
#include "proto/metadata.h"
#include "proto/wire/encoder.h"
#include "proto/writer/write.h"
#include "proto/writer/write_plan.h"

namespace sardonyx::proto {

class ModelEncoder {
 public:
  ModelEncoder(const onnx::Model& model, const Plan& plan, const WriteOptions& options);

  // Bytes of the model's file.
  std::int64_t measure();
  // Afterwards, once.
  void write(Stream& stream);

 private:
  void model();
  void graph(const onnx::Graph& graph);
  void function(const onnx::Function& function);
  void name_constants(const onnx::Graph& body, const std::vector<const onnx::ValueInfo*>& values);
  std::string_view name_of(const onnx::ValueInfo* value) const;
  bool keeps_type(const onnx::ValueInfo& value) const;
  void nodes(const onnx::Graph& graph);
  void node(const onnx::Node& node);
  void node_metadata(const onnx::Node& node);
  void constant_node(const onnx::ValueInfo& value);
  void attribute(const onnx::Attribute& attribute);
  void attribute_data(const onnx::Attribute::Data& data);
  void value_infos(std::uint32_t field, const onnx::Graph& graph);
  void value_info(std::uint32_t field, const onnx::ValueInfo& value);
  void type(const onnx::ValueInfo& value);
  void tensor_type(const onnx::ValueInfo& value);
  void shape(const onnx::Shape& shape);
  void initializer(const Placement& placement);
  void tensor(const onnx::Tensor& tensor, std::string_view name);
  void tensor_head(const onnx::Tensor& tensor);
  void opset(std::uint32_t field, const std::string& domain, std::int64_t version);
  void entry(std::uint32_t field, std::string_view key, std::string_view value);

  const onnx::Model& model_;
  const Plan& plan_;
  const WriteOptions& options_;
  std::int64_t ir_version_;
  Encoder out_;
  OriginTexts origin_;
  // In the function at hand, the constants that are called otherwise than in the main graph.
  std::unordered_map<const onnx::ValueInfo*, std::string> constant_names_;
};

}  // namespace sardonyx::proto
