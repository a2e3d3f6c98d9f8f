#include "onnx/operators/traits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "onnx/emit/emit_test_graph.h"
#include "onnx/gen/op.h"
#include "onnx/infer/infer_model.h"

namespace sardonyx::onnx {
namespace {

// Operators in use, with their newest version.
template <class Look>
void for_each_operator(const Look& look) {
  for (const Operator& op : operators())
    if (const OperatorVersion* version = op.at(newest_opset())) look(op, *version);
}

bool has_only(const OperatorVersion& version, const std::set<std::string_view>& attributes) {
  return std::ranges::all_of(version.attributes, [&](const AttributeFormal& each) {
    return attributes.contains(each.name);
  });
}

bool gives_one_of_its_type(const OperatorVersion& version) {
  return version.outputs.size() == 1 && !version.inputs.empty() &&
         version.outputs[0].type_parameter == version.inputs[0].type_parameter &&
         !version.inputs[0].type_parameter.empty();
}

// What schemas say of operators that ONNX adds: each is to get a row, or to be named here.
TEST(Traits, OperatorsThatLookElementwiseHaveARow) {
  const std::set<std::string_view> others = {"Det", "GlobalAveragePool", "GlobalMaxPool", "MatMul",
                                             "PRelu"};
  const std::set<std::string_view> functions = {"alpha", "beta",  "gamma",
                                                "bias",  "lambd", "approximate"};
  for_each_operator([&](const Operator& op, const OperatorVersion& version) {
    const std::span<const Formal> inputs = version.inputs;
    const bool is_unary = inputs.size() == 1 && inputs[0].option == FormalOption::kRequired &&
                          has_only(version, functions);
    const bool is_binary = inputs.size() == 2 && version.min_inputs == 2 &&
                           inputs[0].type_parameter == inputs[1].type_parameter &&
                           has_only(version, {"direction", "fmod"});
    if (!gives_one_of_its_type(version) || others.contains(op.name)) return;
    if (is_unary) {
      EXPECT_TRUE(has_trait(op.id, Trait::kPointwise)) << op.name;
    }
    if (is_binary) {
      EXPECT_TRUE(has_trait(op.id, Trait::kBroadcasts)) << op.name;
    }
  });
}

TEST(Traits, RowsAreWhatSchemasAllow) {
  const DTypeSet everything = dtype_bit(base::DType::kString) | dtype_bit(base::DType::kBool) |
                              dtype_bit(base::DType::kFloat16);
  for_each_operator([&](const Operator& op, const OperatorVersion& version) {
    const bool reduces = version.attribute("keepdims") != nullptr && op.name != "SplitToSequence";
    const bool by_axes = version.inputs.size() > 1 && version.inputs[1].name == "axes";
    EXPECT_EQ(has_trait(op.id, Trait::kReduces), reduces && by_axes) << op.name;
    EXPECT_EQ(has_trait(op.id, Trait::kFindsPosition), reduces && !by_axes) << op.name;
    if (has_trait(op.id, Trait::kPointwise)) {
      EXPECT_EQ(version.min_inputs, 1) << op.name;
      EXPECT_EQ(version.max_outputs, 1) << op.name;
      EXPECT_FALSE(has_trait(op.id, Trait::kBroadcasts)) << op.name;
    }
    if (has_trait(op.id, Trait::kRearranges)) {
      EXPECT_EQ(version.outputs[0].type_parameter, version.inputs[0].type_parameter) << op.name;
      EXPECT_EQ(version.inputs[0].dtypes & everything, everything) << op.name;
    }
    if (has_trait(op.id, Trait::kCommutes)) {
      EXPECT_TRUE(has_trait(op.id, Trait::kBroadcasts)) << op.name;
      EXPECT_EQ(version.max_inputs, 2) << op.name;
    }
  });
  EXPECT_FALSE(has_trait(kUnknownOp, Trait::kPointwise));
}

class TraitsTest : public testing::Test, public TestGraph {
 protected:
  ValueInfo* operand(const Formal& formal, Shape shape) {
    using enum base::DType;
    for (const base::DType dtype : {kFloat32, kUInt8, kBool, kString})
      if ((formal.dtypes & dtype_bit(dtype)) != 0) return input("x", shape, dtype).info();
    return nullptr;
  }

  // The result of x [2, 1] and others [3].
  ValueInfo* result(const Operator& op, const OperatorVersion& version, std::size_t inputs) {
    Node* node = model.add_node(std::string(op.name), "");
    for (std::size_t i = 0; i < inputs; ++i)
      add_input(node, operand(*version.input(i), i == 0 ? Shape{2, 1} : Shape{3}));
    for (const AttributeFormal& each : version.attributes) {
      if (!each.required) continue;
      const bool is_type = each.name == "to";
      set_attribute(node, std::string(each.name),
                    is_type ? Attribute::Data(base::DType::kFloat32) : Attribute::Data("LEFT"));
    }
    append(model.graph, node);
    add_output(node, model.add_value("y", model.graph));
    return node->output();
  }
};

TEST_F(TraitsTest, ResultsHaveTheSizesThatTheirTraitImplies) {
  std::vector<std::pair<std::string_view, ValueInfo*>> broadcast, pointwise;
  for_each_operator([&](const Operator& op, const OperatorVersion& version) {
    const std::size_t inputs = std::max<std::size_t>(2, version.min_inputs);
    if (has_trait(op.id, Trait::kBroadcasts))
      broadcast.emplace_back(op.name, result(op, version, inputs));
    if (has_trait(op.id, Trait::kPointwise))
      pointwise.emplace_back(op.name, result(op, version, 1));
  });
  EXPECT_TRUE(infer_types(model).empty());
  for (const auto& [name, value] : broadcast) EXPECT_EQ(value->shape, (Shape{2, 3})) << name;
  for (const auto& [name, value] : pointwise) EXPECT_EQ(value->shape, (Shape{2, 1})) << name;
}

}  // namespace
}  // namespace sardonyx::onnx
