// A model for tests of rules: emitted without the emitter's own sharing where that would be in the
// way, run through one rule, and checked by the verifier.
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "onnx/emit/emit_test_graph.h"
#include "rewriting/rule.h"

namespace sardonyx::rewriting {

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
  bool run(const Rule& rule, const Options& options = {}) {
    report = {};
    RuleContext context(model, options, report);
    const Rule* const rules[] = {&rule};  // NOLINT(modernize-avoid-c-arrays)
    const bool changed = apply_rules(rules, context).front() > 0;
    onnx::verify(model);
    return changed;
  }

  bool run(bool (*pass)(onnx::Model&)) {
    const bool changed = pass(model);
    onnx::verify(model);
    return changed;
  }

  // The last reason that the rule gave for leaving something as it is.
  std::string reason() const {
    return report.declined.empty() ? std::string() : report.declined.back().reason;
  }

  Report report;
};

class RulesTest : public testing::Test, public RuleGraph {
 protected:
  symbolic::Expr b = pool->symbol("b"), s = pool->symbol("s");

  static std::vector<double> reals(const onnx::ValueInfo* value) {
    return value->constant->reals().value();
  }
};

}  // namespace sardonyx::rewriting
