#include "frontends/torchscript/datum.h"

#include <algorithm>
#include <atomic>

namespace sardonyx::torchscript {

Datum Datum::of_tensor(program::Value* value) {
  Datum datum;
  datum.kind = Kind::kTensor;
  datum.value = value;
  return datum;
}

Datum Datum::of_int(symbolic::Expr expr) {
  Datum datum;
  datum.kind = Kind::kInt;
  datum.expr = expr;
  return datum;
}

Datum Datum::of_real(double real) {
  Datum datum;
  datum.kind = Kind::kFloat;
  datum.real = real;
  return datum;
}

Datum Datum::of_complex(std::complex<double> number) {
  Datum datum = of_real(number.real());
  datum.kind = Kind::kComplex;
  datum.imaginary = number.imag();
  return datum;
}

Datum Datum::of_bool(bool truth) {
  Datum datum;
  datum.kind = Kind::kBool;
  datum.expr = truth ? 1 : 0;
  return datum;
}

Datum Datum::of_text(std::string text) {
  Datum datum;
  datum.kind = Kind::kString;
  datum.text = std::move(text);
  return datum;
}

Datum Datum::of_message(std::string text) {
  Datum datum = of_text(std::move(text));
  datum.is_message = true;
  return datum;
}

Datum Datum::of_items(Kind kind, std::vector<Datum> items) {
  Datum datum;
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

Datum* Container::attribute(const std::string& name) {
  const auto found = std::ranges::find(names, name);
  return found == names.end() ? nullptr : &items[static_cast<std::size_t>(found - names.begin())];
}

Datum as_read(Datum datum) {
  const bool is_list = datum.kind == Datum::Kind::kList || datum.kind == Datum::Kind::kStack;
  if (!is_list) return datum;
  datum.kind = datum.held->stack || datum.held->filling ? Datum::Kind::kStack : Datum::Kind::kList;
  datum.value = datum.held->stack;
  return datum;
}

std::string description(const Datum& datum) {
  switch (datum.kind) {
    case Datum::Kind::kNone:
      return "None";
    case Datum::Kind::kTensor:
    case Datum::Kind::kStored:
      return "a tensor";
    case Datum::Kind::kInt:
      return "the integer " + datum.expr.str();
    case Datum::Kind::kFloat:
      return datum.expr.known() ? "the number " + datum.expr.str()
                                : "the number " + std::to_string(datum.real);
    case Datum::Kind::kComplex:
      return "a complex number";
    case Datum::Kind::kBool:
      if (datum.value) return "a truth of data";
      return datum.expr.is(1) ? "True" : datum.expr.is(0) ? "False" : datum.expr.str();
    case Datum::Kind::kString:
      return datum.is_message ? "a text that only a run tells" : "the text '" + datum.text + "'";
    case Datum::Kind::kDevice:
      return "the device " + datum.text;
    case Datum::Kind::kList:
      return "a list of " + std::to_string(datum.held->items.size());
    case Datum::Kind::kTuple:
      return "a tuple of " + std::to_string(datum.held->items.size());
    case Datum::Kind::kDict:
      return "a dictionary of " + std::to_string(datum.held->items.size() / 2);
    case Datum::Kind::kMaybe:
      return "None or " + description(datum.held->items.at(1)) + ", as data decide,";
    case Datum::Kind::kObject:
      return "an object of " + datum.held->type;
    case Datum::Kind::kQuantized:
      return "a quantised tensor";
    case Datum::Kind::kStack:
      return "a list that a loop filled";
    case Datum::Kind::kFunction:
      return datum.text;
    default:
      return "nothing";
  }
}

}  // namespace sardonyx::torchscript
