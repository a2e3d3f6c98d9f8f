// ONNX graph IR: models, graphs, nodes and values, without protobuf.
// A Model owns everything; nodes and values are erased from graphs but live as long as the model.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "onnx/graph/tensor.h"
#include "symbolic/expr.h"

namespace sardonyx::onnx {

struct Node;
struct Graph;
class Model;
class NameScope;

enum class Op : std::uint16_t;  // onnx/gen/op.h
// Operators of other domains, and those that the tables do not know.
inline constexpr Op kUnknownOp = static_cast<Op>(0xffff);

using base::DType;
using Shape = std::vector<symbolic::Expr>;  // an unknown Expr is an unknown dim
// Whether two shapes say the same; unknown dims do, though the sizes may differ.
bool same_text(const Shape& a, const Shape& b);

// One place that reads a value: input `index` of `node`.
struct Use {
  Node* node;
  std::uint32_t index;
  friend bool operator==(Use, Use) = default;
};

// One place that hands a value out: output `index` of `graph`.
struct Return {
  Graph* graph;
  std::uint32_t index;
  friend bool operator==(Return, Return) = default;
};

// kOther: a map, a sparse tensor, a sequence of sequences, ...: only carried through, as `carried`
// has it.
enum class TypeKind : std::uint8_t { kTensor, kSequence, kOptional, kOther };

// What a file says of a value and the graph IR has no place for: protobuf fields as they were read.
struct Carried {
  std::string type;    // the whole type, where it says more than element type and shape
  std::string info;    // of the ValueInfoProto: documentation, metadata
  std::string tensor;  // of the TensorProto likewise
  std::string sparse;  // the SparseTensorProto that the value is
};

struct ValueInfo {
  std::string name;
  NameScope* names = nullptr;  // where the name is taken; null when the value was erased
  TypeKind type_kind = TypeKind::kTensor;
  DType dtype = DType::kUndefined;  // of the tensor, or of the sequence's tensors
  bool has_rank = false;
  Shape shape;  // of rank entries when has_rank

  // A complex tensor of the program: dtype is the real type and shape ends in 2 (real, imaginary).
  bool is_complex = false;

  Node* producer = nullptr;  // null for inputs and constants
  std::uint32_t index = 0;   // among the producer's outputs
  // The data, for initializers (weights and constants alike).
  std::shared_ptr<const Tensor> constant;
  // What an input of the main graph is where callers give nothing: no constant, since they may.
  std::shared_ptr<const Tensor> initial;
  std::shared_ptr<const Carried> carried;
  // The elements of a small integer tensor (a shape, an index) as far as they are known
  // expressions; empty when they are not. For constants see `constant`.
  std::vector<symbolic::Expr> contents;
  bool is_weight = false;  // a parameter, buffer or lifted constant of the program, by name
  // The weights whose values were worked into this one's: other data for them would come too late.
  std::vector<const ValueInfo*> made_of;
  // What the file declares is not what the operator gives: nothing may be built on either.
  bool is_disputed = false;
  // A constant that something which is carried through names: it stays as it is.
  bool is_pinned = false;
  Graph* graph = nullptr;  // where it is defined

  std::vector<Use> uses;        // in no order
  std::vector<Return> returns;  // the graphs that it is an output of
  std::uint32_t id = 0;         // dense, for side tables
};

// The value of an attribute of another kind than those below: its fields as they were read.
struct Opaque {
  std::int64_t kind;  // AttributeProto.AttributeType
  std::string fields;
};

struct Attribute {
  using Data = std::variant<std::int64_t, float, std::string, std::shared_ptr<const Tensor>, Graph*,
                            std::vector<std::int64_t>, std::vector<float>, std::vector<std::string>,
                            std::vector<Graph*>, DType, Opaque>;  // DType: a type-valued int
  std::string name;
  Data data;
  // In the body of a model-local function: the function's attribute that this one takes.
  std::string reference;
  std::string carried = {};  // further fields, as they were read
};

// Where a node came from; shared by the nodes that one captured call became.
struct Origin {
  std::string captured_node;         // "linear_3"
  std::string captured_text;         // the captured call as text, for pkg.torch.onnx.fx_node
  std::string op;                    // "aten::linear"
  std::vector<std::string> scopes;   // module paths, outermost first
  std::vector<std::string> classes;  // their types
  std::vector<std::uint32_t> calls;  // which call of each module it is; see program::ModuleFrame
  std::string stack_trace;
};

struct Node {
  Op op = kUnknownOp;  // goes with the next two: see set_operator()
  std::string op_type;
  std::string domain;    // empty for ONNX's own
  std::string overload;  // of a model-local function
  std::string name;
  std::vector<ValueInfo*> inputs;   // null for an omitted optional input
  std::vector<ValueInfo*> outputs;  // null for an omitted optional output
  std::vector<Attribute> attributes;
  const Origin* origin = nullptr;
  std::vector<std::pair<std::string, std::string>> metadata;  // further metadata_props
  std::string carried;                                        // further fields, as they were read

  Graph* graph = nullptr;  // null when erased
  Node* previous = nullptr;
  Node* next = nullptr;
  std::uint64_t order = 0;           // ascending in a graph that is `ordered`; see precedes()
  std::vector<std::uint32_t> slots;  // where the uses of each input lists this node
  NameScope* names = nullptr;        // where the node's name is taken, if it is
  std::uint32_t id = 0;

  const Attribute* find(std::string_view attribute) const;
  std::int64_t int_or(std::string_view attribute, std::int64_t otherwise) const;
  float float_or(std::string_view attribute, float otherwise) const;
  std::string string_or(std::string_view attribute, std::string otherwise) const;
  const std::vector<std::int64_t>* ints(std::string_view attribute) const;
  bool is(Op known) const { return op == known; }
  // One of ONNX's own; not what has its name and was set aside (onnx/infer/malformed_nodes.h).
  bool is(std::string_view type) const {
    return op != kUnknownOp && op_type == type && domain.empty();
  }
  ValueInfo* input(std::size_t i) const { return i < inputs.size() ? inputs[i] : nullptr; }
  ValueInfo* output(std::size_t i = 0) const { return i < outputs.size() ? outputs[i] : nullptr; }
};

// How a tensor is quantized, as a file says it beside the graph.
struct Annotation {
  const ValueInfo* value;
  std::string message;  // TensorAnnotation
};

// Nodes are a doubly linked list in execution order: inserting and erasing keep iteration valid as
// long as the node iterated on is not the one erased.
struct Graph {
  std::string name;
  std::vector<ValueInfo*> inputs;
  std::vector<ValueInfo*> outputs;
  Node* first = nullptr;
  Node* last = nullptr;
  Graph* parent = nullptr;  // the graph that holds the If, Loop or Scan this is a body of
  Node* owner = nullptr;    // that node, once it is in a graph
  Model* model = nullptr;
  NameScope* names = nullptr;        // shared by a main graph or function and its bodies
  std::vector<std::uint32_t> slots;  // where the returns of each output lists this graph
  bool ordered = true;
  std::vector<ValueInfo*> sparse;  // sparse initializers
  std::vector<Annotation> annotations;
  std::string carried;  // further fields, as they were read
};

// A model-local function.
struct Function {
  std::string domain;
  std::string name;
  std::string overload;
  std::vector<std::string> attributes;        // those that every call must give
  std::vector<Attribute> attribute_defaults;  // those with a value for calls that do not
  std::map<std::string, std::int64_t> opsets;
  Graph* body = nullptr;
  std::string carried = {};  // further fields, as they were read
};

class Model {
 public:
  explicit Model(std::shared_ptr<symbolic::Pool> pool);
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  // --- what is written
  Graph* graph = nullptr;
  std::map<std::string, std::int64_t> opsets;  // domain -> version; "" is ONNX's own
  std::int64_t ir_version = 0;
  std::string producer_name = "sardonyx";
  std::string producer_version;
  std::string domain;
  std::int64_t model_version = 0;
  std::string doc;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::string target;         // the runtime that it was lowered for, if it was; not written
  std::string carried;        // further fields, as they were read
  bool has_training = false;  // among them how the model is trained, by names of its values
  std::deque<Function> functions;
  // Initializers in the order they were made; those without uses are not written.
  std::vector<ValueInfo*> initializers;

  std::shared_ptr<symbolic::Pool> pool;

  // --- building
  Graph* add_graph(std::string name, Graph* parent);
  // The name is made unique in the main graph, or where `graph` is.
  ValueInfo* add_value(std::string_view name, const Graph* graph = nullptr);
  // Keeps the name, which must not be that of another value that is seen in the graph.
  ValueInfo* declare_value(std::string name, const Graph* graph);
  ValueInfo* add_input(Graph* graph, std::string name);
  ValueInfo* add_weight(std::string name, Tensor tensor);
  // Small constants are shared: the same dtype, dims and bytes give the same value.
  ValueInfo* add_constant(Tensor tensor, std::string_view name_hint = {});
  Node* add_node(std::string op_type, std::string domain);  // in no graph yet
  const Origin* add_origin(Origin origin);

  // A name that no value or node has yet: `wanted`, else wanted_1, wanted_2, ...
  std::string unique_name(std::string_view wanted);
  void rename(ValueInfo* value, std::string_view wanted);
  // A value of a body or function becomes one of the main graph, with a name that nothing has.
  void move_to_main(ValueInfo* value);
  // Gives the node a unique name, which is free again once the node is erased.
  void name_node(Node* node, std::string_view wanted);

  std::uint32_t value_count() const { return static_cast<std::uint32_t>(values_.size()); }
  std::uint32_t node_count() const { return static_cast<std::uint32_t>(nodes_.size()); }

 private:
  struct Tables;
  std::deque<ValueInfo> values_;
  std::deque<Node> nodes_;
  std::deque<Graph> graphs_;
  std::deque<Origin> origins_;
  std::shared_ptr<Tables> tables_;
};

// --- editing; each keeps uses, producers, links and names right.
void set_operator(Node* node, std::string op_type, std::string domain);
// Enters the uses of a node whose inputs were set while it was in no graph.
void enter_uses(Node* node);
// Gives back the names of a node that was never in a graph, and whose uses were not entered.
void discard(Node* node);
void append(Graph* graph, Node* node);
// To the end of another graph, with its bodies; names that are taken there change.
void move_to_end(Graph* graph, Node* node);
void insert_before(Node* position, Node* node);
// The same for a node of the same graph, from where it is.
void move_before(Node* position, Node* node);
void insert_after(Node* position, Node* node);
// Unlinks a node whose outputs have no uses and drops the uses it makes. Its bodies go with it.
void erase(Node* node);
void set_input(Node* node, std::size_t index, ValueInfo* value);
void add_input(Node* node, ValueInfo* value);
void add_output(Node* node, ValueInfo* value);
void set_outputs(Graph* graph, std::vector<ValueInfo*> outputs);
// Every use, graph outputs included, reads `to` instead.
void replace_all_uses(ValueInfo* from, ValueInfo* to);
bool has_uses(const ValueInfo* value);
void set_attribute(Node* node, std::string name, Attribute::Data data);
// The bodies of a node (If, Loop, Scan, functions' none).
std::vector<Graph*> bodies(const Node* node);

// --- order
// Whether a stands before b, both of one graph.
bool precedes(const Node* a, const Node* b);
// The node of `graph` that is `node` or has it in its bodies; null where none is.
const Node* ancestor_in(const Graph* graph, const Node* node);
// Whether `value` can be read at the place of `node`: made before it, in its graph or one around.
bool is_visible(const ValueInfo* value, const Node* node);
// The version of ONNX's own operators in the graph, which a function says for itself; 0 where it
// is not said.
std::int64_t opset_of(const Graph* graph);

// Readable text: the form of the torch.onnx.ops page (operators, types with symbolic dims, arrows).
std::string to_string(const Model& model);

// Definitions before uses, links and uses consistent, names unique, every operator known at its
// opset with as many inputs and the attributes it takes. Throws base::Error SX1501 with all
// findings.
void verify(const Model& model);

}  // namespace sardonyx::onnx
