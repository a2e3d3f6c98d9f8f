#include "aten/call.h"

#include <fmt/format.h>

#include <algorithm>

#include "aten/body.h"

namespace sardonyx::aten {
namespace {

using program::Argument;
using program::List;

[[noreturn]] void unexpected(std::string_view name, std::string_view wanted) {
  base::fail("SX1302", "argument '" + std::string(name) + "' is not " + std::string(wanted));
}

// Of a tensor without dimensions, 0 and -1 are one all the same.
std::int64_t counted_from_the_front(std::int64_t axis, std::int64_t rank, std::string_view name) {
  const std::int64_t count = std::max<std::int64_t>(rank, 1);
  if (axis < -count || axis >= count)
    base::fail("SX1302", fmt::format("argument '{}' is {}, of {} dimensions", name, axis, rank));
  return axis < 0 ? axis + count : axis;
}

// The number that an argument holds where it is known at conversion.
std::optional<std::int64_t> known_integer(const Argument& argument) {
  if (const Expr* expr = argument.get<Expr>()) return expr->constant();
  if (const bool* flag = argument.get<bool>()) return *flag ? 1 : 0;
  return std::nullopt;
}

std::int64_t require_integer(const Argument& argument, std::string_view name) {
  const std::optional<std::int64_t> value = known_integer(argument);
  if (value) return *value;
  if (const Expr* expr = argument.get<Expr>()) {
    base::fail(
        "SX1302",
        "argument '" + std::string(name) + "' must be known at conversion, but is " + expr->str(),
        "make the size static (leave it out of dynamic_shapes), or compute it differently");
  }
  unexpected(name, "an integer");
}

std::optional<double> known_number(const Argument& argument) {
  if (const double* real = argument.get<double>()) return *real;
  if (const Expr* expr = argument.get<Expr>()) {
    if (expr->known() && expr->kind() == symbolic::Kind::kReal) return expr->real();
  }
  const std::optional<std::int64_t> integer = known_integer(argument);
  return integer ? std::optional<double>(static_cast<double>(*integer)) : std::nullopt;
}

double require_number(const Argument& argument, std::string_view name) {
  const std::optional<double> value = known_number(argument);
  if (!value) unexpected(name, "a number known at conversion");
  return *value;
}

Expr require_size(const Argument& argument, std::string_view name) {
  if (const Expr* expr = argument.get<Expr>()) {
    if (expr->known()) return *expr;
  }
  if (const bool* flag = argument.get<bool>()) return *flag ? 1 : 0;
  unexpected(name, "an integer or a symbolic size");
}

std::optional<Scalar> number_in(const Argument& item) {
  if (const bool* flag = item.get<bool>()) return Scalar(*flag);
  if (const double* real = item.get<double>()) return Scalar(*real);
  if (const auto* complex = item.get<std::complex<double>>()) return Scalar(*complex);
  if (const Expr* expr = item.get<Expr>()) {
    if (expr->known()) return Scalar(*expr);
  }
  return std::nullopt;
}

// Applies `read` to the items of a list; a single item counts as a list of one.
template <class T, class Read>
std::vector<T> each(const Argument& argument, std::string_view name, const Read& read) {
  std::vector<T> result;
  if (const List* list = argument.get<List>()) {
    result.reserve(list->size());
    for (const Argument& item : *list) result.push_back(read(item, name));
  } else {
    result.push_back(read(argument, name));
  }
  return result;
}

}  // namespace

const Argument& Call::argument(std::string_view name) const { return call_.argument(name); }
bool Call::has(std::string_view name) const { return call_.has(name); }

Value Call::value_of(const program::Value* value, std::string_view name) const {
  const auto found = environment_.find(value);
  if (found != environment_.end()) return found->second;
  // A symbolic scalar used where the schema says Tensor: PyTorch wraps it.
  if (value && value->expr.known() && emit_.can_size(value->expr)) return emit_.size(value->expr);
  unexpected(name, "a value that conversion has made");
}

Value Call::seen(std::string_view name, std::size_t position, Value value) const {
  return view_ ? view_->tensor(name, position, value) : value;
}

Value Call::tensor(std::string_view name) const {
  Value value = optional_tensor(name);
  if (!value) unexpected(name, "a tensor (it is None)");
  return value;
}

Value Call::optional_tensor(std::string_view name) const {
  const Argument& item = argument(name);
  if (item.is_none()) return {};
  if (program::Value* const* value = item.get<program::Value*>()) {
    return seen(name, 0, value_of(*value, name));
  }
  // mul.Tensor(x, 2): a number where a tensor is asked for becomes a 0-d one.
  if (view_ && number_in(item)) {
    return scalar_value(emit_, view_->number(name, *number_in(item)), DType::kFloat32);
  }
  if (const Expr* expr = item.get<Expr>()) return emit_.size(*expr);
  if (const double* real = item.get<double>()) return emit_.scalar(*real, DType::kFloat32);
  if (const bool* flag = item.get<bool>()) return emit_.bool_scalar(*flag);
  unexpected(name, "a tensor");
}

std::vector<Value> Call::tensors(std::string_view name) const {
  std::vector<Value> values = optional_tensors(name);
  if (std::any_of(values.begin(), values.end(), [](Value v) { return !v; })) {
    unexpected(name, "a list of tensors (one is None)");
  }
  return values;
}

std::vector<Value> Call::optional_tensors(std::string_view name) const {
  const Argument& whole = argument(name);
  if (whole.is_none()) return {};
  std::size_t position = 0;
  return each<Value>(whole, name, [&](const Argument& item, std::string_view of) -> Value {
    const std::size_t here = position++;
    if (item.is_none()) return {};
    if (program::Value* const* value = item.get<program::Value*>()) {
      return seen(of, here, value_of(*value, of));
    }
    unexpected(of, "a list of tensors");
  });
}

bool Call::flag(std::string_view name) const {
  const std::optional<bool> value = optional_flag(name);
  return value.value_or(false);
}

std::optional<bool> Call::optional_flag(std::string_view name) const {
  const Argument& item = argument(name);
  if (item.is_none()) return std::nullopt;
  if (const bool* value = item.get<bool>()) return *value;
  return require_integer(item, name) != 0;
}

std::int64_t Call::integer(std::string_view name) const {
  return require_integer(argument(name), name);
}

std::optional<std::int64_t> Call::optional_integer(std::string_view name) const {
  if (argument(name).is_none()) return std::nullopt;
  return integer(name);
}

std::vector<std::int64_t> Call::integers(std::string_view name) const {
  return each<std::int64_t>(argument(name), name, require_integer);
}

std::vector<std::int64_t> Call::integers_or_empty(std::string_view name) const {
  if (argument(name).is_none()) return {};
  return integers(name);
}

double Call::number(std::string_view name) const {
  if (view_ && argument(name).get<std::complex<double>>()) return scalar(name).as_double();
  return require_number(argument(name), name);
}

std::optional<double> Call::optional_number(std::string_view name) const {
  if (argument(name).is_none()) return std::nullopt;
  return number(name);
}

std::vector<double> Call::numbers(std::string_view name) const {
  return each<double>(argument(name), name, require_number);
}

Expr Call::size(std::string_view name) const { return require_size(argument(name), name); }

std::optional<Expr> Call::optional_size(std::string_view name) const {
  if (argument(name).is_none()) return std::nullopt;
  return size(name);
}

std::vector<Expr> Call::sizes(std::string_view name) const {
  return each<Expr>(argument(name), name, require_size);
}

Scalar Call::scalar(std::string_view name) const {
  const std::optional<Scalar> value = optional_scalar(name);
  if (!value) unexpected(name, "a number (it is None)");
  return *value;
}

std::optional<Scalar> Call::optional_scalar(std::string_view name) const {
  const Argument& item = argument(name);
  if (item.is_none()) return std::nullopt;
  const std::optional<Scalar> number = number_in(item);
  if (!number) unexpected(name, "a number");
  return view_ ? view_->number(name, *number) : *number;
}

std::vector<std::string> Call::texts(std::string_view name) const {
  return each<std::string>(argument(name), name, [](const Argument& item, std::string_view of) {
    if (const std::string* text = item.get<std::string>()) return *text;
    unexpected(of, "a list of strings");
  });
}

std::string Call::text(std::string_view name) const {
  const Argument& item = argument(name);
  if (const std::string* text = item.get<std::string>()) return *text;
  if (const auto* enumerator = item.get<program::Enumerator>()) return enumerator->name;
  unexpected(name, "a string");
}

std::optional<DType> Call::dtype(std::string_view name) const {
  const Argument& item = argument(name);
  if (item.is_none()) return std::nullopt;
  if (const DType* dtype = item.get<DType>()) return view_ ? base::real_of(*dtype) : *dtype;
  unexpected(name, "a dtype");
}

std::int64_t Call::axis(std::string_view name, std::int64_t rank) const {
  return counted_from_the_front(integer(name), rank, name);
}

std::vector<std::int64_t> Call::axes(std::string_view name, std::int64_t rank) const {
  std::vector<std::int64_t> axes = integers_or_empty(name);
  for (std::int64_t& axis : axes) axis = counted_from_the_front(axis, rank, name);
  return axes;
}

DType Call::result_dtype(std::size_t i) const {
  const DType dtype = uses_output(i) ? call_.outputs[i]->dtype : DType::kUndefined;
  return view_ ? base::real_of(dtype) : dtype;
}

const Shape& Call::result_shape(std::size_t i) const {
  if (!uses_output(i)) {
    base::fail("SX1302", "result " + std::to_string(i) + " is never read, its shape not known");
  }
  return call_.outputs[i]->shape;
}

std::int64_t Call::result_rank(std::size_t i) const {
  return static_cast<std::int64_t>(result_shape(i).size());
}

DType Call::captured_dtype(std::string_view name) const {
  const DType dtype = captured_tensor(name).dtype;
  return view_ ? base::real_of(dtype) : dtype;
}

const program::Value& Call::captured_tensor(std::string_view name) const {
  if (program::Value* const* value = argument(name).get<program::Value*>()) return **value;
  unexpected(name, "a tensor");
}

void Call::note(std::string code, std::string message, std::string help) const {
  base::Diagnostic note;
  note.code = std::move(code);
  note.message = std::move(message);
  note.help = std::move(help);
  bodies_->note(call_, std::move(note));
}

void Call::refuse(std::string message, std::string help) const {
  base::fail("SX1301", std::move(message), std::move(help));
}

}  // namespace sardonyx::aten
