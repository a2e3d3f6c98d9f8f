#include "frontends/torchscript/interpreter/abstract_interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/diagnostic.h"
#include "frontends/torchscript/control_flow/loops.h"
#include "frontends/torchscript/interpreter/axes.h"
#include "frontends/torchscript/interpreter/geometry.h"
#include "frontends/torchscript/interpreter/squeezes.h"
#include "frontends/torchscript/recording/homogeneous_lists.h"
#include "frontends/torchscript/recording/interruptions.h"
#include "frontends/torchscript/recording/sequences.h"
#include "frontends/torchscript/values/objects.h"

namespace sardonyx::torchscript {

using Kind = AbstractValue::Kind;

namespace {

constexpr std::int64_t kMaxSteps = 20'000'000;

// "__torch__.torch.nn.modules.conv.___torch_mangle_1.Conv2d" -> "torch.nn.modules.conv.Conv2d"
std::string class_name(const std::string& type) {
  std::string name;
  std::size_t start = 0;
  while (start <= type.size()) {
    const std::size_t end = std::min(type.find('.', start), type.size());
    const std::string part = type.substr(start, end - start);
    if (part != "__torch__" && !part.starts_with("___torch_mangle_"))
      name += (name.empty() ? "" : ".") + part;
    start = end + 1;
  }
  return name;
}

// What the module's code is followed for, while it lives.
class InModule {
 public:
  InModule(SourceTracker& position, const Container* module)
      : position_(module ? &position : nullptr) {
    if (module) position.enter_module({module->path, class_name(module->type), 0});
  }
  ~InModule() {
    if (position_) position_->leave_module();
  }
  InModule(const InModule&) = delete;
  InModule& operator=(const InModule&) = delete;

 private:
  SourceTracker* position_;
};

class InFunction {
 public:
  InFunction(SourceTracker& position, const Function& function) : position_(position) {
    position.enter_function(function.file, function.offset);
  }
  ~InFunction() { position_.leave_function(); }
  InFunction(const InFunction&) = delete;
  InFunction& operator=(const InFunction&) = delete;

 private:
  SourceTracker& position_;
};

}  // namespace

AbstractInterpreter::AbstractInterpreter(Archive& archive, program::Program& program,
                                         const ReadOptions& options, bool squeezes)
    : state_(archive, program, options, squeezes, *this, *this),
      expressions_(archive, state_.stack, state_.recorder, *this),
      branches_(state_) {
  program.graph = program.add_graph();
  state_.recorder.exchange_graph(program.graph);
}

AbstractValue AbstractInterpreter::run(const std::string& method,
                                       const std::vector<AbstractValue>& inputs) {
  std::unordered_set<const Container*> seen;
  restore(state_.archive.root(), seen);
  name_parts(state_.archive.root());
  std::vector<AbstractValue> arguments = inputs;
  for (AbstractValue& each : arguments) each = number_of_input(each);
  return invoke_method(state_.archive.root(), method, std::move(arguments), {});
}

// A float that the model takes as a tensor, or a tensor that is a parameter's default.
AbstractValue AbstractInterpreter::number_of_input(const AbstractValue& input) {
  if (input.kind == Kind::kFloat && input.value)
    return state_.recorder.item(AbstractValue::of_tensor(input.value));
  if (input.kind == Kind::kStored)
    return state_.weights.read(*input.stored, program::InputKind::kBuffer);
  const bool holds_more =
      input.kind == Kind::kTuple || input.kind == Kind::kList || input.kind == Kind::kDict;
  if (holds_more)
    for (AbstractValue& each : input.held->items) each = number_of_input(each);
  return input;
}

void AbstractInterpreter::restore(const AbstractValue& datum,
                                  std::unordered_set<const Container*>& seen) {
  if (!datum.held || !seen.insert(datum.held.get()).second) return;
  const std::vector<AbstractValue> items = datum.held->items;
  for (const AbstractValue& item : items) restore(item, seen);
  if (!is_unrestored(datum)) return;
  datum.held->names.clear();
  datum.held->items.clear();
  invoke_method(datum, "__setstate__", {items.front()}, {});
}

AbstractValue AbstractInterpreter::invoke(const Function& function,
                                          std::vector<AbstractValue> positional,
                                          std::vector<NamedValue> named) {
  CallStack::Entered entered(state_.stack, function);
  if (positional.size() > function.parameters.size())
    refuse("'" + function.name + "' is given too many arguments");
  for (std::size_t i = 0; i < function.parameters.size(); ++i) {
    const Function::Parameter& parameter = function.parameters[i];
    AbstractValue& variable = entered.frame.variables[parameter.name];
    const auto found = std::ranges::find(named, parameter.name, &NamedValue::first);
    if (i < positional.size()) {
      variable = positional[i];
    } else if (found != named.end()) {
      variable = found->second;
    } else if (parameter.standard) {
      variable = evaluate(*parameter.standard);
    } else {
      refuse("'" + function.name + "' lacks its argument '" + parameter.name + "'");
    }
  }
  const InFunction in_function(state_.position, function);
  follow(function.body);
  return entered.frame.result.value_or(AbstractValue());
}

AbstractValue AbstractInterpreter::invoke_method(const AbstractValue& object,
                                                 const std::string& name,
                                                 std::vector<AbstractValue> positional,
                                                 std::vector<NamedValue> named) {
  if (object.kind != Kind::kObject)
    refuse("'" + name + "' is called on " + description(object) + ", which is no object");
  const Class* type = state_.archive.class_of(object.held->type);
  const Function* method = type ? type->method(name) : nullptr;
  if (!method) refuse(object.held->type + " has no method '" + name + "'");
  const InModule in_module(state_.position, type->base == "Module" ? object.held.get() : nullptr);
  positional.insert(positional.begin(), object);
  return invoke(*method, std::move(positional), std::move(named));
}

AbstractValue AbstractInterpreter::construct(const std::string& type,
                                             std::vector<AbstractValue> positional,
                                             std::vector<NamedValue> named) {
  const Class* made = state_.archive.class_of(type);
  if (!made) refuse("the archive has no class or function '" + type + "'");
  AbstractValue object =
      AbstractValue::of_items(made->base == "NamedTuple" ? Kind::kTuple : Kind::kObject, {});
  object.held->type = type;
  if (made->base != "NamedTuple") {
    if (made->method("__init__"))
      invoke_method(object, "__init__", std::move(positional), std::move(named));
    return object;
  }
  object.held->items = std::move(positional);
  for (const Statement& field : made->fields) {
    if (field.kind != Statement::Kind::kAnnotated) continue;
    object.held->names.push_back(field.targets.front()->text);
    const auto found = std::ranges::find(named, object.held->names.back(), &NamedValue::first);
    if (found != named.end()) object.held->items.push_back(found->second);
  }
  if (object.held->items.size() != object.held->names.size())
    refuse(type + " is given another number of values than it has");
  return object;
}

void AbstractInterpreter::follow(const std::vector<Statement>& block) {
  for (const Statement& statement : block) {
    const std::span<const Statement> rest(&statement + 1, block.data() + block.size());
    bool is_last = false;
    if (++steps_ > kMaxSteps) refuse("the program runs too many steps to be followed");
    state_.position.move_to(statement.offset);
    program::Graph& graph = state_.recorder.graph();
    const SizeAssumptions::Followed followed(state_.sizes, {&graph, graph.calls.size()});
    try {
      is_last = follow_in_block(statement, rest);
    } catch (const Failed&) {
      fail_targets({statement});
    } catch (const base::Error& error) {
      std::vector<base::Diagnostic> located = error.diagnostics();
      for (base::Diagnostic& diagnostic : located) state_.position.locate(diagnostic);
      // A body that is tried fails as a whole.
      if (state_.writes.is_in_body()) throw base::Error(std::move(located));
      state_.failures.insert(state_.failures.end(), located.begin(), located.end());
      fail_targets({statement});
    }
    if (state_.stack.top().result || is_last) return;
  }
}

// Whether `rest`, what stands behind the statement in its block, has been followed as well.
bool AbstractInterpreter::follow_in_block(const Statement& statement,
                                          std::span<const Statement> rest) {
  try {
    follow(statement);
    return false;
  } catch (const RanksDiffer& differing) {
    branches_.follow_to_the_end(statement, differing.condition, rest);
  } catch (const SizeDecides& decision) {
    const auto& levels = state_.sizes.levels();
    if (decision.level + 1 != levels.size()) throw;
    state_.recorder.graph().calls.resize(levels.back().calls);
    branches_.follow_by_size(decision.condition, {&statement, rest.size() + 1});
  }
  return true;
}

void AbstractInterpreter::follow(const Statement& statement) {
  switch (statement.kind) {
    case Statement::Kind::kExpression:
      evaluate(*statement.value);
      return;
    case Statement::Kind::kAssign: {
      const AbstractValue value = evaluate(*statement.value);
      // What the archive says of the user's lines stands at values, not at names.
      state_.position.move_to(statement.value->offset);
      for (const Expression* target : statement.targets) assign(*target, value);
      state_.position.move_to(statement.offset);
      return;
    }
    case Statement::Kind::kAnnotated:
      if (statement.value) assign(*statement.targets.front(), evaluate(*statement.value));
      return;
    case Statement::Kind::kReturn:
      state_.stack.top().result = statement.value ? evaluate(*statement.value) : AbstractValue();
      return;
    case Statement::Kind::kIf:
      return branches_.follow(statement);
    case Statement::Kind::kFor:
    case Statement::Kind::kWhile:
      return follow_loop(state_, statement);
    case Statement::Kind::kWith:
      return within(statement);
    case Statement::Kind::kPass:
      return;
  }
}

// A `with` block of a class whose code the archive holds; gradients are nothing to a model.
void AbstractInterpreter::within(const Statement& statement) {
  const AbstractValue manager = evaluate(*statement.value);
  const Class* type =
      manager.kind == Kind::kObject ? state_.archive.class_of(manager.held->type) : nullptr;
  if (!type || !type->method("__enter__") || !type->method("__exit__"))
    refuse("a `with` block of " + description(manager) + ": what it changes is not followed");
  const AbstractValue entered = invoke_method(manager, "__enter__", {}, {});
  for (const Expression* target : statement.targets) assign(*target, entered);
  follow(statement.body);
  invoke_method(manager, "__exit__", {AbstractValue(), AbstractValue(), AbstractValue()}, {});
}

void AbstractInterpreter::assign(const Expression& target, const AbstractValue& value) {
  switch (target.kind) {
    case Expression::Kind::kName:
      state_.stack.variables()[target.text] = value;
      return;
    case Expression::Kind::kTuple:
    case Expression::Kind::kList:
      return assign_items(target, value);
    case Expression::Kind::kAttribute:
      return assign_attribute(target, value);
    default:
      refuse("something is assigned to what is no variable");
  }
}

void AbstractInterpreter::assign_items(const Expression& target, const AbstractValue& value) {
  if (value.kind == Kind::kFailed) throw Failed();
  if (value.kind == Kind::kStack && value.value) return assign_rows(target, value);
  if (!value.held || value.kind == Kind::kOptional ||
      value.held->items.size() != target.items.size())
    refuse(description(value) + " cannot be unpacked into " + std::to_string(target.items.size()));
  const std::vector<AbstractValue> items = value.held->items;
  for (std::size_t i = 0; i < items.size(); ++i) assign(*target.items[i], items[i]);
}

// The elements of a list that is a tensor of them. A trace says how many the example had.
void AbstractInterpreter::assign_rows(const Expression& target, const AbstractValue& value) {
  const auto count = static_cast<std::int64_t>(target.items.size());
  const auto is_as_long = [&] {
    const AbstractValue length = state_.recorder.call("aten::len", {value});
    return length.expr.known() && length.expr.is(count);
  };
  if (const auto parts = cut_into(state_.recorder, value.value, count)) {
    for (std::size_t i = 0; i < parts->size(); ++i) assign(*target.items[i], (*parts)[i]);
    return;
  }
  if (!is_as_long()) {
    refuse(
        fmt::format("a list is unpacked into {} elements, and its length is data-dependent", count),
        "index the elements, as in x[0]; where a trace followed a Python loop over rows, "
        "compute with the whole tensor, or compile the loop by torch.jit.script");
  }
  for (std::int64_t i = 0; i < count; ++i)
    assign(*target.items[static_cast<std::size_t>(i)],
           read_stack(state_.recorder, value, AbstractValue::of_int(i)));
}

void AbstractInterpreter::assign_attribute(const Expression& target, const AbstractValue& value) {
  const AbstractValue object = evaluate(*target.items.front());
  if (object.kind != Kind::kObject)
    refuse("'" + target.text + "' is set of " + description(object));
  state_.writes.before_write(object.held);
  if (object.held->outlives_call) state_.weights.read_held(object);
  AbstractValue* const attribute = object.held->attribute(target.text);
  if (!attribute) {
    object.held->names.push_back(target.text);
    object.held->items.push_back(value);
    return;
  }
  *attribute = value;
}

// What the statements would have set is lost; one report is enough.
void AbstractInterpreter::fail_targets(const std::vector<Statement>& block) {
  AbstractValue failed;
  failed.kind = Kind::kFailed;
  for (const Statement& statement : block) {
    for (const Expression* target : statement.targets) {
      if (target->kind == Expression::Kind::kName) state_.stack.variables()[target->text] = failed;
      for (const Expression* item : target->items) {
        if (target->kind == Expression::Kind::kTuple && item->kind == Expression::Kind::kName)
          state_.stack.variables()[item->text] = failed;
      }
    }
    if (statement.kind == Statement::Kind::kReturn) state_.stack.top().result = failed;
    fail_targets(statement.body);
    fail_targets(statement.otherwise);
  }
}

std::optional<AbstractValue> AbstractInterpreter::special_call(const Operands& operands) {
  if (std::optional<AbstractValue> viewed =
          change_geometry(state_.recorder, state_.stack, state_.archive.root(), operands))
    return viewed;
  return squeeze(state_.recorder, state_.sizes, operands);
}

std::optional<AbstractValue> AbstractInterpreter::call_for_each_axis(
    const program::Schema& schema, const std::vector<program::Argument>& arguments) {
  const Either either = [this](const AbstractValue& condition, const auto& first,
                               const auto& second) {
    return branches_.either(condition, first, second);
  };
  return torchscript::call_for_each_axis(state_.recorder, either, schema, arguments);
}

}  // namespace sardonyx::torchscript
