#include "viewer/model_texts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/dtype.h"

namespace sardonyx::viewer {

using onnx::Model;
using onnx::Node;
using onnx::ValueInfo;

std::string type_text(const ValueInfo& value) {
  std::string text(value.dtype == base::DType::kUndefined ? "?" : base::dtype_name(value.dtype));
  if (value.has_rank) {
    std::vector<std::string> dims;
    for (const symbolic::Expr dim : value.shape) dims.push_back(dim.known() ? dim.str() : "?");
    text += fmt::format("[{}]", fmt::join(dims, ", "));
  } else {
    text += "[...]";
  }
  switch (value.type_kind) {
    case onnx::TypeKind::kSequence:
      return "sequence of " + text;
    case onnx::TypeKind::kOptional:
      return "optional " + text;
    case onnx::TypeKind::kOther:
      return "another type";
    case onnx::TypeKind::kTensor:
      break;
  }
  return text;
}

std::string size_text(std::int64_t bytes) {
  const auto number = static_cast<double>(bytes);
  if (bytes < 1000) return fmt::format("{} B", bytes);
  if (bytes < 1'000'000) return fmt::format("{:.1f} kB", number / 1e3);
  if (bytes < 1'000'000'000) return fmt::format("{:.1f} MB", number / 1e6);
  return fmt::format("{:.2f} GB", number / 1e9);
}

std::string operator_name(const Node& node) {
  return node.domain.empty() ? node.op_type : node.domain + "::" + node.op_type;
}

std::vector<const ValueInfo*> weights_of(const Model& model) {
  std::vector<const ValueInfo*> weights;
  for (const ValueInfo* value : model.initializers)
    if (value->constant != nullptr && onnx::has_uses(value)) weights.push_back(value);
  return weights;
}

std::vector<std::string> dynamic_dims(const Model& model) {
  std::vector<std::string> names;
  for (const auto* values : {&model.graph->inputs, &model.graph->outputs}) {
    for (const ValueInfo* value : *values) {
      for (const symbolic::Expr dim : value->shape) {
        if (!dim.known() || dim.constant()) continue;
        if (std::ranges::find(names, dim.str()) == names.end()) names.push_back(dim.str());
      }
    }
  }
  return names;
}

}  // namespace sardonyx::viewer
