// Rebuilds one graph without writes.
#pragma once

#include <unordered_map>
#include <vector>

#include "functionalize/views/alias.h"
#include "functionalize/views/builder.h"
#include "functionalize/views/views.h"
#include "functionalize/writes/writes.h"
#include "program/ir/regions.h"

namespace sardonyx::functionalize {

// What is known of an operator, looked up once a schema.
struct OperatorRules {
  ViewFamily view = ViewFamily::kNone;
  WriteRule write;
};

// Shared by the graphs of one program.
struct Session {
  program::Program& program;
  Names names;
  std::vector<base::Diagnostic> diagnostics;
  std::unordered_map<const program::Schema*, OperatorRules> rules;

  explicit Session(program::Program& of) : program(of), names(of) {}
  const OperatorRules& rules_of(const program::Schema& schema);
};

class Rewriter {
 public:
  Rewriter(Session& session, program::Graph& graph)
      : session_(session),
        graph_(graph),
        builder_(session.program, session.names, calls_),
        aliases_(builder_, session.diagnostics) {}

  // Values that share memory when the graph starts are to be bound before.
  Aliases& aliases() { return aliases_; }
  // Leaves the graph's calls and outputs without writes.
  void run();
  bool changed() const { return aliases_.any_changed(); }
  // Puts the new calls in the graph; nothing can be read afterwards.
  void finish();

  // Every value in it becomes what a read sees now.
  void read_in(Argument& argument);

 private:
  void visit(Call& call);
  // Bodies of control flow; bodies.cpp.
  // A body that writes to an operand, by its position.
  struct BodyWrite {
    std::size_t position = 0;
    Value* operand = nullptr;
    const Call* write = nullptr;  // in the body
    Value* content = nullptr;     // the call's new output
  };
  // A result of a body may be one of its operands: depending on data, they alias after it.
  struct MayShare {
    Value* output = nullptr;
    Value* operand = nullptr;
  };
  // What a body may have written to: what it was given, or not.
  struct MayWrite {
    Value* operand = nullptr;
    const Call* write = nullptr;
  };
  void visit_bodies(Call& call, const program::Region& region);
  void learn_of_branch(const Call& call, Rewriter& body, const program::List& outputs,
                       const std::vector<Value*>& operands);
  void learn_of_loop(const Call& call, const program::Region& region, Rewriter& body,
                     const program::List& outputs);
  void bind_operands(const std::vector<Value*>& operands, Rewriter& inner);
  static std::vector<BodyWrite> written_operands(const std::vector<Value*>& operands,
                                                 const Rewriter& inner);
  bool seen_elsewhere(const program::Region& region, const BodyWrite& written,
                      const std::vector<Value*>& operands);
  void refuse_body_write(const Call& call, const program::Graph& body, const BodyWrite& written);
  void return_contents(const std::vector<BodyWrite>& writes);
  void carry_contents(Call& call, const program::RegionKind& kind, Rewriter& condition,
                      Rewriter& step, std::vector<BodyWrite>& writes);
  void carry_counted(Call& call, const program::RegionKind& kind, Rewriter& step,
                     std::vector<BodyWrite>& writes);
  // Where a write of a loop's body shows behind the loop; counted_loops.cpp.
  enum class Reach { kOperand, kNowhere, kUnknown };
  Reach reach_of(const Call& call, const program::Region& region, Rewriter& body,
                 const program::List& outputs, const BodyWrite& written);
  bool is_read_after(const Call& call, Value* operand);
  // The memories of a loop's inputs, and of what its body leaves in their places.
  struct Places {
    std::vector<const Memory*> before, after;
  };
  static Places places_of(const program::Region& region, Rewriter& body,
                          const program::List& outputs);
  static Value* is_first_run(Rewriter& step, const Cause& cause);
  Value* carry_flag(Call& call, program::List& carried, Rewriter& condition, Rewriter& step);
  Value* new_input(std::string_view name, const Type& type);

  void rewrite(Call& call, const OperatorRules& rules);
  void register_views(Call& call, ViewFamily family);

  ViewKind place_strided(Call& call, Alias*& parent);

  // One a kind of write; rewrite_writes.cpp.
  void in_place(Call& call, const WriteRule& rule);
  void fill(Call& call);
  void fill_diagonal(Call& call);
  void copy(Call& call);
  void nothing(Call& call);
  void resize(Call& call);
  void replace(Call& call);
  void metadata(Call& call, const WriteRule& rule);
  void out(Call& call, const WriteRule& rule);
  void contents_of_out(Call& call, Call& pure, Value* target, Value* result, const Type& type,
                       base::DType computed);
  void foreach (Call& call, const WriteRule& rule);
  void functional(Call& call, const WriteRule& rule);
  void batch_norm(Call& call);

  Argument current(const Argument& argument);
  void store(Value* target, Value* content, Value* result, const Call& call, bool uniform = false);
  std::vector<Argument> arguments_for(const program::Schema& form, const Call& call);

  // A call that stands where the captured `call` stood; its output is `result` where that is given.
  Value* add(std::string_view op, std::vector<NamedArgument> arguments, const Type& type,
             const Call& call, Value* result);
  Value* made(Call& made_call, Value* result, const Type& type, const Call& call);
  Value* cast(Value* value, const Type& type, const Call& call, Value* result);
  Value* full(Value& like, const Argument& number, const Call& call, Value* result);
  Value* converted(const Argument& source, Value& target, const Call& call, Value* result);

  Session& session_;
  program::Graph& graph_;
  std::vector<Call*> calls_;
  Builder builder_;
  Aliases aliases_;
  // Of the control flow that is visited.
  std::vector<MayShare> shared_;
  std::vector<MayWrite> possible_writes_;
};

}  // namespace sardonyx::functionalize
