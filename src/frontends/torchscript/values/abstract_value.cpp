#include "frontends/torchscript/values/abstract_value.h"

#include <algorithm>
#include <atomic>

namespace sardonyx::torchscript {

AbstractValue AbstractValue::of_tensor(program::Value* value) {
  AbstractValue datum;
  datum.kind = Kind::kTensor;
  datum.value = value;
  return datum;
}

AbstractValue AbstractValue::of_int(symbolic::Expr expr) {
  AbstractValue datum;
  datum.kind = Kind::kInt;
  datum.expr = expr;
  return datum;
}

AbstractValue AbstractValue::of_real(double real) {
  AbstractValue datum;
  datum.kind = Kind::kFloat;
  datum.real = real;
  return datum;
}

AbstractValue AbstractValue::of_complex(std::complex<double> number) {
  AbstractValue datum = of_real(number.real());
  datum.kind = Kind::kComplex;
  datum.imaginary = number.imag();
  return datum;
}

AbstractValue AbstractValue::of_bool(bool truth) {
  AbstractValue datum;
  datum.kind = Kind::kBool;
  datum.expr = truth ? 1 : 0;
  return datum;
}

AbstractValue AbstractValue::of_text(std::string text) {
  AbstractValue datum;
  datum.kind = Kind::kString;
  datum.text = std::move(text);
  return datum;
}

AbstractValue AbstractValue::of_message(std::string text) {
  AbstractValue datum = of_text(std::move(text));
  datum.is_message = true;
  return datum;
}

AbstractValue AbstractValue::of_items(Kind kind, std::vector<AbstractValue> items) {
  AbstractValue datum;
  datum.kind = kind;
  datum.held = std::make_shared<Container>();
  datum.held->items = std::move(items);
  datum.held->is_dictionary = kind == Kind::kDict;
  return datum;
}

std::uint64_t Container::next_serial() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

AbstractValue* Container::attribute(const std::string& name) {
  const auto found = std::ranges::find(names, name);
  return found == names.end() ? nullptr : &items[static_cast<std::size_t>(found - names.begin())];
}

AbstractValue as_read(AbstractValue datum) {
  const bool is_list =
      datum.kind == AbstractValue::Kind::kList || datum.kind == AbstractValue::Kind::kStack;
  if (!is_list) return datum;
  datum.kind = datum.held->stack || datum.held->filling ? AbstractValue::Kind::kStack
                                                        : AbstractValue::Kind::kList;
  datum.value = datum.held->stack;
  return datum;
}

std::string description(const AbstractValue& datum) {
  switch (datum.kind) {
    case AbstractValue::Kind::kNone:
      return "None";
    case AbstractValue::Kind::kTensor:
    case AbstractValue::Kind::kStored:
      return "a tensor";
    case AbstractValue::Kind::kInt:
      return "the integer " + datum.expr.str();
    case AbstractValue::Kind::kFloat:
      return datum.expr.known() ? "the number " + datum.expr.str()
                                : "the number " + std::to_string(datum.real);
    case AbstractValue::Kind::kComplex:
      return "a complex number";
    case AbstractValue::Kind::kBool:
      if (datum.value) return "a data-dependent bool";
      return datum.expr.is(1) ? "True" : datum.expr.is(0) ? "False" : datum.expr.str();
    case AbstractValue::Kind::kString:
      return datum.is_message ? "a data-dependent string" : "the string '" + datum.text + "'";
    case AbstractValue::Kind::kDevice:
      return "the device " + datum.text;
    case AbstractValue::Kind::kList:
      return "a list of " + std::to_string(datum.held->items.size());
    case AbstractValue::Kind::kTuple:
      return "a tuple of " + std::to_string(datum.held->items.size());
    case AbstractValue::Kind::kDict:
      return "a dictionary of " + std::to_string(datum.held->items.size() / 2);
    case AbstractValue::Kind::kOptional:
      return "None or " + description(datum.held->items.at(1)) + ", depending on data,";
    case AbstractValue::Kind::kObject:
      return "an object of " + datum.held->type;
    case AbstractValue::Kind::kQuantized:
      return "a quantized tensor";
    case AbstractValue::Kind::kStack:
      return "a list that a loop filled";
    case AbstractValue::Kind::kFunction:
      return datum.text;
    default:
      return "nothing";
  }
}

std::optional<bool> known_truth(const AbstractValue& condition) {
  if (condition.kind != AbstractValue::Kind::kBool || condition.value) return std::nullopt;
  const auto constant = condition.expr.constant();
  return constant ? std::optional(*constant != 0) : std::nullopt;
}

}  // namespace sardonyx::torchscript
