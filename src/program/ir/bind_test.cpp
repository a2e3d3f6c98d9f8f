#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "program/ir/program.h"
#include "program/ir/target.h"

namespace sardonyx::program {
namespace {

using symbolic::Expr;

TEST(Bind, FillsDefaultsAndPlacesByName) {
  Program program;
  Value* x = program.add_value();
  const Schema* schema = find_schema("aten::addmm");
  const auto bound = bind(*schema, {x, x, x}, {{"alpha", 2.5}});
  ASSERT_EQ(bound.size(), 5u);
  EXPECT_TRUE(bound[3].get<Expr>()->is(1));
  EXPECT_EQ(*bound[4].get<double>(), 2.5);
}

TEST(Bind, ConvertsAsPyTorchDoes) {
  const Schema schema = parse_schema(
      "t::t(int[2] a, float b, bool c, ScalarType d, MemoryFormat e, Device f, complex g, "
      "Scalar h, int i, float[] j, int[]? k) -> ()");
  const auto bound = bind(schema,
                          {Expr(3), Expr(2), Expr(1), Expr(6), Expr(2), std::string("cpu"), Expr(1),
                           true, true, List{Expr(1), 2.5}, None{}},
                          {});
  ASSERT_EQ(bound[0].get<List>()->size(), 2u);
  EXPECT_TRUE((*bound[0].get<List>())[1].get<Expr>()->is(3));
  EXPECT_EQ(*bound[1].get<double>(), 2.0);
  EXPECT_EQ(*bound[2].get<bool>(), true);
  EXPECT_EQ(*bound[3].get<base::DType>(), base::DType::kFloat32);
  EXPECT_EQ(bound[4].get<Enumerator>()->name, "channels_last");
  EXPECT_EQ(bound[5].get<Enumerator>()->name, "cpu");
  EXPECT_EQ(*bound[6].get<std::complex<double>>(), std::complex<double>(1.0));
  EXPECT_EQ(*bound[7].get<bool>(), true);  // a Scalar keeps its own type
  EXPECT_TRUE(bound[8].get<Expr>()->is(1));
  EXPECT_EQ(*(*bound[9].get<List>())[0].get<double>(), 1.0);
  EXPECT_TRUE(bound[10].is_none());
}

void expect_refused(const Schema& schema, std::vector<Argument> positional,
                    std::vector<NamedArgument> named, const std::string& part) {
  try {
    bind(schema, std::move(positional), std::move(named));
    ADD_FAILURE() << "accepted; expected " << part;
  } catch (const base::Error& error) {
    EXPECT_EQ(error.diagnostics()[0].code, "SX1204");
    EXPECT_EQ(error.diagnostics()[0].op, "t::t");
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(Bind, NamesTheArgumentThatDoesNotFit) {
  const Schema schema = parse_schema("t::t(Tensor x, int[] sizes, str mode=\"a\") -> ()");
  Program program;
  Value* x = program.add_value();
  expect_refused(schema, {x}, {}, "'sizes' is missing");
  expect_refused(schema, {x, List{}, std::string("a"), Expr(1)}, {}, "takes 3 arguments, got 4");
  expect_refused(schema, {x, List{}}, {{"x", x}}, "'x' is given twice");
  expect_refused(schema, {x, List{}}, {{"other", x}}, "no argument 'other'");
  expect_refused(schema, {x, List{std::string("s")}}, {}, "'sizes': expected int[]");
  expect_refused(schema, {std::string("s"), List{}}, {}, "'x': expected Tensor, got the string");
  expect_refused(schema, {None{}, List{}}, {}, "'x': expected Tensor, got None");
  expect_refused(schema, {x, List{}, Expr(1)}, {}, "'mode': expected str");
}

TEST(ResolveTarget, IsOneSpellingForEveryCapture) {
  EXPECT_EQ(resolve_target("torch.ops.aten.max.dim"), "aten::max.dim");
  EXPECT_EQ(resolve_target("torch.ops.aten.relu.default"), "aten::relu");
  EXPECT_EQ(resolve_target("aten.relu.default"), "aten::relu");
  EXPECT_EQ(resolve_target("aten::max.dim"), "aten::max.dim");
  EXPECT_EQ(resolve_target("aten::relu"), "aten::relu");
  EXPECT_EQ(resolve_target("torch.ops.higher_order.cond"), "higher_order::cond");
  EXPECT_EQ(resolve_target("_operator.floordiv"), "sym::floordiv");
  EXPECT_EQ(resolve_target("_operator.and_"), "sym::and");
  EXPECT_EQ(resolve_target("math.ceil"), "sym::ceil");
  EXPECT_EQ(resolve_target("torch.sym_min"), "sym::min");
  EXPECT_EQ(resolve_target("torch._sym_sqrt"), "sym::sqrt");
  EXPECT_EQ(resolve_target("torch._functorch.predispatch._add_batch_dim"),
            "python::_add_batch_dim");
  EXPECT_EQ(resolve_target("torch.ops.mylib.foo.bar"), "mylib::foo.bar");
  for (const char* target : {"", ".", "::", "torch.ops.", "torch.ops..", "a", "torch."})
    resolve_target(target);  // whatever it is: no crash
}

TEST(BindTarget, GathersVariadicArgumentsAndIgnoresNamesOfScalarOperands) {
  Program program;
  Value* x = program.add_value();
  Graph* body = program.add_graph();
  const BoundCall wrapped =
      bind_target(program, "higher_order::wrap_with_set_grad_enabled", {true, body, x, x}, {});
  EXPECT_EQ(wrapped.arguments[2].get<List>()->size(), 2u);
  const BoundCall sum = bind_target(program, "sym::add", {}, {{"self", Expr(1)}, {"x", Expr(2)}});
  EXPECT_TRUE(sum.arguments[1].get<Expr>()->is(2));
  const BoundCall list = bind_target(program, "sym::sum", {List{Expr(1), Expr(2)}}, {});
  EXPECT_EQ(list.arguments[0].get<List>()->size(), 2u);
}

TEST(BindTarget, MakesASchemaForWhatItDoesNotKnow) {
  Program program;
  Value* x = program.add_value();
  const BoundCall call = bind_target(program, "mylib::foo.bar", {x}, {{"scale", 2.0}});
  EXPECT_EQ(call.schema->qualified(), "mylib::foo.bar");
  EXPECT_EQ(call.schema->parameters[1].name, "scale");
  EXPECT_EQ(*call.arguments[1].get<double>(), 2.0);
  // An argument that a newer PyTorch added.
  const BoundCall newer = bind_target(program, "aten::relu", {x}, {{"brand_new", true}});
  EXPECT_EQ(newer.schema->parameters[0].name, "self");
  EXPECT_EQ(newer.schema->qualified(), "aten::relu");
}

}  // namespace
}  // namespace sardonyx::program
