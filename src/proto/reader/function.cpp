#include "proto/reader/function.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "base/diagnostic.h"
#include "onnx/operators/operator.h"
#include "proto/reader/graph_reader.h"

namespace sardonyx::proto {
namespace {

// The first operator of ONNX's own that two opsets have different versions of; empty for none.
std::string differing_operator(const onnx::Graph& graph, std::int64_t from, std::int64_t to) {
  for (const onnx::Node* node = graph.first; node != nullptr; node = node->next) {
    if (node->domain.empty()) {
      const onnx::Operator* op = onnx::find_operator(node->op_type);
      if (op != nullptr && op->at(from) != op->at(to)) return node->op_type;
    }
    for (const onnx::Graph* body : onnx::bodies(node)) {
      if (std::string found = differing_operator(*body, from, to); !found.empty()) return found;
    }
  }
  return {};
}

void adopt_opset(std::int64_t opset, onnx::Function& function) {
  const auto own = function.opsets.find("");
  if (own == function.opsets.end() || own->second == opset) return;
  const std::string op = differing_operator(*function.body, own->second, opset);
  if (!op.empty()) {
    base::fail("SX1153",
               fmt::format("the function {}::{} is written for opset {}, and {} is another "
                           "operator in the model's opset {}",
                           function.domain, function.name, own->second, op, opset),
               fmt::format("write the function for opset {0}, or export with opset_version={1}",
                           opset, own->second));
  }
  own->second = opset;
}

}  // namespace

const onnx::Function& add_function(onnx::Model& model, std::string_view message,
                                   std::int64_t opset) {
  const auto bytes = std::make_shared<const std::string>(message);
  DataSource source{bytes, ExternalData({})};
  onnx::Function function = GraphReader(model, source).function(*bytes);
  for (const onnx::Function& known : model.functions) {
    if (known.domain == function.domain && known.name == function.name &&
        known.overload == function.overload)
      return known;
  }
  adopt_opset(opset, function);
  return model.functions.emplace_back(std::move(function));
}

}  // namespace sardonyx::proto
