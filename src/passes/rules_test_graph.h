// A model for tests of rules: emitted without the emitter's own sharing where that would be in the
// way, run through one rule, and checked by the verifier.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "onnx/emit/emit_test_graph.h"
#include "passes/rules.h"

namespace sardonyx::passes {

struct RuleGraph : onnx::TestGraph {
  using onnx::TestGraph::TestGraph;

  void outputs(const std::vector<onnx::Value>& values) {
    std::vector<onnx::ValueInfo*> infos;
    for (const onnx::Value value : values) infos.push_back(value.info());
    onnx::set_outputs(model.graph, infos);
  }

  onnx::Value weight(std::string name, std::vector<std::int64_t> dims,
                     const std::vector<float>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    return model.add_weight(std::move(name),
                            onnx::Tensor::of_bytes(onnx::DType::kFloat32, std::move(dims), bytes));
  }

  // Whether the rule changed anything; the verifier throws for what it broke.
  bool run(bool (*rule)(onnx::Model&)) {
    const bool changed = rule(model);
    onnx::verify(model);
    return changed;
  }
};

}  // namespace sardonyx::passes
