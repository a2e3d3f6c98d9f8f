#include "frontends/torchscript/recording/graph_recorder.h"

#include <utility>

#include "base/diagnostic.h"
#include "frontends/torchscript/recording/homogeneous_lists.h"
#include "frontends/torchscript/recording/interruptions.h"
#include "frontends/torchscript/recording/upgraders.h"
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

GraphRecorder::GraphRecorder(program::Program& program, const ReadOptions& options,
                             std::int64_t version, SourceTracker& position, Weights& weights,
                             MutationTracker& writes, SpecialCalls& special_calls)
    : program_(program),
      options_(options),
      version_(version),
      position_(position),
      weights_(weights),
      writes_(writes),
      special_calls_(special_calls) {}

Value* GraphRecorder::tensor(const AbstractValue& datum) {
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

void GraphRecorder::check_rank(const Value& value) {
  if (!value.has_rank)
    refuse("'" + value.name +
               "' is of one rank after one branch and of another after the other, "
               "and the branch is data-dependent",
           "give both branches tensors of one rank, or return right behind them");
}

Value* GraphRecorder::truth_tensor(const AbstractValue& datum) {
  if (datum.value) return datum.value;
  return call("aten::scalar_tensor", {datum}, {{"dtype", AbstractValue::of_int(11)}}).value;
}

Argument GraphRecorder::argument(const AbstractValue& datum) {
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

AbstractValue GraphRecorder::call(const std::string& op, std::vector<AbstractValue> positional,
                                  std::vector<NamedValue> named) {
  Operands operands{op, std::move(positional), std::move(named)};
  upgrade(operands, version_);
  if (std::optional<AbstractValue> known = builtin(*this, operands)) return *known;
  if (std::optional<AbstractValue> special = special_calls_.special_call(operands)) return *special;
  Resolved resolved = resolve(*this, operands);
  writes_.check_write(*resolved.schema, resolved.arguments);
  if (std::optional<AbstractValue> chosen =
          special_calls_.call_for_each_axis(*resolved.schema, resolved.arguments))
    return *chosen;
  return call(*resolved.schema, std::move(resolved.arguments));
}

AbstractValue GraphRecorder::call(const Schema& schema, std::vector<Argument> arguments) {
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

const std::vector<const Schema*>& GraphRecorder::overloads_elsewhere(const std::string& op) {
  const auto [known, is_new] = overloads_elsewhere_.try_emplace(op);
  if (is_new && options_.operators.schemas) {
    for (const std::string& written : options_.operators.schemas(op))
      known->second.push_back(program_.add_schema(program::parse_schema(written)));
  }
  return known->second;
}

program::Call* GraphRecorder::new_call(const Schema& schema, std::vector<Argument> arguments) {
  program::Call* made = program_.add_call();
  made->schema = &schema;
  made->name = new_name(schema.base_name());
  made->arguments = std::move(arguments);
  made->source = position_.source();
  return made;
}

std::vector<Value*> GraphRecorder::call(const Schema& schema, std::vector<Argument> arguments,
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

AbstractValue GraphRecorder::item(const AbstractValue& datum) {
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
  made->source = position_.source();
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

AbstractValue GraphRecorder::traced_number(const AbstractValue& number) {
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

AbstractValue GraphRecorder::list_of_tensor(const AbstractValue& tensor) {
  if (!tensor.value || tensor.value->rank() == 0) return item(tensor);
  const Expr size = tensor.value->shape[0];
  if (!size.is_constant()) {
    if (tensor.value->rank() > 1) refuse("a list of lists with a data-dependent length");
    const base::DType dtype = tensor.value->dtype;
    const AbstractValue wide = base::is_floating(dtype) || dtype == base::DType::kBool
                                   ? tensor
                                   : call("aten::to", {tensor, AbstractValue::of_int(4)});
    return of_stack(wide.value, base::is_floating(dtype)      ? Kind::kFloat
                                : dtype == base::DType::kBool ? Kind::kBool
                                                              : Kind::kInt);
  }
  std::vector<AbstractValue> items;
  for (std::int64_t i = 0; i < size.value(); ++i)
    items.push_back(list_of_tensor(
        call("aten::select", {tensor, AbstractValue::of_int(0), AbstractValue::of_int(i)})));
  return AbstractValue::of_items(Kind::kList, std::move(items));
}

std::string GraphRecorder::new_name(std::string_view base) {
  const std::string name(base);
  const int number = names_[name]++;
  return number == 0 ? name : name + "_" + std::to_string(number);
}

program::Call* GraphRecorder::new_call(const char* op) {
  program::Call* made = program_.add_call();
  made->schema = program::find_schema(op);
  made->name = new_name(made->schema->base_name());
  made->source = position_.source();
  return made;
}

}  // namespace sardonyx::torchscript
