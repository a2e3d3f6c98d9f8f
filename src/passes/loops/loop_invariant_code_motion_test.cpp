#include "passes/passes.h"
#include "rewriting/test_graph.h"

namespace sardonyx::passes {
namespace {

using onnx::Value;

struct LoopInvariantCodeMotion : RulesTest {
  Value x = input("x", {b, 4}), w = input("w", {4, 4}), other = input("other", {s, 4});

  // A loop of three runs that carries x; `step` says what a run makes of it.
  template <class Step>
  std::int64_t hoisted(const Step& step) {
    onnx::Graph* body = onnx.begin_body("body");
    onnx::ValueInfo* run_number = model.add_input(body, "run");
    onnx::Emit::set_type(run_number, onnx::DType::kInt64, {});
    onnx::ValueInfo* goes_on = model.add_input(body, "goes_on");
    onnx::Emit::set_type(goes_on, onnx::DType::kBool, {});
    onnx::ValueInfo* carried = model.add_input(body, "carried");
    onnx::Emit::set_type(carried, onnx::DType::kFloat32, {b, 4});
    onnx.end_body(std::vector<Value>{onnx.identity(goes_on), step(Value(carried))});
    const std::vector<Value> initial{x};
    outputs({onnx.loop(onnx.int_scalar(3), onnx.bool_scalar(true), initial, body)[0]});
    inner = body;
    report = {};
    RuleContext context(model, {}, report);
    const std::int64_t moved = loop_invariant_code_motion(context);
    onnx::verify(model);
    return moved;
  }
  onnx::Graph* inner = nullptr;
};

TEST_F(LoopInvariantCodeMotion, WhatDependsOnNothingInside) {
  EXPECT_EQ(hoisted([&](Value each) {
              const Value gate = onnx.sigmoid(onnx.tanh(w));
              return onnx.matmul(each, onnx.mul(gate, w));
            }),
            3);
  EXPECT_EQ(ops(), "Tanh Sigmoid Mul Loop");
  EXPECT_EQ(ops(inner), "Identity MatMul");
}

TEST_F(LoopInvariantCodeMotion, WhatDependsOnTheRunStays) {
  EXPECT_EQ(hoisted([&](Value each) { return onnx.tanh(each); }), 0);
}

TEST_F(LoopInvariantCodeMotion, WhatMayFailStays) {
  // Of s rows and b rows nobody knows whether they go together.
  EXPECT_EQ(hoisted([&](Value each) { return onnx.add(each, onnx.add(x, other)); }), 0);
}

TEST_F(LoopInvariantCodeMotion, WhatTheBodyHandsOutStays) {
  EXPECT_EQ(hoisted([&](Value) { return onnx.tanh(x); }), 0);
}

}  // namespace
}  // namespace sardonyx::passes
