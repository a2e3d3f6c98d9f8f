#include "onnx/graph/ir.h"

#include <gtest/gtest.h>

#include <chrono>

#include "onnx/graph/names.h"

namespace sardonyx::onnx {
namespace {

class IrTest : public testing::Test {
 protected:
  Node* node(std::string op_type, std::vector<ValueInfo*> inputs, Graph* in = nullptr) {
    Node* made = model.add_node(std::move(op_type), "");
    for (ValueInfo* input : inputs) add_input(made, input);
    append(in == nullptr ? model.graph : in, made);
    add_output(made, model.add_value("y"));
    return made;
  }

  std::vector<std::string> order() const {
    std::vector<std::string> types;
    for (const Node* n = model.graph->first; n != nullptr; n = n->next) types.push_back(n->op_type);
    return types;
  }

  Model model{nullptr};
};

TEST_F(IrTest, NamesAreUnique) {
  EXPECT_EQ(model.add_value("x")->name, "x");
  ValueInfo* second = model.add_value("x");
  EXPECT_EQ(second->name, "x_1");
  EXPECT_EQ(model.add_value("x_2")->name, "x_2");
  EXPECT_EQ(model.add_value("x")->name, "x_3");
  model.rename(second, "x_3");
  EXPECT_EQ(second->name, "x_3_1");
  EXPECT_EQ(model.unique_name("x_1"), "x_1");
}

TEST_F(IrTest, ReservedNamesAreNotMadeOfOthers) {
  model.graph->names->reserve("x_1");
  EXPECT_EQ(model.add_value("x")->name, "x");
  EXPECT_EQ(model.add_value("x")->name, "x_2");
  EXPECT_EQ(model.add_value("x_1")->name, "x_1");
}

TEST_F(IrTest, SmallConstantsAreShared) {
  ValueInfo* one = model.add_constant(Tensor::of_int(1));
  EXPECT_EQ(one->name, "int64_1");
  EXPECT_EQ(model.add_constant(Tensor::of_int(1)), one);
  EXPECT_NE(model.add_constant(Tensor::of_int(2)), one);
  EXPECT_NE(model.add_constant(Tensor::filled_int(DType::kInt64, {1}, 1)), one);
  EXPECT_NE(model.add_constant(Tensor::filled_int(DType::kInt32, {}, 1)), one);
  EXPECT_NE(model.add_weight("w", Tensor::of_int(1)), one);
  EXPECT_FALSE(one->is_weight);
}

TEST_F(IrTest, EditingKeepsUsesAndLinks) {
  ValueInfo* x = model.add_input(model.graph, "x");
  Node* a = node("A", {x, x});
  Node* b = node("B", {a->output()});
  set_outputs(model.graph, {b->output(), a->output()});
  EXPECT_EQ(x->uses.size(), 2U);
  EXPECT_EQ(a->output()->returns.size(), 1U);

  Node* c = model.add_node("C", "");
  add_input(c, a->output());
  insert_before(b, c);
  add_output(c, model.add_value("z"));
  EXPECT_EQ(c->output()->graph, model.graph);
  Node* d = model.add_node("D", "");
  insert_after(b, d);
  EXPECT_EQ(order(), (std::vector<std::string>{"A", "C", "B", "D"}));
  EXPECT_EQ(model.graph->last, d);

  set_input(b, 0, c->output());
  EXPECT_EQ(b->input(0), c->output());
  EXPECT_EQ(a->output()->uses, (std::vector<Use>{{c, 0}}));
  replace_all_uses(a->output(), x);
  EXPECT_FALSE(has_uses(a->output()));
  EXPECT_EQ(model.graph->outputs[1], x);
  EXPECT_EQ(x->returns.size(), 1U);
  erase(a);
  EXPECT_EQ(order(), (std::vector<std::string>{"C", "B", "D"}));
  EXPECT_EQ(x->uses, (std::vector<Use>{{c, 0}}));
}

TEST_F(IrTest, ErasingANodeReleasesItsBodies) {
  ValueInfo* x = model.add_input(model.graph, "x");
  Graph* body = model.add_graph("body", model.graph);
  Node* inner = node("Inner", {x}, body);
  set_outputs(body, {inner->output()});
  Node* outer = node("If", {});
  set_attribute(outer, "then_branch", body);
  EXPECT_EQ(bodies(outer), std::vector<Graph*>{body});
  erase(outer);
  EXPECT_FALSE(has_uses(x));
  EXPECT_EQ(model.graph->first, nullptr);
}

TEST_F(IrTest, ABodyKnowsItsNodeAndItsReturnsAreUses) {
  ValueInfo* x = model.add_input(model.graph, "x");
  ValueInfo* other = model.add_input(model.graph, "other");
  Graph* body = model.add_graph("body", model.graph);
  set_outputs(body, {x, x});
  Node* outer = model.add_node("If", "");
  set_attribute(outer, "then_branch", body);
  append(model.graph, outer);
  EXPECT_EQ(body->owner, outer);
  EXPECT_EQ(x->returns, (std::vector<Return>{{body, 0}, {body, 1}}));
  replace_all_uses(x, other);
  EXPECT_FALSE(has_uses(x));
  EXPECT_EQ(body->outputs, (std::vector<ValueInfo*>{other, other}));
  Node* inner = node("Inner", {other}, body);
  EXPECT_EQ(ancestor_in(model.graph, inner), outer);
  EXPECT_FALSE(is_visible(inner->output(), outer));
}

TEST_F(IrTest, OrderIsAComparison) {
  ValueInfo* x = model.add_input(model.graph, "x");
  Node* a = node("A", {x});
  Node* b = node("B", {a->output()});
  EXPECT_TRUE(precedes(a, b));
  EXPECT_FALSE(precedes(b, a));
  // More nodes than there are numbers between two neighbors.
  Node* last = b;
  for (int i = 0; i < 100; ++i) {
    Node* between = model.add_node("C", "");
    insert_before(last, between);
    last = between;
  }
  EXPECT_TRUE(precedes(a, last));
  EXPECT_TRUE(precedes(last, last->next));
  EXPECT_TRUE(is_visible(a->output(), last));
  EXPECT_FALSE(is_visible(b->output(), last));
  move_before(a, b);
  EXPECT_TRUE(precedes(b, a));
}

TEST_F(IrTest, NamesOfErasedNodesAreFree) {
  Node* a = node("A", {});
  model.name_node(a, "a");
  erase(a);
  EXPECT_EQ(model.add_value("y")->name, "y");
  EXPECT_EQ(model.unique_name("a"), "a");
}

TEST_F(IrTest, AFunctionHasNamesOfItsOwn) {
  Node* a = node("A", {});
  Graph* body = model.add_graph("function", nullptr);
  EXPECT_EQ(model.add_value("y", body)->name, "y");
  move_to_end(body, a);
  EXPECT_EQ(a->output()->name, "y_1");
  EXPECT_EQ(model.add_value("y")->name, "y");
}

// A list of uses that is searched takes minutes here.
TEST_F(IrTest, AHundredThousandReadersAreRewrittenInLinearTime) {
  constexpr int kReaders = 100'000;
  ValueInfo* shared = model.add_constant(Tensor::of_int(1));
  ValueInfo* other = model.add_constant(Tensor::of_int(2));
  std::vector<Node*> readers;
  for (int i = 0; i < kReaders; ++i) readers.push_back(node("A", {shared, other}));
  const auto start = std::chrono::steady_clock::now();
  for (Node* reader : readers) set_input(reader, 0, other);
  EXPECT_TRUE(shared->uses.empty());
  EXPECT_EQ(other->uses.size(), 2U * kReaders);
  replace_all_uses(other, shared);
  for (Node* reader : readers) erase(reader);
  EXPECT_FALSE(has_uses(shared));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST_F(IrTest, AttributesAreFoundAndReplaced) {
  Node* n = node("N", {});
  set_attribute(n, "axis", std::int64_t{1});
  set_attribute(n, "to", DType::kInt64);
  set_attribute(n, "axis", std::int64_t{2});
  EXPECT_EQ(n->attributes.size(), 2U);
  EXPECT_EQ(n->int_or("axis", 0), 2);
  EXPECT_EQ(n->int_or("to", 0), 7);
  EXPECT_EQ(n->int_or("other", 5), 5);
  EXPECT_EQ(n->string_or("mode", "linear"), "linear");
  EXPECT_EQ(n->ints("axis"), nullptr);
}

}  // namespace
}  // namespace sardonyx::onnx
