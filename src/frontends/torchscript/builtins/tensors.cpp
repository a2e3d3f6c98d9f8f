// Questions about tensors that their types answer, and tensors made of numbers.
#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <ranges>

#include "base/diagnostic.h"
#include "frontends/torchscript/recording/builtins.h"
#include "frontends/torchscript/recording/homogeneous_lists.h"
#include "frontends/torchscript/recording/interruptions.h"
#include "frontends/torchscript/recording/quantized.h"
#include "frontends/torchscript/recording/sequences.h"
#include "program/schema/coerce.h"

namespace sardonyx::torchscript {

using Kind = AbstractValue::Kind;
using base::DType;
using program::Value;
using symbolic::Expr;

std::int64_t number_of(DType dtype) {
  constexpr std::int64_t kNumbers = 46;
  const program::TypeSpec type{.kind = program::TypeKind::kDType};
  for (std::int64_t i = 0; i < kNumbers; ++i) {
    program::Argument argument = Expr(i);
    if (program::coerce(type, argument).empty() && argument.get<DType>() &&
        *argument.get<DType>() == dtype)
      return i;
  }
  return -1;
}

namespace {

const AbstractValue* tensor_operand(const Operands& operands) {
  const AbstractValue* datum = operands.positional.empty() ? nullptr : &operands.positional[0];
  return datum && datum->is_tensor() ? datum : nullptr;
}

DType dtype_of(const AbstractValue& datum) {
  program::Argument argument = datum.expr;
  const program::TypeSpec type{.kind = program::TypeKind::kDType};
  const bool is_dtype = datum.kind == Kind::kInt && program::coerce(type, argument).empty();
  return is_dtype && argument.get<DType>() ? *argument.get<DType>() : DType::kUndefined;
}

std::vector<Expr> shape_of(const AbstractValue& tensor) {
  return tensor.value ? tensor.value->shape : std::vector<Expr>();
}

std::optional<AbstractValue> size(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* tensor = tensor_operand(operands);
  if (!tensor) return std::nullopt;
  const std::vector<Expr> shape = shape_of(*tensor);
  const AbstractValue* dim = operands.find(1, "dim");
  std::vector<AbstractValue> sizes;
  for (const Expr each : shape) sizes.push_back(AbstractValue::of_int(each));
  const AbstractValue list = AbstractValue::of_items(Kind::kList, std::move(sizes));
  if (!dim) return list;
  if (!dim->expr.is_constant()) return recorder.call("aten::__getitem__", {list, *dim});
  const auto rank = static_cast<std::int64_t>(shape.size());
  const std::int64_t at = dim->expr.constant().value_or(rank);
  if (at < -rank || at >= rank)
    refuse("there is no dimension " + description(*dim) + " of " + std::to_string(rank));
  return AbstractValue::of_int(shape[static_cast<std::size_t>(at < 0 ? at + rank : at)]);
}

std::optional<AbstractValue> dim(GraphRecorder&, const Operands& operands) {
  const AbstractValue* tensor = tensor_operand(operands);
  if (!tensor) return std::nullopt;
  return AbstractValue::of_int(static_cast<std::int64_t>(shape_of(*tensor).size()));
}

std::optional<AbstractValue> numel(GraphRecorder&, const Operands& operands) {
  const AbstractValue* tensor = tensor_operand(operands);
  if (!tensor) return std::nullopt;
  return AbstractValue::of_int(symbolic::product(shape_of(*tensor)));
}

DType type_of(const AbstractValue& tensor) {
  if (tensor.value) return tensor.value->dtype;
  const bool is_float = tensor.expr.is_float() || tensor.expr.kind() == symbolic::Kind::kReal;
  return is_float ? DType::kFloat32 : DType::kInt64;
}

std::optional<AbstractValue> dtype(GraphRecorder&, const Operands& operands) {
  const AbstractValue* tensor = tensor_operand(operands);
  if (!tensor) return std::nullopt;
  return AbstractValue::of_int(number_of(type_of(*tensor)));
}

std::optional<AbstractValue> device(GraphRecorder&, const Operands&) {
  AbstractValue device;
  device.kind = Kind::kDevice;
  device.text = "cpu";
  return device;
}

std::optional<AbstractValue> device_type(GraphRecorder&, const Operands& operands) {
  if (operands.positional[0].kind != Kind::kDevice) return std::nullopt;
  const std::string& text = operands.positional[0].text;
  return AbstractValue::of_text(text.substr(0, text.find(':')));
}

std::optional<AbstractValue> zero(GraphRecorder&, const Operands&) {
  return AbstractValue::of_int(0);
}
std::optional<AbstractValue> no(GraphRecorder&, const Operands&) {
  return AbstractValue::of_bool(false);
}
std::optional<AbstractValue> nothing(GraphRecorder&, const Operands&) { return AbstractValue(); }

// Parameters do, as programs ask that choose between equal ways with and without gradients.
std::optional<AbstractValue> requires_grad(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* tensor = tensor_operand(operands);
  if (!tensor) return std::nullopt;
  return AbstractValue::of_bool(
      std::ranges::any_of(recorder.program().inputs, [&](const program::InputSpec& input) {
        return input.value && input.value == tensor->value &&
               input.kind == program::InputKind::kParameter;
      }));
}

std::optional<AbstractValue> is_floating(GraphRecorder&, const Operands& operands) {
  const AbstractValue* tensor = tensor_operand(operands);
  return tensor ? std::optional(AbstractValue::of_bool(base::is_floating(type_of(*tensor))))
                : std::nullopt;
}

std::optional<AbstractValue> is_complex(GraphRecorder&, const Operands& operands) {
  const AbstractValue* tensor = tensor_operand(operands);
  return tensor ? std::optional(AbstractValue::of_bool(base::is_complex(type_of(*tensor))))
                : std::nullopt;
}

std::optional<AbstractValue> is_contiguous(GraphRecorder&, const Operands& operands) {
  const AbstractValue* tensor = tensor_operand(operands);
  return tensor ? std::optional(
                      AbstractValue::of_bool(!tensor->value || tensor->value->strides.empty()))
                : std::nullopt;
}

std::optional<AbstractValue> item(GraphRecorder& recorder, const Operands& operands) {
  return recorder.item(operands.at(0));
}

// Conversions of a wrapped integer to int64 are none.
std::optional<AbstractValue> converted(GraphRecorder&, const Operands& operands) {
  const AbstractValue* tensor = tensor_operand(operands);
  if (!tensor || tensor->value || type_of(*tensor) != DType::kInt64) return std::nullopt;
  const AbstractValue* dtype = operands.find(1, "dtype");
  if (!dtype || dtype->kind != Kind::kInt || dtype_of(*dtype) != DType::kInt64) return std::nullopt;
  AbstractValue made = *tensor;
  made.is_python_number = false;
  return made;
}

// --- torch.tensor([[1, 2], [3, 4]])

struct Literal {
  std::vector<std::int64_t> shape;
  std::vector<const AbstractValue*> numbers;
};

void collect(GraphRecorder& recorder, const AbstractValue& datum, std::size_t depth,
             Literal& literal) {
  if (datum.is_number() || datum.is_tensor() || datum.kind == Kind::kComplex) {
    literal.numbers.push_back(&datum);
    return;
  }
  if (datum.kind != Kind::kList && datum.kind != Kind::kTuple)
    refuse("a tensor is made of " + description(datum));
  const auto count = static_cast<std::int64_t>(datum.held->items.size());
  if (literal.shape.size() == depth) literal.shape.push_back(count);
  if (literal.shape[depth] != count) refuse("a tensor is made of uneven lists");
  for (const AbstractValue& each : datum.held->items) collect(recorder, each, depth + 1, literal);
}

// Of the numbers; bool where they are truths.
std::int64_t natural_dtype(const Literal& literal) {
  constexpr std::int64_t kComplex = 9, kFloat = 6, kLong = 4, kBool = 11;
  if (literal.numbers.empty()) return kFloat;
  std::int64_t found = kBool;
  for (const AbstractValue* number : literal.numbers) {
    if (number->is_tensor()) {
      found = number_of(type_of(*number));
    } else if (number->kind == Kind::kComplex) {
      return kComplex;
    } else if (number->kind == Kind::kFloat) {
      found = kFloat;
    } else if (number->kind == Kind::kInt && found != kFloat) {
      found = kLong;
    }
  }
  return found;
}

std::optional<AbstractValue> make_tensor(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue& data = operands.at(0);
  Literal literal;
  collect(recorder, data, 0, literal);
  const AbstractValue* given = operands.find(1, "dtype");
  const AbstractValue dtype =
      given && !given->is_none() ? *given : AbstractValue::of_int(natural_dtype(literal));
  std::vector<AbstractValue> elements;
  for (const AbstractValue* number : literal.numbers) {
    elements.push_back(
        number->is_tensor()
            ? recorder.call("aten::to", {AbstractValue::of_tensor(recorder.tensor(*number)), dtype})
            : recorder.call("aten::scalar_tensor",
                            {number->value ? AbstractValue::of_tensor(number->value) : *number},
                            {{"dtype", dtype}}));
  }
  if (literal.shape.empty()) return elements.front();
  std::vector<AbstractValue> sizes;
  for (const std::int64_t each : literal.shape) sizes.push_back(AbstractValue::of_int(each));
  const AbstractValue shape = AbstractValue::of_items(Kind::kList, std::move(sizes));
  if (elements.empty()) return recorder.call("aten::zeros", {shape}, {{"dtype", dtype}});
  const AbstractValue row =
      recorder.call("aten::stack", {AbstractValue::of_items(Kind::kList, elements)});
  return literal.shape.size() == 1 ? row : recorder.call("aten::reshape", {row, shape});
}

std::optional<AbstractValue> as_tensor(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* tensor = tensor_operand(operands);
  if (!tensor) return make_tensor(recorder, operands);
  const AbstractValue* dtype = operands.find(1, "dtype");
  return dtype && !dtype->is_none() ? recorder.call("aten::to", {*tensor, *dtype}) : *tensor;
}

// where(condition), a tensor for each of its dimensions.
std::optional<AbstractValue> where(GraphRecorder& recorder, const Operands& operands) {
  if (operands.positional.size() + operands.named.size() != 1) return std::nullopt;
  const AbstractValue* tensor = tensor_operand(operands);
  if (!tensor) return std::nullopt;
  return recorder.call("aten::nonzero_numpy", {*tensor});
}

std::optional<AbstractValue> shape_as_tensor(GraphRecorder& recorder, const Operands& operands) {
  const std::optional<AbstractValue> sizes = size(recorder, {"aten::size", {operands.at(0)}, {}});
  return sizes ? make_tensor(recorder, {"aten::tensor", {*sizes}, {}}) : std::nullopt;
}

// What torch.onnx.operators calls, with the sizes in a tensor.
std::optional<AbstractValue> reshape_from_tensor(GraphRecorder& recorder,
                                                 const Operands& operands) {
  const AbstractValue sizes = recorder.list_of_tensor(operands.at(1));
  return recorder.call("aten::reshape", {operands.at(0), sizes});
}

// A list of known length; one with a dynamic length where the size is symbolic.
std::optional<AbstractValue> unbind(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* tensor = tensor_operand(operands);
  if (!tensor || !tensor->value) return std::nullopt;
  const AbstractValue* dim = operands.find(1, "dim");
  const auto rank = static_cast<std::int64_t>(tensor->value->rank());
  std::int64_t axis = dim ? dim->expr.constant().value_or(rank) : 0;
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return std::nullopt;
  if (tensor->value->shape[static_cast<std::size_t>(axis)].is_constant()) return std::nullopt;
  const AbstractValue stack =
      axis == 0 ? *tensor
                : recorder.call("aten::movedim",
                                {*tensor, AbstractValue::of_int(axis), AbstractValue::of_int(0)});
  return of_stack(stack.value, Kind::kTensor);
}

// A tensor that is split into a dynamic number of parts.
std::optional<AbstractValue> parts_of(GraphRecorder& recorder, const AbstractValue& tensor,
                                      const AbstractValue* dim,
                                      const std::function<Expr(Expr)>& length) {
  const auto rank = static_cast<std::int64_t>(shape_of(tensor).size());
  std::int64_t axis = dim ? dim->expr.constant().value_or(rank) : 0;
  if (axis < 0) axis += rank;
  if (!tensor.value || axis < 0 || axis >= rank) return std::nullopt;
  const Expr whole = tensor.value->shape[static_cast<std::size_t>(axis)];
  const Expr each = length(whole);
  const bool is_open = each.known() && !(whole.is_constant() && each.is_constant());
  return is_open ? std::optional(split_evenly(recorder, tensor.value, each, axis)) : std::nullopt;
}

// Where the parts are equal, the operator's own rule tells how many there are.
std::optional<AbstractValue> chunk(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue *tensor = tensor_operand(operands), *count = operands.find(1, "chunks");
  if (!tensor || !count || count->kind != Kind::kInt) return std::nullopt;
  const bool is_known = count->expr.is_constant();
  if (is_known && count->expr.value() <= 0) return std::nullopt;
  return parts_of(recorder, *tensor, operands.find(2, "dim"), [&](Expr whole) {
    const bool is_even = is_known && symbolic::exact_quotient(whole, count->expr).known();
    return is_even ? Expr() : symbolic::max(symbolic::ceil_div(whole, count->expr), 1);
  });
}

// The integers of a constant, as a number or a list; nothing of any other tensor.
std::optional<AbstractValue> held_integers(GraphRecorder& recorder, const Value* value) {
  constexpr std::string_view kSame[] = {"detach",          "alias", "lift_fresh",
                                        "lift_fresh_copy", "to",    "clone"};
  if (recorder.writes().was_written(value)) return std::nullopt;
  while (value && value->producer && value->dtype == DType::kInt64) {
    const program::Call& call = *value->producer;
    const program::Argument& first = call.arguments.front();
    const Expr* number = first.get<Expr>();
    const std::string_view name = call.schema->base_name();
    if (name == "scalar_tensor" && number) return AbstractValue::of_int(*number);
    if (std::ranges::find(kSame, name) == std::end(kSame)) return std::nullopt;
    value = program::tensor_of(first);
    if (value && recorder.writes().was_written(value)) return std::nullopt;
  }
  const bool is_constant =
      std::ranges::any_of(recorder.program().inputs, [&](const program::InputSpec& input) {
        return input.value && input.value == value && input.kind == program::InputKind::kConstant;
      });
  const program::Weight* weight = is_constant ? value->weight : nullptr;
  if (!weight || weight->dtype != DType::kInt64 || !weight->storage->data) return std::nullopt;
  if (weight->shape.size() != 1) return std::nullopt;
  std::vector<AbstractValue> numbers;
  for (std::int64_t i = 0; i < weight->shape[0]; ++i) {
    std::int64_t number = 0;
    const std::int64_t place = weight->offset + i * weight->strides.at(0);
    std::memcpy(&number, weight->storage->data + place * 8, sizeof number);
    numbers.push_back(AbstractValue::of_int(number));
  }
  return AbstractValue::of_items(Kind::kList, std::move(numbers));
}

// tensor_split(x, torch.tensor([1, 3]))
std::optional<AbstractValue> split_where_a_tensor_says(GraphRecorder& recorder,
                                                       const Operands& operands) {
  const AbstractValue *tensor = tensor_operand(operands),
                      *at = operands.find(1, "tensor_indices_or_sections");
  if (!tensor || !at || !at->is_tensor() || operands.positional.size() < 2) return std::nullopt;
  const std::optional<AbstractValue> known =
      at->value ? held_integers(recorder, at->value) : std::optional(recorder.item(*at));
  if (!known) return std::nullopt;
  std::vector<AbstractValue> positional = operands.positional;
  positional[1] = *known;
  return recorder.call("aten::tensor_split", std::move(positional), operands.named);
}

// torch.split(x, [1, 3]) is an operator of its own name, too.
std::optional<AbstractValue> split(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* tensor = tensor_operand(operands);
  const AbstractValue* sizes = operands.find(1, "split_size");
  if (!tensor) return split_text(operands);
  if (sizes && sizes->kind == Kind::kInt)
    return parts_of(recorder, *tensor, operands.find(2, "dim"), [&](Expr) { return sizes->expr; });
  if (!sizes || sizes->kind != Kind::kList) return std::nullopt;
  return recorder.call("aten::split_with_sizes", operands.positional, operands.named);
}

std::optional<AbstractValue> identity(GraphRecorder&, const Operands& operands) {
  const AbstractValue* tensor = tensor_operand(operands);
  if (!tensor) return std::nullopt;
  AbstractValue made = *tensor;
  made.is_python_number = false;
  return made;
}

// 0, 1, ... up to a tensor's size, which torch.onnx's own helpers call.
std::optional<AbstractValue> arange_along(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue *like = operands.find(0, "like"), *axis = operands.find(1, "dim");
  if (!like || !axis || !like->is_tensor()) return std::nullopt;
  return recorder.call("aten::arange", {recorder.call("aten::size", {*like, *axis})});
}

// To int64 of fractions, in builds of PyTorch that cut the start and the step to integers, but
// count the elements in double. Others cut the end as well, as the operator's translator does.
std::optional<AbstractValue> arange_of_fractions(GraphRecorder& recorder,
                                                 const Operands& operands) {
  std::vector<AbstractValue> numbers = operands.positional;
  const AbstractValue* dtype = operands.find(numbers.size(), "dtype");
  if (!recorder.options().arange_counts_in_double || numbers.size() > 3 || !dtype ||
      dtype->kind != Kind::kInt || dtype_of(*dtype) != DType::kInt64)
    return std::nullopt;
  for (AbstractValue& each : numbers)
    if (each.is_tensor() && base::is_floating(type_of(each))) each = recorder.item(each);
  if (std::ranges::none_of(numbers, [](const auto& each) { return each.kind == Kind::kFloat; }))
    return std::nullopt;
  if (numbers.size() == 1) numbers.insert(numbers.begin(), AbstractValue::of_int(0));
  if (numbers.size() == 2) numbers.push_back(AbstractValue::of_int(1));
  const AbstractValue distance = recorder.call("aten::sub", {numbers[1], numbers[0]});
  const AbstractValue steps =
      recorder.call("aten::ceil", {recorder.call("aten::div", {distance, numbers[2]})});
  const AbstractValue places = recorder.call("aten::arange", {steps}, {{"dtype", *dtype}});
  const AbstractValue start = recorder.call("aten::Int", {numbers[0]});
  const AbstractValue step = recorder.call("aten::Int", {numbers[2]});
  return recorder.call("aten::add", {recorder.call("aten::mul", {places, step}), start});
}

// Whether two tensors are of one size and hold the same.
std::optional<AbstractValue> equal(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue *left = tensor_operand(operands), *right = operands.find(1, "other");
  if (!left || !right || !right->is_tensor()) return std::nullopt;
  const std::vector<Expr> one = shape_of(*left), other = shape_of(*right);
  if (one.size() != other.size()) return AbstractValue::of_bool(false);
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (one[i] == other[i]) continue;
    if (one[i].is_constant() && other[i].is_constant()) return AbstractValue::of_bool(false);
    refuse("whether tensors of sizes that may differ are equal");
  }
  return recorder.item(recorder.call("aten::all", {recorder.call("aten::eq", {*left, *right})}));
}

// It shares the tensor's memory, and writes to it are seen there.
std::optional<AbstractValue> data(GraphRecorder& recorder, const Operands& operands) {
  const AbstractValue* tensor = tensor_operand(operands);
  if (!tensor) return std::nullopt;
  return recorder.call("aten::detach", {*tensor});
}

std::optional<AbstractValue> raise(GraphRecorder&, const Operands& operands) {
  const AbstractValue* message = operands.find(0, "msg");
  throw Raised{message ? message->text : std::string()};
}

}  // namespace

void add_tensor_builtins(BuiltinTable& table) {
  const std::pair<std::string_view, Builtin> rows[] = {
      {"aten::size", size},
      {"aten::_shape_as_tensor", shape_as_tensor},
      {"aten::_reshape_from_tensor", reshape_from_tensor},
      {"aten::where", where},
      {"aten::dim", dim},
      {"aten::numel", numel},
      {"prim::dtype", dtype},
      {"prim::device", device},
      {"prim::layout", zero},
      {"prim::is_cuda", no},
      {"prim::is_quantized", no},
      {"prim::is_sparse", no},
      {"prim::is_mps", no},
      {"prim::is_nested", no},
      {"prim::is_mkldnn", no},
      {"prim::is_xla", no},
      {"prim::is_xpu", no},
      {"prim::is_meta", no},
      {"prim::is_ort", no},
      {"prim::is_vulkan", no},
      {"prim::is_ipu", no},
      {"prim::is_maia", no},
      {"prim::is_mtia", no},
      {"prim::is_sparse_csr", no},
      {"aten::is_conj", no},
      {"aten::is_neg", no},
      {"prim::type", device_type},
      {"prim::index", nothing},
      {"prim::requires_grad", requires_grad},
      {"aten::is_floating_point", is_floating},
      {"aten::is_complex", is_complex},
      {"aten::is_contiguous", is_contiguous},
      {"aten::is_scripting",
       [](GraphRecorder&, const Operands&) -> std::optional<AbstractValue> {
         return AbstractValue::of_bool(true);
       }},
      {"aten::is_grad_enabled",
       [](GraphRecorder&, const Operands&) -> std::optional<AbstractValue> {
         return AbstractValue::of_bool(true);
       }},
      {"aten::is_autocast_enabled", no},
      {"aten::warn", nothing},
      {"prim::Print", nothing},
      {"aten::manual_seed", nothing},
      {"aten::item", item},
      {"aten::ScalarImplicit", item},
      {"aten::to", converted},
      {"aten::tensor", make_tensor},
      {"aten::unbind", unbind},
      {"aten::unbind_copy", unbind},
      {"aten::split", split},
      {"aten::chunk", chunk},
      {"aten::tensor_split", split_where_a_tensor_says},
      {"aten::unsafe_split", split},
      {"aten::unsafe_chunk", chunk},
      {"aten::split_copy", split},
      {"aten::equal", equal},
      {"prim::data", data},
      {"aten::_dim_arange", arange_along},
      {"aten::arange", arange_of_fractions},
      {"aten::cpu", identity},
      {"aten::cuda", identity},
      {"aten::as_tensor", as_tensor},
      {"aten::set_grad_enabled", nothing},
      {"prim::RaiseException", raise},
  };
  for (const auto& [name, function] : rows) table.emplace(name, function);
}

// Builtins that are called without arguments; all others read their first one.
static bool takes_nothing(std::string_view op) {
  constexpr std::string_view kNames[] = {"aten::dict", "aten::is_grad_enabled",
                                         "aten::is_scripting", "aten::is_autocast_enabled"};
  return std::ranges::find(kNames, op) != std::end(kNames);
}

std::optional<AbstractValue> builtin(GraphRecorder& recorder, const Operands& operands) {
  static const BuiltinTable kTable = [] {
    BuiltinTable table;
    add_container_builtins(table);
    add_search_builtins(table);
    add_size_builtins(table);
    add_tensor_builtins(table);
    add_traced_builtins(table);
    add_number_builtins(table);
    add_logic_builtins(table);
    add_function_builtins(table);
    add_text_builtins(table);
    add_packed_builtins(table);
    add_packed_layer_builtins(table);
    add_quantized_builtins(table);
    return table;
  }();
  static const BuiltinTable kStacks = [] {
    BuiltinTable table;
    add_stack_builtins(table);
    return table;
  }();
  for (const AbstractValue& datum : operands.positional) {
    if (datum.kind == Kind::kFailed) throw Failed();
    if (datum.value) recorder.check_rank(*datum.value);
  }
  if (std::optional<AbstractValue> made = quantized_builtin(recorder, operands)) return made;
  if (std::optional<AbstractValue> made = complex_builtin(recorder, operands)) return made;
  const bool has_stack =
      std::ranges::any_of(operands.positional | std::views::take(2),
                          [](const AbstractValue& datum) { return datum.kind == Kind::kStack; });
  const bool has_sequence =
      std::ranges::any_of(operands.positional | std::views::take(2),
                          [](const AbstractValue& datum) { return is_sequence(datum); });
  if (has_sequence && kStacks.contains(operands.op)) return sequence_builtin(recorder, operands);
  if (const auto found = kStacks.find(operands.op); has_stack && found != kStacks.end()) {
    if (std::optional<AbstractValue> made = found->second(recorder, operands)) return made;
  }
  const auto found = kTable.find(operands.op);
  if (found != kTable.end() && (!operands.positional.empty() || takes_nothing(operands.op))) {
    if (std::optional<AbstractValue> made = found->second(recorder, operands)) return made;
  }
  constexpr std::string_view kAten = "aten::";
  if (!operands.op.starts_with(kAten)) return std::nullopt;
  const std::string wrapped_name = "wrapped::" + operands.op.substr(kAten.size());
  const auto own = kTable.find(wrapped_name);
  return own == kTable.end() ? std::nullopt : own->second(recorder, operands);
}

}  // namespace sardonyx::torchscript
