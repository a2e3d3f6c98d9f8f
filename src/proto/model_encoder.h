// The messages of an ONNX model, described once for measuring and for writing.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "onnx/graph/ir.h"
#include "proto/encoder.h"
#include "proto/metadata.h"
#include "proto/plan.h"
#include "proto/write.h"

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
};

}  // namespace sardonyx::proto
