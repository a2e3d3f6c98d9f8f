// Operators of a runtime's own domain, as far as they are emitted.
#pragma once

#include <cstdint>
#include <string_view>

#include "onnx/infer/inference.h"

namespace sardonyx::onnx {

struct ForeignOperator {
  std::string_view domain;
  std::int64_t domain_version;
  std::string_view name;
  const OperatorVersion* schema;
  void (*shapes)(Inference&);  // of the outputs; types follow from the schema
};

// What infer() does for ONNX's own. Throws SX1503 for what the schema does not have, too.
void infer(Node* node, symbolic::Pool& pool, std::int64_t opset, const ForeignOperator& op);

}  // namespace sardonyx::onnx
