#include "proto/reader/example_models.h"

#include <sys/mman.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>

namespace sardonyx::proto {

namespace fs = std::filesystem;
using base::DType;
using onnx::Graph;
using onnx::Model;
using onnx::Node;
using onnx::Tensor;
using onnx::ValueInfo;

namespace {

Node* add(Model& model, Graph* graph, std::string op_type, const std::vector<ValueInfo*>& inputs,
          std::vector<std::string> outputs) {
  Node* node = model.add_node(std::move(op_type), {});
  node->name = model.unique_name("node_" + outputs.front());
  for (ValueInfo* input : inputs) onnx::add_input(node, input);
  for (std::string& output : outputs)
    onnx::add_output(node, output.empty() ? nullptr : model.add_value(std::move(output)));
  onnx::append(graph, node);
  return node;
}

void type(ValueInfo* value, DType dtype, onnx::Shape shape) {
  value->dtype = dtype;
  value->has_rank = true;
  value->shape = std::move(shape);
}

// if (cond) -x else x + 1, with an initializer read inside a body
void add_if(Model& model, ValueInfo* x, ValueInfo* weight) {
  ValueInfo* condition = model.add_constant(
      Tensor::of_bytes(DType::kBool, {}, std::vector<std::byte>(1, std::byte{1})), "condition");
  Node* branch = add(model, model.graph, "If", {condition}, {"chosen"});
  Graph* then_body = model.add_graph("then_body", model.graph);
  onnx::set_outputs(then_body, {add(model, then_body, "Neg", {x}, {"negated"})->output()});
  Graph* else_body = model.add_graph("else_body", model.graph);
  onnx::set_outputs(else_body, {add(model, else_body, "Add", {x, weight}, {"added"})->output()});
  onnx::set_attribute(branch, "then_branch", then_body);
  onnx::set_attribute(branch, "else_branch", else_body);
}

// A function that scales by an attribute and adds a constant of its own.
void add_function(Model& model, ValueInfo* constant) {
  Graph* body = model.add_graph("scaled", nullptr);
  ValueInfo* in = model.add_input(body, "in");
  Node* factor = add(model, body, "Constant", {}, {"factor"});
  factor->attributes.push_back({"value_float", 0.0F, "alpha"});
  Node* product = add(model, body, "Mul", {in, factor->output()}, {"product"});
  type(product->output(), DType::kFloat32, {4});
  Node* sum = add(model, body, "Add", {product->output(), constant}, {"sum"});
  onnx::set_outputs(body, {sum->output()});
  model.functions.push_back(
      {"local", "scaled", "f32", {"alpha"}, {{"beta", 2.0F, {}}}, {{"", 18}}, body});
}

void add_all_attributes(Model& model, ValueInfo* x) {
  Node* node = add(model, model.graph, "Anything", {x, nullptr, x}, {"first", "", "third"});
  node->domain = "custom";
  onnx::set_attribute(node, "int", std::int64_t{-3});
  onnx::set_attribute(node, "zero", std::int64_t{0});
  onnx::set_attribute(node, "float", 0.1F);
  onnx::set_attribute(node, "string", std::string("a\0b", 3));
  onnx::set_attribute(node, "empty", std::string());
  onnx::set_attribute(node, "tensor", std::make_shared<const Tensor>(Tensor::of_int(7)));
  onnx::set_attribute(node, "ints", std::vector<std::int64_t>{1, -1, std::int64_t{1} << 40});
  onnx::set_attribute(node, "no_ints", std::vector<std::int64_t>{});
  onnx::set_attribute(node, "floats", std::vector<float>{1.5F, -0.0F});
  onnx::set_attribute(node, "strings", std::vector<std::string>{"a", ""});
  onnx::set_attribute(node, "dtype", DType::kBFloat16);
  Graph* body = model.add_graph("body", model.graph);
  type(model.add_input(body, "of_body"), DType::kInt64, {});
  onnx::set_outputs(body, {add(model, body, "Identity", {body->inputs[0]}, {"same"})->output()});
  onnx::set_attribute(node, "graphs", std::vector<Graph*>{body});
  node->metadata.emplace_back("key", "value");
}

void add_tensors_of_every_kind(Model& model) {
  std::vector<ValueInfo*> inputs;
  const auto put = [&](const std::string& name, Tensor tensor) {
    inputs.push_back(model.add_weight(name, std::move(tensor)));
  };
  const std::vector<std::byte> zeros(32, std::byte{0x5a});
  for (int number = 1; number <= static_cast<int>(base::kLastDType); ++number) {
    const auto dtype = static_cast<DType>(number);
    if (dtype == DType::kString) continue;
    const auto size = static_cast<std::size_t>(base::byte_size(dtype, 2));
    put("of_" + std::string(base::dtype_name(dtype)),
        Tensor::of_bytes(dtype, {2}, std::span(zeros).first(size)));
  }
  Tensor strings;
  strings.dtype = DType::kString;
  strings.dims = {2, 1};
  strings.strings = {"one", std::string("t\0wo", 4)};
  put("strings", std::move(strings));
  put("empty", Tensor::of_bytes(DType::kFloat32, {3, 0}, {}));
  put("scalar", Tensor::of_int(5));
  add(model, model.graph, "Consume", inputs, {"consumed"})->domain = "custom";
}

}  // namespace

onnx::Tensor counting(std::int64_t n) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < n; ++i) values.push_back(static_cast<float>(i));
  return Tensor::of_bytes(DType::kFloat32, {n}, std::as_bytes(std::span(values)));
}

std::unique_ptr<Model> adding_model(Tensor w) {
  auto model = std::make_unique<Model>(std::make_shared<symbolic::Pool>());
  model->opsets[""] = 18;
  const onnx::Shape shape(w.dims.begin(), w.dims.end());
  const DType dtype = w.dtype;
  ValueInfo* x = model->add_input(model->graph, "x");
  type(x, dtype, shape);
  ValueInfo* weight = model->add_weight("w", std::move(w));
  ValueInfo* y = add(*model, model->graph, "Add", {x, weight}, {"y"})->output();
  type(y, dtype, shape);
  onnx::set_outputs(model->graph, {y});
  return model;
}

std::unique_ptr<Model> adding_model(std::int64_t n) { return adding_model(counting(n)); }

std::unique_ptr<Model> model_of_everything() {
  auto model = std::make_unique<Model>(std::make_shared<symbolic::Pool>());
  model->opsets = {{"", 18}, {"custom", 1}, {"local", 1}};
  model->producer_version = "1.2";
  model->domain = "org.example";
  model->model_version = 3;
  model->doc = "One of everything.";
  model->metadata = {{"b", "2"}, {"a", ""}};

  ValueInfo* x = model->add_input(model->graph, "x");
  type(x, DType::kFloat32, {model->pool->symbol("batch"), 4});
  ValueInfo* ranked = model->add_input(model->graph, "unknown_dims");
  type(ranked, DType::kInt64, {symbolic::Expr(), model->pool->symbol("2*n + 1")});
  model->add_input(model->graph, "unknown_rank")->dtype = DType::kBool;
  ValueInfo* list = model->add_input(model->graph, "list");
  type(list, DType::kFloat16, {3});
  list->type_kind = onnx::TypeKind::kSequence;
  ValueInfo* maybe = model->add_input(model->graph, "maybe");
  maybe->dtype = DType::kFloat32;
  maybe->type_kind = onnx::TypeKind::kOptional;

  ValueInfo* weight = model->add_weight("weight", counting(4));
  model->add_weight("unused", counting(4));
  ValueInfo* sum = add(*model, model->graph, "Add", {x, weight}, {"sum"})->output();
  type(sum, DType::kFloat32, x->shape);
  add_if(*model, x, weight);
  ValueInfo* constant = model->add_weight("of_function", counting(4));
  add_function(*model, constant);
  Node* call = add(*model, model->graph, "scaled", {sum}, {"called"});
  call->domain = "local";
  call->overload = "f32";
  onnx::set_attribute(call, "alpha", 0.5F);
  add_all_attributes(*model, x);
  add_tensors_of_every_kind(*model);
  onnx::set_outputs(model->graph, {call->output(), x, sum});
  return model;
}

Tensor sparse_zeros(std::int64_t size) {
  const auto length = static_cast<std::size_t>(size);
  void* memory =
      ::mmap(nullptr, length, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  Tensor tensor;
  tensor.dtype = DType::kUInt8;
  tensor.dims = {size};
  tensor.data = static_cast<const std::byte*>(memory);
  tensor.owner = std::shared_ptr<const void>(
      memory, [length](const void* mapped) { ::munmap(const_cast<void*>(mapped), length); });
  return tensor;
}

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::span<const std::byte> as_bytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}

}  // namespace sardonyx::proto
