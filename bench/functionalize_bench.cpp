// Functionalizing a program of 1441 calls; 480 write through a view. 3 ms are allowed.
#include <benchmark/benchmark.h>

#include <string>

#include "functionalize/functionalize.h"
#include "program/ir/program.h"

namespace sardonyx {
namespace {

using program::Argument;
using program::Call;
using program::Program;
using program::Value;
using symbolic::Expr;

Value* call(Program& program, const char* op, std::vector<Argument> arguments, std::string name,
            std::vector<Expr> shape) {
  const program::Schema* schema = program::find_schema(op);
  Call* made = program.add_call();
  made->schema = schema;
  made->arguments = program::bind(*schema, std::move(arguments), {});
  made->name = name;
  Value* value = program.add_value();
  value->name = std::move(name);
  value->dtype = base::DType::kFloat32;
  value->shape = std::move(shape);
  value->producer = made;
  made->outputs.push_back(value);
  program.graph->calls.push_back(made);
  return value;
}

// A table whose rows are read, written and read again.
void fill(Program& program) {
  program.graph = program.add_graph();
  Value* input = program.add_value();
  input->name = "x";
  input->dtype = base::DType::kFloat32;
  input->shape = {480, 8};
  program.graph->inputs.push_back(input);
  program.inputs.push_back({program::InputKind::kUser, input, "", true});
  Value* table = call(program, "aten::clone", {input}, "table", {480, 8});
  for (int i = 0; i < 480; ++i) {
    const std::string number = std::to_string(i);
    Value* row = call(program, "aten::select.int", {table, Expr(0), Expr(i)}, "row" + number, {8});
    call(program, "aten::add_.Scalar", {row, Expr(1)}, "add" + number, {8});
    call(program, "aten::mul.Tensor", {table, table}, "mul" + number, {480, 8});
  }
  program.graph->outputs.emplace_back(table);
  program.outputs.push_back({program::OutputKind::kUser, table, ""});
}

void functionalize(benchmark::State& state) {
  for (auto each : state) {
    state.PauseTiming();
    Program program;
    fill(program);
    state.ResumeTiming();
    functionalize::functionalize(program);
  }
}
BENCHMARK(functionalize)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sardonyx
