// Emits the canonical IR: ONNX's operators of the newest opset, whatever target the model is for
// (src/targets lowers it in the end). Typed methods, one an operator, infer the type
// and shape of what they emit, fold constants and shape arithmetic, and share equal nodes.
//
//   Value y = onnx.add(onnx.matmul(x, w), b);
//   Value z = onnx.softmax(y, {.axis = -1});
//
// The operators themselves (`gemm`, `conv`, `reduce_sum`, ...) are declared in the generated base
// class Operators (onnx/gen/operators.h): snake_case of ONNX's name, a trailing underscore where
// C++ has the word (and_, or_, not_, if_); inputs in ONNX's order, absent ones as Value{};
// attributes as a struct with designated initializers.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/gen/operators.h"
#include "onnx/graph/ir.h"
#include "onnx/graph/value.h"

namespace sardonyx::onnx {

using symbolic::Expr;

struct EmitOptions {
  // The opset whose forms node() takes: who names operators (a user's translator, a function)
  // writes them as the opset of his model has them.
  std::int64_t opset = newest_opset();
  // What the user wants of other domains than ONNX's own; stands above what translators say.
  std::map<std::string, std::int64_t> domain_versions = {};
};

class Emit : public Operators {
 public:
  // Into the main graph of a new model, which is then in the canonical IR.
  Emit(Model& model, EmitOptions options);
  ~Emit() override;

  Model& model() { return model_; }
  // Of the forms that node() takes.
  std::int64_t named_opset() const { return options_.opset; }
  void name_in_opset(std::int64_t opset) { options_.opset = opset; }
  symbolic::Pool& pool() { return *model_.pool; }
  // The graph that nodes are appended to now.
  Graph* graph() const;

  // Nodes emitted from here on come from this captured call and are named after it.
  void set_origin(const Origin* origin, std::string_view name);

  // --- any operator by name, in the form of named_opset(); operators of other domains
  Values node(std::string_view domain, std::string_view op_type, std::span<const Value> inputs,
              std::vector<Attribute> attributes, std::size_t outputs);
  // The model imports a domain of other operators, at 1 where nobody names a version. Throws SX1506
  // where two versions of one domain are asked for: a model has one.
  void use_domain(std::string_view domain, std::optional<std::int64_t> version = {});
  // Declares the type of an output that inference cannot know (custom operators).
  static void set_type(Value value, DType dtype, const Shape& shape);

  // --- constants
  Value constant(Tensor tensor);
  Value ints(std::span<const std::int64_t> values);  // int64 [n]
  Value ints(std::initializer_list<std::int64_t> values);
  Value int_scalar(std::int64_t value);     // int64, 0-d
  Value scalar(double value, DType dtype);  // 0-d, rounded to dtype
  Value int_scalar(std::int64_t value, DType dtype);
  Value bool_scalar(bool value);
  Value zero(DType dtype) { return scalar(0, dtype); }
  Value one(DType dtype) { return scalar(1, dtype); }
  // 0-d constant with the value's dtype.
  Value scalar_like(double value, Value like) { return scalar(value, like.dtype()); }

  // --- sizes: symbolic expressions as int64 tensors, in their simplest form. A size is a constant,
  // a dim read off a value once, or arithmetic on those; each is made once in a scope.
  // Throws SX1402 when a symbol has no source in the graph.
  Value size(Expr size);                     // 0-d
  Value sizes(std::span<const Expr> sizes);  // 1-d [n]; "shape tensor"
  Value sizes(std::initializer_list<Expr> sizes);
  Value real_size(Expr e, DType dtype);  // a SymFloat (or SymInt) as a 0-d floating tensor
  Value condition(Expr e);               // a SymBool as a 0-d bool tensor
  // The runtime shape of x, or of its axes [start, end), as int64 [n]; constant where known.
  Value shape_of(Value x);
  Value shape_of(Value x, std::int64_t start, std::int64_t end);
  // Size of one axis as int64 [1].
  Value dim_of(Value x, std::int64_t axis);
  // The symbols of `dim` can from here on be read off axis `axis` of `value`.
  void add_size_source(Value value, std::int64_t axis, Expr dim);
  // The symbol is the value of this 0-d or one-element tensor (item(), SymInt inputs).
  void add_size_source(Value scalar, Expr symbol);
  bool can_size(Expr size) const;
  // Until end_symbols(), in the same graph, these symbols mean something else: a body's own inputs,
  // which have another value each time that the body runs.
  void begin_symbols(std::vector<Expr> symbols);
  void end_symbols();

  // --- shapes; axes may be negative. All of them return x itself when nothing would change.
  using Operators::concat;
  using Operators::expand;
  using Operators::gather;
  using Operators::range;
  using Operators::reshape;
  using Operators::slice;
  using Operators::squeeze;
  using Operators::transpose;
  using Operators::unsqueeze;
  Value reshape(Value x, std::span<const Expr> shape);
  Value reshape(Value x, std::initializer_list<Expr> shape);
  // The same, also where any of the sizes is 0: all of them are read.
  Value reshape_of_any_size(Value x, std::span<const Expr> shape);
  // To the shape of another value, which is read from it where constants cannot say it.
  Value reshape_like(Value x, Value like);
  Value expand(Value x, std::span<const Expr> shape);  // to exactly this shape (broadcasting)
  Value transpose(Value x, std::span<const std::int64_t> permutation);
  Value transpose(Value x, std::initializer_list<std::int64_t> permutation);
  Value swap_axes(Value x, std::int64_t a, std::int64_t b);
  Value unsqueeze(Value x, std::span<const std::int64_t> axes);  // positions in the result
  Value unsqueeze(Value x, std::initializer_list<std::int64_t> axes);
  Value squeeze(Value x, std::span<const std::int64_t> axes);
  Value squeeze(Value x, std::initializer_list<std::int64_t> axes);
  Value flatten_to_1d(Value x);
  Value concat(std::span<const Value> parts, std::int64_t axis);
  Value concat(std::initializer_list<Value> parts, std::int64_t axis);
  // Elements [start, end) of one axis, step > 0 or < 0 as ONNX's Slice counts; a step that is known
  // only at run time has to be > 0, or the run fails.
  Value slice(Value x, std::int64_t axis, Expr start, Expr end, Expr step = 1);
  // One index of an axis, which goes away.
  Value select(Value x, std::int64_t axis, Expr index);
  Value full(std::span<const Expr> shape, Value scalar);  // 0-d scalar, broadcast
  Value range(Expr count);                                // 0, 1, ..., count - 1: int64 [count]
  // x with leading axes of size 1 until it has this rank.
  Value with_rank(Value x, std::int64_t rank);

  // --- types
  Value cast(Value x, DType to);  // PyTorch's conversion; x itself when it has the type
  Value identity(Value x);        // a node of its own: a new name for x

  // --- reductions over axes (negative allowed; empty: over none), for every opset
  Value reduce(std::string_view op_type, Value x, std::span<const std::int64_t> axes,
               bool keep_dims);

  // --- bodies of If, Loop, Scan
  // begin_body() makes a graph below the present one and emits into it until end_body().
  Graph* begin_body(std::string name);
  Value body_input(std::string name, DType dtype, const Shape& shape);
  void end_body(std::span<const Value> outputs);
  Values if_(Value condition, Graph* then_branch, Graph* else_branch);
  // ONNX Loop: inputs of the body are iteration number, condition, carried...; outputs condition,
  // carried..., scanned... Returns final carried values, then the stacked scanned ones.
  Values loop(Value trip_count, Value condition, std::span<const Value> carried, Graph* body);
  // ONNX Scan: inputs of the body are states..., one slice along axis 0 of each of `sequences`;
  // outputs states..., scanned.... Returns final states, then the stacked scanned ones.
  Values scan(std::span<const Value> states, std::span<const Value> sequences, Graph* body);

  // --- graphs that are there already
  // Until leave(), nodes go to the end of this body of the present graph. The symbols mean
  // something else in it, as with begin_symbols().
  void enter(Graph* body, std::vector<Expr> symbols);
  void leave();
  // The node at the end of the present graph is one of ours from here on: equal ones are not
  // emitted again, and sizes are read off its outputs.
  void adopt(const Node* node);

 protected:
  // For emitters of other dialects than the core, into a model that is there.
  Emit(Model& model, std::int64_t dialect, EmitOptions options);

  Values build(const Operator& op, std::span<const Value> inputs, std::vector<Attribute> attributes,
               std::size_t outputs) override;

  // --- the steps of build()
  // The version of the operator that the dialect has, which inputs and attributes are checked
  // against; attributes that say what is the default are dropped.
  const OperatorVersion& checked(const Operator& op, std::span<const Value> inputs,
                                 std::vector<Attribute>& attributes) const;
  // What is there already, a simpler node, or constants; nothing where a node must compute it.
  std::optional<Values> without_node(const Operator& op, std::span<const Value> inputs,
                                     const std::vector<Attribute>& attributes, std::size_t outputs);
  // Casts round an operator that the dialect does not have for the types; nothing where it has it.
  std::optional<Values> in_taken_types(const Operator& op, const OperatorVersion& version,
                                       std::span<const Value> inputs,
                                       const std::vector<Attribute>& attributes,
                                       std::size_t outputs);
  Values emit_node(const Operator& op, std::span<const Value> inputs,
                   std::vector<Attribute> attributes, std::size_t outputs);

  std::int64_t dialect() const { return dialect_; }

 private:
  struct State;
  struct Sizes;  // emit_sizes.cpp

  // identities.cpp: a value that is there already, or a simpler node.
  Value simplified(const Operator& op, std::span<const Value> inputs,
                   std::span<const Attribute> attributes);

  Model& model_;
  std::int64_t dialect_;  // the opset whose forms nodes are emitted in
  EmitOptions options_;
  std::unique_ptr<State> state_;
};

// A size that a batch of inputs has is taken to be at least 1; one that depends on data may be 0.
bool may_be_zero(Expr size);

}  // namespace sardonyx::onnx
