// One statement after the other.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/diagnostic.h"
#include "frontends/torchscript/interpreter/abstract_interpreter.h"
#include "frontends/torchscript/interpreter/homogeneous_lists.h"
#include "frontends/torchscript/interpreter/sequences.h"

namespace sardonyx::torchscript {

using Kind = AbstractValue::Kind;

namespace {

constexpr std::int64_t kMaxSteps = 20'000'000;

bool is_dead(const AbstractValue& datum) { return datum.kind == Kind::kFailed; }

}  // namespace

// A level of statements, while it lives.
class AbstractInterpreter::Followed {
 public:
  Followed(std::vector<Level>& levels, Level level) : levels_(levels) { levels_.push_back(level); }
  ~Followed() { levels_.pop_back(); }
  Followed(const Followed&) = delete;
  Followed& operator=(const Followed&) = delete;

 private:
  std::vector<Level>& levels_;
};

void AbstractInterpreter::follow(const std::vector<Statement>& block) {
  for (const Statement& statement : block) {
    const std::span<const Statement> rest(&statement + 1, block.data() + block.size());
    bool is_last = false;
    if (++steps_ > kMaxSteps) refuse("the program runs too many steps to be followed");
    places_.back().second = statement.offset;
    const Followed followed(levels_, {graph_, graph_->calls.size()});
    try {
      try {
        follow(statement);
      } catch (const RanksDiffer& differing) {
        branch_to_the_end(statement, differing.condition, rest);
        is_last = true;
      } catch (const SizeDecides& asked) {
        if (asked.level + 1 != levels_.size()) throw;
        graph_->calls.resize(levels_.back().calls);
        branch_on_size(asked.condition, {&statement, rest.size() + 1});
        is_last = true;
      }
    } catch (const Failed&) {
      fail_targets({statement});
    } catch (const base::Error& error) {
      std::vector<base::Diagnostic> located = error.diagnostics();
      for (base::Diagnostic& diagnostic : located) locate(diagnostic);
      // A body that is tried fails as a whole.
      if (!undo_logs_.empty()) throw base::Error(std::move(located));
      failures_.insert(failures_.end(), located.begin(), located.end());
      fail_targets({statement});
    }
    if (frame_->result || is_last) return;
  }
}

void AbstractInterpreter::locate(base::Diagnostic& diagnostic) {
  if (!diagnostic.contexts.empty()) return;
  const auto& [file, offset] = places_.back();
  const program::Source* place = source();
  diagnostic.module_path = place->module_path();
  diagnostic.location = place->location();
  diagnostic.contexts.push_back("in `" + file->line_text(offset) + "` (" + file->name + ":" +
                                std::to_string(file->line_of(offset)) + ")");
}

void AbstractInterpreter::follow(const Statement& statement) {
  switch (statement.kind) {
    case Statement::Kind::kExpression:
      evaluate(*statement.value);
      return;
    case Statement::Kind::kAssign: {
      const AbstractValue value = evaluate(*statement.value);
      // What the archive says of the user's lines stands at values, not at names.
      places_.back().second = statement.value->offset;
      for (const Expression* target : statement.targets) assign(*target, value);
      places_.back().second = statement.offset;
      return;
    }
    case Statement::Kind::kAnnotated:
      if (statement.value) assign(*statement.targets.front(), evaluate(*statement.value));
      return;
    case Statement::Kind::kReturn:
      frame_->result = statement.value ? evaluate(*statement.value) : AbstractValue();
      return;
    case Statement::Kind::kIf:
      return branch(statement);
    case Statement::Kind::kFor:
    case Statement::Kind::kWhile:
      return loop(statement);
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
      manager.kind == Kind::kObject ? archive_.class_of(manager.held->type) : nullptr;
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
      frame_->variables[target.text] = value;
      return;
    case Expression::Kind::kTuple:
    case Expression::Kind::kList: {
      if (is_dead(value)) throw Failed();
      if (value.kind == Kind::kStack && value.value) return assign_rows(target, value);
      if (!value.held || value.kind == Kind::kOptional ||
          value.held->items.size() != target.items.size())
        refuse(description(value) + " cannot be unpacked into " +
               std::to_string(target.items.size()));
      const std::vector<AbstractValue> items = value.held->items;
      for (std::size_t i = 0; i < items.size(); ++i) assign(*target.items[i], items[i]);
      return;
    }
    case Expression::Kind::kAttribute:
      return assign_attribute(target, value);
    default:
      refuse("something is assigned to what is no variable");
  }
}

// The elements of a list that is a tensor of them. A trace says how many the example had.
void AbstractInterpreter::assign_rows(const Expression& target, const AbstractValue& value) {
  const auto count = static_cast<std::int64_t>(target.items.size());
  const auto is_as_long = [&] {
    const AbstractValue length = call("aten::len", {value});
    return length.expr.known() && length.expr.is(count);
  };
  if (const auto parts = cut_into(*this, value.value, count)) {
    for (std::size_t i = 0; i < parts->size(); ++i) assign(*target.items[i], (*parts)[i]);
    return;
  }
  if (!is_as_long()) {
    refuse(fmt::format("a list is unpacked into {} elements, and its length is data-dependent",
                       count));
  }
  for (std::int64_t i = 0; i < count; ++i)
    assign(*target.items[static_cast<std::size_t>(i)],
           read_stack(*this, value, AbstractValue::of_int(i)));
}

void AbstractInterpreter::assign_attribute(const Expression& target, const AbstractValue& value) {
  const AbstractValue object = evaluate(*target.items.front());
  if (object.kind != Kind::kObject)
    refuse("'" + target.text + "' is set of " + description(object));
  before_write(object.held);
  if (object.held->outlives_call) read_weights(object);
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
      if (target->kind == Expression::Kind::kName) frame_->variables[target->text] = failed;
      for (const Expression* item : target->items) {
        if (target->kind == Expression::Kind::kTuple && item->kind == Expression::Kind::kName)
          frame_->variables[item->text] = failed;
      }
    }
    if (statement.kind == Statement::Kind::kReturn) frame_->result = failed;
    fail_targets(statement.body);
    fail_targets(statement.otherwise);
  }
}

}  // namespace sardonyx::torchscript
