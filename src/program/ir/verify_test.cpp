#include <gtest/gtest.h>

#include <functional>

#include "base/diagnostic.h"
#include "program/ir/program.h"

namespace sardonyx::program {
namespace {

// y = relu(x), with everything that verify() looks at.
struct Small {
  Program program;
  Value* x = program.add_value();
  Value* y = program.add_value();
  Call* relu = program.add_call();

  Small() {
    x->name = "x";
    y->name = "y";
    for (Value* value : {x, y}) {
      value->dtype = base::DType::kFloat32;
      value->shape = {2, 3};
    }
    relu->name = "relu";
    relu->schema = find_schema("aten::relu");
    relu->arguments = bind(*relu->schema, {x}, {});
    relu->outputs = {y};
    y->producer = relu;
    program.graph = program.add_graph();
    program.graph->inputs = {x};
    program.graph->calls = {relu};
    program.graph->outputs = {y};
    program.inputs.push_back({InputKind::kUser, x, "", true});
    program.outputs.push_back({OutputKind::kUser, y, ""});
  }
};

void expect_refused(const std::string& part, const std::function<void(Small&)>& damage) {
  Small small;
  damage(small);
  try {
    verify(small.program);
    ADD_FAILURE() << "accepted; expected " << part;
  } catch (const base::Error& error) {
    EXPECT_EQ(error.diagnostics()[0].code, "SX1205");
    EXPECT_NE(error.diagnostics()[0].message.find(part), std::string::npos) << error.what();
  }
}

TEST(Verify, AcceptsAWellFormedProgram) { verify(Small().program); }

TEST(Verify, SaysWhatIsMalformed) {
  expect_refused("no graph", [](Small& s) { s.program.graph = nullptr; });
  expect_refused("used before it is defined", [](Small& s) { s.program.graph->calls.clear(); });
  expect_refused("used before it is defined", [](Small& s) {
    s.program.graph->inputs.clear();
    s.program.inputs.clear();
  });
  expect_refused("differ at 'x'", [](Small& s) { s.program.graph->inputs.clear(); });
  expect_refused("more inputs than the signature", [](Small& s) { s.program.inputs.clear(); });
  expect_refused("not bound", [](Small& s) { s.relu->arguments.clear(); });
  expect_refused("no schema", [](Small& s) { s.relu->schema = nullptr; });
  expect_refused("does not know its producer", [](Small& s) { s.y->producer = nullptr; });
  expect_refused("does not know its producer", [](Small& s) { s.y->index = 1; });
  expect_refused("has a producer", [](Small& s) { s.x->producer = s.relu; });
  expect_refused("'y' is defined twice",
                 [](Small& s) { s.program.graph->calls.push_back(s.relu); });
  expect_refused("strides of another rank", [](Small& s) { s.y->strides = {1}; });
  expect_refused("a value is missing", [](Small& s) {
    s.relu->arguments[0] = Argument();
    s.relu->arguments[0].data = static_cast<Value*>(nullptr);
  });
}

TEST(Listing, ShowsSignatureAndCalls) {
  Small small;
  small.program.torch_version = "2.13.0";
  Weight* weight = small.program.add_weight();
  weight->name = "bias";
  weight->shape = {2, 3};
  weight->strides = {3, 1};
  weight->offset = 6;
  small.x->weight = weight;
  small.program.inputs[0] = {InputKind::kBuffer, small.x, "bias", false};
  EXPECT_EQ(
      to_string(small.program),
      "program of PyTorch 2.13.0: 1 calls, 1 weights of 0 bytes\n"
      "operators:\n"
      "     1  aten::relu\n"
      "inputs:\n"
      "  %x: float32[2, 3]  # buffer bias, not persistent, strides [3, 1], offset 6, no data\n"
      "calls:\n"
      "  %y: float32[2, 3] = aten::relu(%x)\n"
      "outputs:\n"
      "  %y: float32[2, 3]\n");
}

}  // namespace
}  // namespace sardonyx::program
