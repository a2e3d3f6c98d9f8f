// One statement after the other.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/diagnostic.h"
#include "frontends/torchscript/follower.h"
#include "frontends/torchscript/sequences.h"
#include "frontends/torchscript/stacks.h"

namespace sardonyx::torchscript {

using Kind = Datum::Kind;

namespace {

constexpr std::int64_t kMostSteps = 20'000'000;

bool is_dead(const Datum& datum) { return datum.kind == Kind::kFailed; }

}  // namespace

void Follower::follow(const std::vector<Statement>& block) {
  for (const Statement& statement : block) {
    const std::span<const Statement> rest(&statement + 1, block.data() + block.size());
    bool is_last = false;
    if (++steps_ > kMostSteps) refuse("the program runs too many steps to be followed");
    places_.back().second = statement.offset;
    try {
      try {
        follow(statement);
      } catch (const RanksDiffer& differing) {
        branch_to_the_end(statement, differing.condition, rest);
        is_last = true;
      }
    } catch (const Failed&) {
      fail_targets({statement});
    } catch (const base::Error& error) {
      std::vector<base::Diagnostic> located = error.diagnostics();
      for (base::Diagnostic& diagnostic : located) locate(diagnostic);
      // A body that is tried fails as a whole.
      if (!journals_.empty()) throw base::Error(std::move(located));
      failures_.insert(failures_.end(), located.begin(), located.end());
      fail_targets({statement});
    }
    if (frame_->result || is_last) return;
  }
}

void Follower::locate(base::Diagnostic& diagnostic) {
  if (!diagnostic.contexts.empty()) return;
  const auto& [file, offset] = places_.back();
  const program::Source* place = source();
  diagnostic.module_path = place->module_path();
  diagnostic.location = place->location();
  diagnostic.contexts.push_back("in `" + file->line_text(offset) + "` (" + file->name + ":" +
                                std::to_string(file->line_of(offset)) + ")");
}

void Follower::follow(const Statement& statement) {
  switch (statement.kind) {
    case Statement::Kind::kExpression:
      evaluate(*statement.value);
      return;
    case Statement::Kind::kAssign: {
      const Datum value = evaluate(*statement.value);
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
      frame_->result = statement.value ? evaluate(*statement.value) : Datum();
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
void Follower::within(const Statement& statement) {
  const Datum manager = evaluate(*statement.value);
  const Class* type =
      manager.kind == Kind::kObject ? archive_.class_of(manager.held->type) : nullptr;
  if (!type || !type->method("__enter__") || !type->method("__exit__"))
    refuse("a `with` block of " + description(manager) + ": what it changes is not followed");
  const Datum entered = invoke_method(manager, "__enter__", {}, {});
  for (const Expression* target : statement.targets) assign(*target, entered);
  follow(statement.body);
  invoke_method(manager, "__exit__", {Datum(), Datum(), Datum()}, {});
}

void Follower::assign(const Expression& target, const Datum& value) {
  switch (target.kind) {
    case Expression::Kind::kName:
      frame_->variables[target.text] = value;
      return;
    case Expression::Kind::kTuple:
    case Expression::Kind::kList: {
      if (is_dead(value)) throw Failed();
      if (value.kind == Kind::kStack && value.value) return assign_rows(target, value);
      if (!value.held || value.kind == Kind::kMaybe ||
          value.held->items.size() != target.items.size())
        refuse(description(value) + " is not taken apart into " +
               std::to_string(target.items.size()));
      const std::vector<Datum> items = value.held->items;
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
void Follower::assign_rows(const Expression& target, const Datum& value) {
  const auto count = static_cast<std::int64_t>(target.items.size());
  const auto is_as_long = [&] {
    const Datum length = call("aten::len", {value});
    return length.expr.known() && length.expr.is(count);
  };
  if (const auto parts = cut_into(*this, value.value, count)) {
    for (std::size_t i = 0; i < parts->size(); ++i) assign(*target.items[i], (*parts)[i]);
    return;
  }
  if (!is_as_long()) {
    refuse(
        fmt::format("a list is taken apart into {} elements, and how many there are only a run "
                    "tells",
                    count));
  }
  for (std::int64_t i = 0; i < count; ++i)
    assign(*target.items[static_cast<std::size_t>(i)], read_stack(*this, value, Datum::of_int(i)));
}

void Follower::assign_attribute(const Expression& target, const Datum& value) {
  const Datum object = evaluate(*target.items.front());
  if (object.kind != Kind::kObject)
    refuse("'" + target.text + "' is set of " + description(object));
  before_write(object.held);
  if (object.held->outlives_call) read_weights(object);
  Datum* const attribute = object.held->attribute(target.text);
  if (!attribute) {
    object.held->names.push_back(target.text);
    object.held->items.push_back(value);
    return;
  }
  *attribute = value;
}

// What the statements would have set is lost; one report is enough.
void Follower::fail_targets(const std::vector<Statement>& block) {
  Datum failed;
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
