// Questions about tensors that their types answer, and tensors made of numbers.
#include <algorithm>
#include <bit>
#include <cstring>

#include "base/diagnostic.h"
#include "frontends/torchscript/builtins.h"
#include "program/coerce.h"

namespace sardonyx::torchscript {

using Kind = Datum::Kind;
using base::DType;
using program::Value;
using symbolic::Expr;

namespace {

const Datum* tensor_operand(const Operands& operands) {
  const Datum* datum = operands.positional.empty() ? nullptr : &operands.positional[0];
  return datum && datum->is_tensor() ? datum : nullptr;
}

// c10::ScalarType's number.
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

DType dtype_of(const Datum& datum) {
  program::Argument argument = datum.expr;
  const program::TypeSpec type{.kind = program::TypeKind::kDType};
  const bool is_dtype = datum.kind == Kind::kInt && program::coerce(type, argument).empty();
  return is_dtype && argument.get<DType>() ? *argument.get<DType>() : DType::kUndefined;
}

std::vector<Expr> shape_of(const Datum& tensor) {
  return tensor.value ? tensor.value->shape : std::vector<Expr>();
}

std::optional<Datum> size(Follower& follower, const Operands& operands) {
  const Datum* tensor = tensor_operand(operands);
  if (!tensor) return std::nullopt;
  const std::vector<Expr> shape = shape_of(*tensor);
  const Datum* dim = operands.find(1, "dim");
  if (!dim) {
    std::vector<Datum> sizes;
    for (const Expr each : shape) sizes.push_back(Datum::of_int(each));
    return Datum::of_items(Kind::kList, std::move(sizes));
  }
  const auto rank = static_cast<std::int64_t>(shape.size());
  const std::int64_t at = dim->expr.constant().value_or(rank);
  if (at < -rank || at >= rank)
    follower.refuse("there is no dimension " + description(*dim) + " of " + std::to_string(rank));
  return Datum::of_int(shape[static_cast<std::size_t>(at < 0 ? at + rank : at)]);
}

std::optional<Datum> dim(Follower&, const Operands& operands) {
  const Datum* tensor = tensor_operand(operands);
  if (!tensor) return std::nullopt;
  return Datum::of_int(static_cast<std::int64_t>(shape_of(*tensor).size()));
}

std::optional<Datum> numel(Follower&, const Operands& operands) {
  const Datum* tensor = tensor_operand(operands);
  if (!tensor) return std::nullopt;
  return Datum::of_int(symbolic::product(shape_of(*tensor)));
}

DType type_of(const Datum& tensor) { return tensor.value ? tensor.value->dtype : DType::kInt64; }

std::optional<Datum> dtype(Follower&, const Operands& operands) {
  const Datum* tensor = tensor_operand(operands);
  if (!tensor) return std::nullopt;
  return Datum::of_int(number_of(type_of(*tensor)));
}

std::optional<Datum> device(Follower&, const Operands&) {
  Datum device;
  device.kind = Kind::kDevice;
  device.text = "cpu";
  return device;
}

std::optional<Datum> zero(Follower&, const Operands&) { return Datum::of_int(0); }
std::optional<Datum> no(Follower&, const Operands&) { return Datum::of_bool(false); }
std::optional<Datum> nothing(Follower&, const Operands&) { return Datum(); }

std::optional<Datum> is_floating(Follower&, const Operands& operands) {
  const Datum* tensor = tensor_operand(operands);
  return tensor ? std::optional(Datum::of_bool(base::is_floating(type_of(*tensor)))) : std::nullopt;
}

std::optional<Datum> is_complex(Follower&, const Operands& operands) {
  const Datum* tensor = tensor_operand(operands);
  return tensor ? std::optional(Datum::of_bool(base::is_complex(type_of(*tensor)))) : std::nullopt;
}

std::optional<Datum> is_contiguous(Follower&, const Operands& operands) {
  const Datum* tensor = tensor_operand(operands);
  return tensor ? std::optional(Datum::of_bool(!tensor->value || tensor->value->strides.empty()))
                : std::nullopt;
}

std::optional<Datum> item(Follower& follower, const Operands& operands) {
  return follower.item(operands.positional.at(0));
}

// A 0-d tensor that is a number, until a tensor is needed.
std::optional<Datum> number_to_tensor(Follower& follower, const Operands& operands) {
  const Datum& number = operands.positional.at(0);
  if (number.kind != Kind::kInt) return Datum::of_tensor(follower.tensor(number));
  Datum tensor;
  tensor.kind = Kind::kTensor;
  tensor.expr = number.expr;
  return tensor;
}

// Arithmetic on numbers that tracing wrapped.
template <Expr (*formula)(Expr, Expr)>
std::optional<Datum> wrapped(Follower&, const Operands& operands) {
  const Datum* left = tensor_operand(operands);
  const Datum* right = operands.find(1, "other");
  if (!left || left->value || !right || right->value) return std::nullopt;
  if (!right->is_tensor() && right->kind != Kind::kInt) return std::nullopt;
  if (const Datum* alpha = operands.find(2, "alpha"); alpha && !alpha->expr.is(1))
    return std::nullopt;
  Datum made;
  made.kind = Kind::kTensor;
  made.expr = formula(left->expr, right->expr);
  return made.expr.known() ? std::optional(made) : std::nullopt;
}

Expr plus(Expr a, Expr b) { return a + b; }
Expr minus(Expr a, Expr b) { return a - b; }
Expr times(Expr a, Expr b) { return a * b; }
Expr quotient(Expr a, Expr b) { return symbolic::floor_div(a, b); }

// Conversions of a wrapped integer to int64 are none.
std::optional<Datum> converted(Follower&, const Operands& operands) {
  const Datum* tensor = tensor_operand(operands);
  if (!tensor || tensor->value) return std::nullopt;
  const Datum* dtype = operands.find(1, "dtype");
  if (dtype && dtype->kind == Kind::kInt && dtype_of(*dtype) == DType::kInt64) return *tensor;
  return std::nullopt;
}

// --- torch.tensor([[1, 2], [3, 4]])

struct Literal {
  std::vector<std::int64_t> shape;
  std::vector<const Datum*> numbers;
};

void collect(Follower& follower, const Datum& datum, std::size_t depth, Literal& literal) {
  if (datum.is_number() || datum.is_tensor()) {
    literal.numbers.push_back(&datum);
    return;
  }
  if (datum.kind != Kind::kList && datum.kind != Kind::kTuple)
    follower.refuse("a tensor is made of " + description(datum));
  const auto count = static_cast<std::int64_t>(datum.held->items.size());
  if (literal.shape.size() == depth) literal.shape.push_back(count);
  if (literal.shape[depth] != count) follower.refuse("a tensor is made of uneven lists");
  for (const Datum& each : datum.held->items) collect(follower, each, depth + 1, literal);
}

// Of the numbers; bool where they are truths.
std::int64_t natural_dtype(const Literal& literal) {
  constexpr std::int64_t kFloat = 6, kLong = 4, kBool = 11;
  if (literal.numbers.empty()) return kFloat;
  std::int64_t found = kBool;
  for (const Datum* number : literal.numbers) {
    if (number->is_tensor()) {
      found = number->value ? number_of(number->value->dtype) : kLong;
    } else if (number->kind == Kind::kFloat) {
      return kFloat;
    } else if (number->kind == Kind::kInt) {
      found = kLong;
    }
  }
  return found;
}

std::optional<Datum> make_tensor(Follower& follower, const Operands& operands) {
  const Datum& data = operands.positional.at(0);
  Literal literal;
  collect(follower, data, 0, literal);
  const Datum* given = operands.find(1, "dtype");
  const Datum dtype = given && !given->is_none() ? *given : Datum::of_int(natural_dtype(literal));
  std::vector<Datum> elements;
  for (const Datum* number : literal.numbers) {
    elements.push_back(
        number->is_tensor()
            ? follower.call("aten::to", {Datum::of_tensor(follower.tensor(*number)), dtype})
            : follower.call("aten::scalar_tensor",
                            {number->value ? Datum::of_tensor(number->value) : *number},
                            {{"dtype", dtype}}));
  }
  if (literal.shape.empty()) return elements.front();
  std::vector<Datum> sizes;
  for (const std::int64_t each : literal.shape) sizes.push_back(Datum::of_int(each));
  const Datum shape = Datum::of_items(Kind::kList, std::move(sizes));
  if (elements.empty()) return follower.call("aten::zeros", {shape}, {{"dtype", dtype}});
  const Datum row = follower.call("aten::stack", {Datum::of_items(Kind::kList, elements)});
  return literal.shape.size() == 1 ? row : follower.call("aten::reshape", {row, shape});
}

// --- lists that a loop filled

std::optional<Datum> stack(Follower& follower, const Operands& operands) {
  const Datum& list = operands.positional.at(0);
  if (list.kind != Kind::kStack || !list.value) return std::nullopt;
  const Datum* dim = operands.find(1, "dim");
  const Datum stacked = Datum::of_tensor(list.value);
  if (!dim || dim->expr.is(0)) return stacked;
  return follower.call("aten::movedim", {stacked, Datum::of_int(0), *dim});
}

// Of tensors of the same sizes: the stack, with its first axis moved beside the joined one.
std::optional<Datum> cat(Follower& follower, const Operands& operands) {
  const Datum& list = operands.positional.at(0);
  if (list.kind != Kind::kStack || !list.value) return std::nullopt;
  const Datum* dim = operands.find(1, "dim");
  const auto rank = static_cast<std::int64_t>(list.value->rank()) - 1;
  std::int64_t axis = dim ? dim->expr.constant().value_or(0) : 0;
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) follower.refuse("there is no such dimension to join along");
  const Datum moved = follower.call(
      "aten::movedim", {Datum::of_tensor(list.value), Datum::of_int(0), Datum::of_int(axis)});
  return follower.call("aten::flatten", {moved, Datum::of_int(axis), Datum::of_int(axis + 1)});
}

std::optional<Datum> raise(Follower&, const Operands& operands) {
  const Datum* message = operands.find(0, "msg");
  throw Raised{message ? message->text : std::string()};
}

}  // namespace

void add_tensor_builtins(BuiltinTable& table) {
  const std::pair<std::string_view, Builtin> rows[] = {
      {"aten::size", size},
      {"aten::dim", dim},
      {"aten::numel", numel},
      {"prim::dtype", dtype},
      {"prim::device", device},
      {"prim::layout", zero},
      {"prim::is_cuda", no},
      {"prim::is_quantized", no},
      {"prim::is_sparse", no},
      {"prim::is_mps", no},
      {"prim::requires_grad", no},
      {"aten::is_floating_point", is_floating},
      {"aten::is_complex", is_complex},
      {"aten::is_contiguous", is_contiguous},
      {"aten::is_scripting",
       [](Follower&, const Operands&) -> std::optional<Datum> { return Datum::of_bool(true); }},
      {"aten::is_grad_enabled", no},
      {"aten::is_autocast_enabled", no},
      {"aten::warn", nothing},
      {"prim::Print", nothing},
      {"aten::manual_seed", nothing},
      {"aten::item", item},
      {"aten::ScalarImplicit", item},
      {"prim::NumToTensor", number_to_tensor},
      {"aten::floor_divide", wrapped<quotient>},
      {"wrapped::add", wrapped<plus>},
      {"wrapped::mul", wrapped<times>},
      {"wrapped::sub", wrapped<minus>},
      {"aten::to", converted},
      {"aten::tensor", make_tensor},
      {"aten::stack", stack},
      {"aten::cat", cat},
      {"prim::RaiseException", raise},
  };
  for (const auto& [name, function] : rows) table.emplace(name, function);
}

std::optional<Datum> builtin(Follower& follower, const Operands& operands) {
  static const BuiltinTable kTable = [] {
    BuiltinTable table;
    add_container_builtins(table);
    add_tensor_builtins(table);
    add_number_builtins(table);
    return table;
  }();
  for (const Datum& datum : operands.positional)
    if (datum.kind == Kind::kFailed) throw Failed();
  const auto found = kTable.find(operands.op);
  if (found != kTable.end() && !operands.positional.empty()) {
    if (std::optional<Datum> made = found->second(follower, operands)) return made;
  }
  constexpr std::string_view kAten = "aten::";
  if (!operands.op.starts_with(kAten)) return std::nullopt;
  const std::string wrapped_name = "wrapped::" + operands.op.substr(kAten.size());
  const auto own = kTable.find(wrapped_name);
  return own == kTable.end() ? std::nullopt : own->second(follower, operands);
}

}  // namespace sardonyx::torchscript
