// The neutral captured program: what every front end fills and what translation reads.
// It knows neither torch nor ONNX.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/diagnostic.h"
#include "base/dtype.h"
#include "program/ir/value_type.h"
#include "program/schema/argument.h"
#include "program/schema/schema.h"
#include "symbolic/expr.h"

namespace sardonyx::program {

struct Call;
struct Weight;

// One module on the way from the root to the place of a call.
struct ModuleFrame {
  std::string path;  // "encoder.layers.0.attn"; empty for the root
  std::string type;  // "torch.nn.modules.linear.Linear"
  // Which of the calls of this module it is, where the program calls it several times.
  std::uint32_t call = 0;

  friend bool operator==(const ModuleFrame&, const ModuleFrame&) = default;
};

// The call that a key of PyTorch's nn_module_stack tells of: 2 for "L__self__layers.0@2".
std::uint32_t call_number(std::string_view key);

// Where a call came from. Interned: neighboring calls share one.
struct Source {
  std::vector<ModuleFrame> modules;  // outermost first
  std::string stack_trace;           // as Python prints it, innermost call last; may be empty

  // The innermost frame of the stack trace that is the user's (file, line, function).
  base::UserLocation location() const;
  // "encoder.layers.0.attn (MultiheadAttention)"; empty when unknown.
  std::string module_path() const;
};

struct Value : ValueType {
  std::string name;
  // Of tensors:
  std::vector<symbolic::Expr> strides;  // in elements; empty means contiguous
  // Of kInt, kFloat, kBool: its value where one is known (else unknown()).
  symbolic::Expr expr;

  Call* producer = nullptr;        // null for graph inputs
  std::uint32_t index = 0;         // among the producer's outputs or the graph's inputs
  const Weight* weight = nullptr;  // parameters, buffers and lifted constants
};

// An operator application: every schema argument is bound, in schema order, defaults filled in.
// Outputs are flattened: split returns one Value a chunk.
struct Call {
  const Schema* schema = nullptr;
  std::string name;  // of the captured node
  // The captured node that it stands for, where functionalization made it; else empty.
  std::string captured;
  std::vector<Argument> arguments;
  std::vector<Value*> outputs;  // null where the program never uses the output
  const Source* source = nullptr;

  const Argument& argument(std::string_view parameter) const;  // SX1204 when there is none
  bool has(std::string_view parameter) const;                  // bound and not None
};

// The tensor that an argument is; null for anything else.
Value* tensor_of(const Argument& argument);
// Some tensor or number that the call takes or gives is complex.
bool any_complex(const Call& call);

struct Graph {
  std::string name;
  std::vector<Value*> inputs;
  std::vector<Call*> calls;
  std::vector<Argument> outputs;
};

// The bytes behind one or several weights; borrowed, kept alive by `owner`.
struct Storage {
  const std::byte* data = nullptr;  // null when the program carries no data (fake tensors)
  std::int64_t size = 0;            // bytes
  std::shared_ptr<const void> owner;
};

struct Weight {
  std::string name;  // fully qualified: "encoder.layers.0.attn.weight"
  base::DType dtype = base::DType::kUndefined;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  // in elements
  std::int64_t offset = 0;            // in elements, into the storage
  const Storage* storage = nullptr;
};

enum class InputKind : std::uint8_t { kUser, kParameter, kBuffer, kConstant, kObject, kToken };

struct InputSpec {
  InputKind kind = InputKind::kUser;
  Value* value = nullptr;  // null for a user input that is a constant (None, a number, a string)
  std::string target;      // fully qualified name of a parameter, buffer or constant
  bool persistent = true;  // of buffers
};

enum class OutputKind : std::uint8_t { kUser, kBufferMutation, kInputMutation, kToken, kLoss };

struct OutputSpec {
  OutputKind kind = OutputKind::kUser;
  Argument value;      // Value*, an Expr, a constant or None
  std::string target;  // the buffer's qualified name, or the mutated input's name
};

struct Program {
  std::shared_ptr<symbolic::Pool> pool;
  Graph* graph = nullptr;

  // In the order of the flattened signature; main graph inputs are those with a value.
  std::vector<InputSpec> inputs;
  std::vector<OutputSpec> outputs;

  // PyTorch's pytree specs in their JSON form (treespec_dumps); empty when unknown. They give the
  // flattened user inputs and outputs their names.
  std::string input_spec;
  std::string output_spec;
  // Names of forward()'s parameters, in order, where known.
  std::vector<std::string> parameter_names;

  // The conditions on sizes under which torch.export captured it, as Python's text. They may come
  // from a file: they are read, not run.
  std::vector<std::string> recorded_guards;

  // What was captured, as torch.fx prints it, by the name of the node: record_node_texts().
  std::unordered_map<std::string, std::string> node_texts;

  std::string torch_version;
  std::vector<base::Diagnostic> notes;  // warnings gathered on the way

  Program();

  Value* add_value();
  Call* add_call();    // owned, but in no graph yet
  Graph* add_graph();  // main or a body
  Weight* add_weight();
  Storage* add_storage();
  // A schema made for a call whose operator this build has no schema of.
  const Schema* add_schema(Schema schema);
  const Source* intern_source(Source source);

 private:
  std::deque<Value> values_;
  std::deque<Call> calls_;
  std::deque<Graph> graphs_;
  std::deque<Weight> weights_;
  std::deque<Storage> storages_;
  std::deque<Schema> schemas_;
  std::deque<Source> sources_;
};

// Binds what a capture says of a call (positional, then by name) to the schema: numbers become
// lists where the schema asks for int[2], defaults are filled. Throws SX1204 naming the operator
// and the argument that does not fit.
struct NamedArgument {
  std::string name;
  Argument value;
};
std::vector<Argument> bind(const Schema& schema, std::vector<Argument> positional,
                           std::vector<NamedArgument> named);

// A readable listing for `sardonyx inspect` and for golden tests.
std::string to_string(const Program& program);

// Structural check: definitions before uses, bound arguments, complete types. Throws SX1205.
void verify(const Program& program);

// What torch.export gives and every stage behind the front ends takes: tensors of known dtype and
// rank, no containers, bodies that read what they are given alone. Throws SX1207 for anything else.
void require_settled(const Program& program);

}  // namespace sardonyx::program
