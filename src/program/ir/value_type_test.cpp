#include "program/ir/value_type.h"

#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "program/ir/captured_symbols.h"
#include "program/ir/program.h"
#include "program/ir/regions.h"

namespace sardonyx::program {
namespace {

ValueType tensor(base::DType dtype, std::vector<symbolic::Expr> shape) {
  ValueType type;
  type.dtype = dtype;
  type.shape = std::move(shape);
  return type;
}

ValueType unknown_tensor() {
  ValueType type;
  type.has_rank = false;
  return type;
}

ValueType of(ValueKind kind, std::vector<ValueType> items = {}) {
  ValueType type;
  type.kind = kind;
  type.items = std::move(items);
  return type;
}

TEST(ValueTypes, AreWrittenAsPythonWritesThem) {
  EXPECT_EQ(type_text(tensor(base::DType::kFloat32, {2, symbolic::Expr()})), "float32[2, ?]");
  EXPECT_EQ(type_text(unknown_tensor()), "?[...]");
  EXPECT_EQ(type_text(of(ValueKind::kList, {unknown_tensor()})), "List[?[...]]");
  EXPECT_EQ(type_text(of(ValueKind::kOptional, {of(ValueKind::kInt)})), "Optional[int]");
  const ValueType lists = of(ValueKind::kList, {of(ValueKind::kFloat)});
  EXPECT_EQ(type_text(of(ValueKind::kDict, {of(ValueKind::kString), lists})),
            "Dict[str, List[float]]");
  EXPECT_EQ(type_text(of(ValueKind::kTuple, {of(ValueKind::kBool), of(ValueKind::kNone)})),
            "Tuple[bool, None]");
  EXPECT_EQ(type_text(of(ValueKind::kObject)), "object");
}

TEST(ValueTypes, AreSettledInProgramsOfExport) {
  EXPECT_TRUE(is_settled(tensor(base::DType::kInt64, {})));
  EXPECT_TRUE(is_settled(of(ValueKind::kInt)));
  EXPECT_TRUE(is_settled(of(ValueKind::kObject)));
  EXPECT_FALSE(is_settled(tensor(base::DType::kUndefined, {2})));
  ValueType ranked = tensor(base::DType::kInt64, {});
  ranked.has_rank = false;
  EXPECT_FALSE(is_settled(ranked));
  EXPECT_FALSE(is_settled(of(ValueKind::kList, {of(ValueKind::kInt)})));
}

// x > 0 ? relu(x) : x, as TorchScript says it: the bodies have no inputs and read x by themselves.
struct Branches {
  Program program;
  Value* x = add("x");
  Value* flag = add("flag");
  Value* y = add("y");
  Graph* then_block = program.add_graph();
  Graph* else_block = program.add_graph();

  Branches() {
    flag->kind = ValueKind::kBool;
    Value* inner = add("inner");
    Call* relu = call("aten::relu", {x}, inner);
    then_block->calls = {relu};
    then_block->outputs = {inner};
    else_block->outputs = {x};
    Call* branch = call("prim::If", {flag, then_block, else_block}, y);
    program.graph = program.add_graph();
    program.graph->inputs = {x, flag};
    flag->index = 1;
    program.graph->calls = {branch};
    program.graph->outputs = {y};
    program.inputs.push_back({InputKind::kUser, x, "", true});
    program.inputs.push_back({InputKind::kUser, flag, "", true});
    program.outputs.push_back({OutputKind::kUser, y, ""});
  }

  Value* add(const char* name) {
    Value* value = program.add_value();
    value->name = name;
    value->dtype = base::DType::kFloat32;
    value->shape = {2};
    return value;
  }
  Call* call(const char* op, std::vector<Argument> arguments, Value* output) {
    Call* made = program.add_call();
    made->name = output->name;
    made->schema = find_schema(op);
    made->arguments = bind(*made->schema, std::move(arguments), {});
    made->outputs = {output};
    output->producer = made;
    return made;
  }
};

std::string refusal(const Program& program, void (*check)(const Program&)) {
  try {
    check(program);
  } catch (const base::Error& error) {
    return error.diagnostics()[0].code + " " + error.diagnostics()[0].message;
  }
  return {};
}

TEST(Regions, MayReadWhatStandsAroundThemWhereTheirKindSaysSo) {
  Branches branches;
  EXPECT_EQ(refusal(branches.program, verify), "");
  const auto region = region_of(*branches.program.graph->calls[0]);
  ASSERT_TRUE(region);
  EXPECT_EQ(region->kind->runs, Runs::kOneOf);
  EXPECT_EQ(region->bodies, (std::vector{branches.then_block, branches.else_block}));
  EXPECT_NE(refusal(branches.program, require_settled).find("SX1207 the bodies of prim::If"),
            std::string::npos);
  Call& branch = *branches.program.graph->calls[0];
  branch.schema = find_schema("higher_order::cond");
  branch.arguments.emplace_back(List());
  EXPECT_NE(refusal(branches.program, verify).find("'x' is used before it is defined"),
            std::string::npos);
}

TEST(Regions, SayWhatEachInputOfABodyIsGiven) {
  Branches branches;
  Call* scan = branches.program.add_call();
  scan->schema = find_schema("higher_order::scan");
  scan->arguments =
      bind(*scan->schema,
           {branches.then_block, List{symbolic::Expr(3)}, List{branches.x}, List{branches.y}}, {});
  const auto region = region_of(*scan);
  ASSERT_TRUE(region);
  EXPECT_EQ(region->kind->runs, Runs::kEach);
  EXPECT_EQ(region->operands(), (std::vector<Value*>{nullptr, branches.x, branches.y}));
  scan->schema = find_schema("higher_order::associative_scan");
  scan->arguments = bind(*scan->schema, {branches.then_block, List{branches.x}}, {});
  EXPECT_EQ(region_of(*scan)->operands(), (std::vector<Value*>{nullptr, branches.x}));
  EXPECT_FALSE(region_of(*branches.then_block->calls[0]));
}

TEST(Verify, KnowsTheTypesOfTorchScript) {
  Branches branches;
  static_cast<ValueType&>(*branches.y) = of(ValueKind::kList, {unknown_tensor()});
  EXPECT_EQ(refusal(branches.program, verify), "");
  branches.y->items.clear();
  EXPECT_NE(refusal(branches.program, verify).find("does not say what it holds"),
            std::string::npos);
  static_cast<ValueType&>(*branches.y) = unknown_tensor();
  EXPECT_EQ(refusal(branches.program, verify), "");
  branches.y->shape = {2};
  EXPECT_NE(refusal(branches.program, verify).find("has a shape and no rank"), std::string::npos);
  static_cast<ValueType&>(*branches.x) = tensor(base::DType::kUndefined, {2});
  EXPECT_NE(refusal(branches.program, require_settled).find("SX1207 'x' is ?[2]"),
            std::string::npos);
}

TEST(CapturedSymbols, DependOnDataByTheNumberedNamesOfExport) {
  symbolic::Pool pool;
  const symbolic::Expr u = pool.symbol("u12"), users = pool.symbol("users"), s = pool.symbol("s0");
  const symbolic::Expr real = pool.symbol("zuf0");
  mark_unbacked_symbols(pool);
  EXPECT_TRUE(u.is_unbacked());
  EXPECT_TRUE(real.is_unbacked());
  EXPECT_FALSE(users.is_unbacked());
  EXPECT_FALSE(s.is_unbacked());
  EXPECT_TRUE(symbolic::depends_on_data(s + u));
  EXPECT_FALSE(symbolic::depends_on_data(s + users));
  EXPECT_FALSE(symbolic::depends_on_data(symbolic::Expr()));
}

}  // namespace
}  // namespace sardonyx::program
