#include "frontends/torchscript/interpreter/abstract_interpreter.h"

#include <algorithm>

#include "base/diagnostic.h"
#include "frontends/torchscript/interpreter/upgraders.h"
#include "frontends/torchscript/values/objects.h"
#include "program/facts/facts.h"
#include "program/inference/infer_result_types.h"
#include "program/ir/strides.h"

namespace sardonyx::torchscript {

using program::Argument;
using program::List;
using program::Schema;
using program::Value;
using program::ValueKind;
using symbolic::Expr;
using Kind = AbstractValue::Kind;

namespace {

constexpr int kDeepestCalls = 400;

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

// What a call in place gives: the tensor that it wrote to, of the type and sizes that it has. Null
// for others.
Value* written_to(const program::Call& call) {
  using program::WriteKind;
  const WriteKind write = program::facts_of(*call.schema).write;
  const bool keeps_form =
      write != WriteKind::kResize && write != WriteKind::kReplace && write != WriteKind::kMetadata;
  const auto& parameters = call.schema->parameters;
  const bool gives_itself = keeps_form && call.outputs.size() == 1 && !call.arguments.empty() &&
                            parameters.front().alias.is_write &&
                            call.schema->base_name().ends_with('_');
  Value* const self = gives_itself ? program::tensor_of(call.arguments.front()) : nullptr;
  const Value* const made = self ? call.outputs.front() : nullptr;
  return made && made->dtype == self->dtype && made->shape == self->shape ? self : nullptr;
}

}  // namespace

const AbstractValue& Operands::at(std::size_t position) const {
  if (position >= positional.size())
    base::fail("SX1211", fmt::format("{} takes more than {} arguments", op, positional.size()));
  return positional[position];
}

const AbstractValue* Operands::find(std::size_t position, std::string_view name) const {
  if (position < positional.size()) return &positional[position];
  const auto found = std::ranges::find(named, name, &NamedValue::first);
  return found == named.end() ? nullptr : &found->second;
}

AbstractInterpreter::AbstractInterpreter(Archive& archive, program::Program& program,
                                         const ReadOptions& options, bool squeezes)
    : archive_(archive), program_(program), options_(options), squeezes_(squeezes) {
  graph_ = program_.add_graph();
  program_.graph = graph_;
}

AbstractValue AbstractInterpreter::run(const std::string& method,
                                       const std::vector<AbstractValue>& inputs) {
  std::unordered_set<const Container*> seen;
  restore(archive_.root(), seen);
  name_parts(archive_.root());
  std::vector<AbstractValue> given = inputs;
  for (AbstractValue& each : given) each = number_of_input(each);
  return invoke_method(archive_.root(), method, std::move(given), {});
}

// A float that the model takes as a tensor, or a tensor that is a parameter's default.
AbstractValue AbstractInterpreter::number_of_input(const AbstractValue& input) {
  if (input.kind == Kind::kFloat && input.value) return item(AbstractValue::of_tensor(input.value));
  if (input.kind == Kind::kStored) return weight(*input.stored, program::InputKind::kBuffer);
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

void AbstractInterpreter::refuse(const std::string& what, const std::string& help) const {
  base::Diagnostic diagnostic;
  diagnostic.code = "SX1211";
  diagnostic.message = what;
  diagnostic.help = help;
  throw base::Error(std::move(diagnostic));
}

AbstractValue AbstractInterpreter::invoke(const Function& function,
                                          std::vector<AbstractValue> positional,
                                          std::vector<NamedValue> named) {
  if (++depth_ > kDeepestCalls) refuse("functions call each other too deep");
  Frame frame;
  frame.function = &function;
  frame.caller = frame_;
  if (positional.size() > function.parameters.size())
    refuse("'" + function.name + "' is given too many arguments");
  Frame* const outer = std::exchange(frame_, &frame);
  for (std::size_t i = 0; i < function.parameters.size(); ++i) {
    const Function::Parameter& parameter = function.parameters[i];
    const auto found = std::ranges::find(named, parameter.name, &NamedValue::first);
    if (i < positional.size()) {
      frame.variables[parameter.name] = positional[i];
    } else if (found != named.end()) {
      frame.variables[parameter.name] = found->second;
    } else if (parameter.standard) {
      frame.variables[parameter.name] = evaluate(*parameter.standard);
    } else {
      frame_ = outer;
      --depth_;
      refuse("'" + function.name + "' lacks its argument '" + parameter.name + "'");
    }
  }
  places_.emplace_back(function.file, function.offset);
  try {
    follow(function.body);
  } catch (...) {
    frame_ = outer;
    --depth_;
    places_.pop_back();
    throw;
  }
  places_.pop_back();
  frame_ = outer;
  --depth_;
  return frame.result.value_or(AbstractValue());
}

AbstractValue AbstractInterpreter::invoke_method(const AbstractValue& object,
                                                 const std::string& name,
                                                 std::vector<AbstractValue> positional,
                                                 std::vector<NamedValue> named) {
  if (object.kind != Kind::kObject)
    refuse("'" + name + "' is called on " + description(object) + ", which is no object");
  const Class* type = archive_.class_of(object.held->type);
  const Function* method = type ? type->method(name) : nullptr;
  if (!method) refuse(object.held->type + " has no method '" + name + "'");
  const bool is_module = type->base == "Module";
  if (is_module) modules_.push_back({object.held->path, class_name(object.held->type), 0});
  positional.insert(positional.begin(), object);
  try {
    AbstractValue result = invoke(*method, std::move(positional), std::move(named));
    if (is_module) modules_.pop_back();
    return result;
  } catch (...) {
    if (is_module) modules_.pop_back();
    throw;
  }
}

AbstractValue AbstractInterpreter::construct(const std::string& type,
                                             std::vector<AbstractValue> positional,
                                             std::vector<NamedValue> named) {
  const Class* made = archive_.class_of(type);
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

const program::Source* AbstractInterpreter::source() {
  program::Source source;
  source.modules = modules_;
  for (const auto& [file, offset] : places_) {
    const SourceMark* mark = archive_.mark(*file, offset);
    if (!mark) continue;
    source.stack_trace += "  File \"" + mark->file + "\", line " + std::to_string(mark->line) +
                          ", in forward\n    " + mark->text + "\n";
  }
  return program_.intern_source(std::move(source));
}

std::string AbstractInterpreter::new_name(std::string_view base) {
  const std::string name(base);
  const int number = names_[name]++;
  return number == 0 ? name : name + "_" + std::to_string(number);
}

void AbstractInterpreter::before_write(const std::shared_ptr<Container>& held) {
  if (held->outlives_call) keep_state(held);
  if (possible_aliases_.contains(held)) refuse_write_to_alias();
  for (UndoLog* undo_log : undo_logs_) {
    const bool known =
        std::ranges::any_of(*undo_log, [&](const Write& write) { return write.held == held; });
    if (!known) undo_log->push_back({held, *held});
  }
}

bool AbstractInterpreter::decided(const AbstractValue& condition, bool& truth) const {
  if (condition.kind != Kind::kBool || condition.value) return false;
  const auto constant = condition.expr.constant();
  truth = constant && *constant != 0;
  return constant.has_value();
}

// --- tensors and arguments

Value* AbstractInterpreter::tensor(const AbstractValue& datum) {
  if (datum.kind == Kind::kFailed) throw Failed();
  if (datum.is_tensor()) {
    if (datum.value) {
      check_rank(*datum.value);
      return datum.value;
    }
    constexpr std::int64_t kInt64 = 4, kFloat32 = 6;
    const AbstractValue number = item(datum);
    const std::int64_t dtype = number.kind == Kind::kFloat ? kFloat32 : kInt64;
    return call("aten::scalar_tensor", {number}, {{"dtype", AbstractValue::of_int(dtype)}}).value;
  }
  if (datum.kind == Kind::kBool) return truth_tensor(datum);
  if (datum.kind == Kind::kInt)
    return call("aten::scalar_tensor", {datum}, {{"dtype", AbstractValue::of_int(4)}}).value;
  if (datum.kind == Kind::kFloat) {
    if (datum.value) return datum.value;
    return call("aten::scalar_tensor", {datum}, {{"dtype", AbstractValue::of_int(7)}}).value;
  }
  if (datum.kind == Kind::kComplex)
    return call("aten::scalar_tensor", {datum}, {{"dtype", AbstractValue::of_int(10)}}).value;
  refuse(description(datum) + " stands where a tensor is needed");
}

void AbstractInterpreter::check_rank(const Value& value) const {
  if (!value.has_rank)
    refuse("'" + value.name +
               "' is of one rank after one branch and of another after the other, "
               "and the branch is data-dependent",
           "give both branches tensors of one rank, or return right behind them");
}

Value* AbstractInterpreter::truth_tensor(const AbstractValue& datum) {
  if (datum.value) return datum.value;
  return call("aten::scalar_tensor", {datum}, {{"dtype", AbstractValue::of_int(11)}}).value;
}

Argument AbstractInterpreter::argument(const AbstractValue& datum) {
  switch (datum.kind) {
    case Kind::kFailed:
      throw Failed();
    case Kind::kNone:
      return program::None{};
    case Kind::kTensor:
      return tensor(datum);
    case Kind::kInt:
      return datum.expr;
    case Kind::kFloat:
      if (datum.expr.known()) return datum.expr;
      return datum.real;
    case Kind::kComplex:
      return datum.complex();
    case Kind::kBool:
      if (datum.value) return datum.value;
      if (datum.expr.is_constant()) return datum.expr.value() != 0;
      return datum.expr;
    case Kind::kString:
      if (datum.is_message) refuse("a data-dependent string is given to an operator");
      return datum.text;
    case Kind::kDevice:
      return program::Enumerator{datum.text};
    case Kind::kList:
    case Kind::kTuple: {
      List list;
      for (const AbstractValue& item : datum.held->items) list.push_back(argument(item));
      return list;
    }
    default:
      refuse(description(datum) + " is no argument that an operator takes");
  }
}

AbstractValue AbstractInterpreter::call(const std::string& op,
                                        std::vector<AbstractValue> positional,
                                        std::vector<NamedValue> named) {
  Operands operands{op, std::move(positional), std::move(named)};
  upgrade(operands, archive_.version());
  if (std::optional<AbstractValue> known = builtin(*this, operands)) return *known;
  if (std::optional<AbstractValue> viewed = change_geometry(operands)) return *viewed;
  if (std::optional<AbstractValue> narrower = squeeze(operands)) return *narrower;
  Resolved resolved = resolve(*this, operands);
  check_write(*resolved.schema, resolved.arguments);
  if (std::optional<AbstractValue> chosen =
          call_for_each_axis(*resolved.schema, resolved.arguments))
    return *chosen;
  return call(*resolved.schema, std::move(resolved.arguments));
}

AbstractValue AbstractInterpreter::call(const Schema& schema, std::vector<Argument> arguments) {
  auto results = program::infer_result_types(schema, arguments, pool());
  if (!results && options_.operators.results)
    results = program::asked_results(options_.operators, schema, arguments, pool());
  if (!results) {
    base::fail(
        "SX1213",
        "there is no rule for the element types and sizes of the results of " + schema.qualified(),
        "export the model with torch.export, which asks PyTorch");
  }
  program::Call* made = new_call(schema, std::move(arguments));
  std::vector<AbstractValue> given;
  for (std::size_t i = 0; i < results->size(); ++i) {
    Value* value = program_.add_value();
    value->name = results->size() == 1 ? made->name : made->name + "_" + std::to_string(i);
    value->dtype = (*results)[i].dtype;
    value->shape = (*results)[i].shape;
    value->strides = (*results)[i].strides;
    program::drop_contiguous_strides(*value);
    value->producer = made;
    value->index = static_cast<std::uint32_t>(i);
    made->outputs.push_back(value);
    given.push_back(AbstractValue::of_tensor(value));
  }
  graph_->calls.push_back(made);
  if (Value* const written = written_to(*made)) return AbstractValue::of_tensor(written);
  if (schema.returns.size() == 1 && schema.returns[0].type.list_depth == 0)
    return given.empty() ? AbstractValue() : given.front();
  return AbstractValue::of_items(schema.returns.size() == 1 ? Kind::kList : Kind::kTuple,
                                 std::move(given));
}

const std::vector<const Schema*>& AbstractInterpreter::overloads_elsewhere(const std::string& op) {
  const auto [known, is_new] = overloads_elsewhere_.try_emplace(op);
  if (is_new && options_.operators.schemas) {
    for (const std::string& written : options_.operators.schemas(op))
      known->second.push_back(program_.add_schema(program::parse_schema(written)));
  }
  return known->second;
}

program::Call* AbstractInterpreter::new_call(const Schema& schema,
                                             std::vector<Argument> arguments) {
  program::Call* made = program_.add_call();
  made->schema = &schema;
  made->name = new_name(schema.base_name());
  made->arguments = std::move(arguments);
  made->source = source();
  return made;
}

std::vector<Value*> AbstractInterpreter::call(const Schema& schema, std::vector<Argument> arguments,
                                              std::vector<program::ValueType> types) {
  program::Call* made = new_call(schema, std::move(arguments));
  for (program::ValueType& type : types) {
    Value* value = program_.add_value();
    static_cast<program::ValueType&>(*value) = std::move(type);
    const std::size_t index = made->outputs.size();
    value->name = types.size() == 1 ? made->name : made->name + "_" + std::to_string(index);
    value->producer = made;
    value->index = static_cast<std::uint32_t>(index);
    made->outputs.push_back(value);
  }
  graph_->calls.push_back(made);
  return made->outputs;
}

const Value* whole_of(const Value* value) {
  while (value && value->producer && value->producer->schema &&
         program::facts_of(*value->producer->schema).view != program::ViewFamily::kNone)
    value = program::tensor_of(value->producer->arguments.front());
  return value;
}

// A write to a tensor that a list holds would have to show in the list.
void AbstractInterpreter::check_write(const Schema& schema,
                                      const std::vector<Argument>& arguments) {
  if (!schema.mutates() || arguments.empty()) return;
  const Value* const written = whole_of(program::tensor_of(arguments.front()));
  if (!written) return;
  if (copied_.contains(written)) refuse_write_to_element(schema.qualified());
  written_.push_back(written);
}

void AbstractInterpreter::refuse_write_to_element(const std::string& op) const {
  refuse(op + " writes to a tensor, or to a view of one, that stands in a list with a "
              "data-dependent length",
         "append a clone of it");
}

bool AbstractInterpreter::was_written(const Value* value) const {
  return std::ranges::find(written_, whole_of(value)) != written_.end();
}

void AbstractInterpreter::copy_into_list(const Value* element) {
  copied_.insert(whole_of(element));
}

AbstractValue AbstractInterpreter::item(const AbstractValue& datum) {
  if (datum.is_number()) return datum;
  if (datum.is_tensor() && !datum.value) {
    const bool is_known_float = datum.expr.kind() == symbolic::Kind::kReal;
    if (is_known_float) return AbstractValue::of_real(datum.expr.real());
    AbstractValue number = AbstractValue::of_int(datum.expr);
    if (datum.expr.is_float()) number.kind = Kind::kFloat;
    return number;
  }
  Value* given = tensor(datum);
  if (base::is_complex(given->dtype)) refuse("a complex number is made of data");
  if (given->dtype == base::DType::kBool) {
    AbstractValue truth;
    truth.kind = Kind::kBool;
    truth.value =
        given->rank() == 0
            ? given
            : call("aten::reshape", {datum, AbstractValue::of_items(Kind::kList, {})}).value;
    return truth;
  }
  const bool is_float = base::is_floating(given->dtype);
  program::Call* made = program_.add_call();
  made->schema = program::find_schema("aten::item");
  made->name = new_name("item");
  made->arguments = {given};
  made->source = source();
  Value* value = program_.add_value();
  value->name = made->name;
  value->kind = is_float ? ValueKind::kFloat : ValueKind::kInt;
  value->expr = is_float ? pool().real_symbol("z" + made->name) : pool().fresh("u");
  if (!is_float) pool().constrain(value->expr, symbolic::Range());
  pool().mark_unbacked(value->expr);
  value->producer = made;
  made->outputs.push_back(value);
  graph_->calls.push_back(made);
  AbstractValue number;
  number.kind = is_float ? Kind::kFloat : Kind::kInt;
  number.expr = value->expr;
  return number;
}

AbstractValue AbstractInterpreter::traced_number(const AbstractValue& number) {
  const bool is_expression =
      !number.value && (number.kind == Kind::kInt || number.kind == Kind::kFloat);
  if (!is_expression || (number.kind == Kind::kFloat && !options_.sizes_were_numbers))
    return AbstractValue::of_tensor(tensor(number));
  AbstractValue made;
  made.kind = Kind::kTensor;
  made.expr =
      number.kind == Kind::kInt || number.expr.known() ? number.expr : pool().real(number.real);
  made.is_python_number = options_.sizes_were_numbers;
  return made;
}

}  // namespace sardonyx::torchscript
