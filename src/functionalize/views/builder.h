// Makes the calls that take the place of writes.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "program/ir/program.h"

namespace sardonyx::functionalize {

using program::Argument;
using program::Call;
using program::NamedArgument;
using program::tensor_of;
using program::Value;
using symbolic::Expr;

// What a made value holds; strides are those that the captured program knows (empty: contiguous).
struct Type {
  base::DType dtype = base::DType::kUndefined;
  std::vector<Expr> shape;
  std::vector<Expr> strides;
};

Type type_of(const Value& value);
Type contiguous(base::DType dtype, std::vector<Expr> shape);

// What a made call answers for: the captured call whose place or consequence it is.
struct Cause {
  const program::Source* source = nullptr;
  std::string_view name;
};

// Names that a program does not have yet: the stem, then stem_1, stem_2, ...
class Names {
 public:
  explicit Names(const program::Program& program) : program_(program) {}

  std::string fresh(std::string_view stem);
  // The name is now held by something that outlives this.
  void take(std::string_view name) { taken_.insert(name); }

 private:
  void gather(const program::Graph& graph);

  const program::Program& program_;
  bool gathered_ = false;
  std::unordered_set<std::string_view> taken_;
  std::unordered_map<std::string, std::size_t> last_;  // number given to a stem
};

// Appends to the graph that is being rebuilt.
class Builder {
 public:
  Builder(program::Program& program, Names& names, std::vector<Call*>& calls)
      : program_(program), names_(names), calls_(calls) {}

  // A call of a known operator with one output. Arguments not given take their defaults.
  Value* add(std::string_view op, std::vector<NamedArgument> arguments, const Type& type,
             const Cause& cause, std::string_view name);
  // A call whose arguments are bound already; its outputs are the caller's, or made.
  Call* append(const program::Schema& schema, std::vector<Argument> arguments, const Cause& cause);
  Value* output(Call& call, const Type& type, std::string_view name);
  // An existing value becomes the next output of the call.
  Value* adopt(Call& call, Value* value);

  program::Program& program() { return program_; }
  void keep(Call* call) { calls_.push_back(call); }

 private:
  program::Program& program_;
  Names& names_;
  std::vector<Call*>& calls_;
};

}  // namespace sardonyx::functionalize
