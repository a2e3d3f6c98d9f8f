// Complex numbers of the program, which are always known: those of data are refused.
#include <complex>
#include <optional>
#include <string>

#include "frontends/torchscript/recording/builtins.h"
#include "frontends/torchscript/recording/numbers.h"

namespace sardonyx::torchscript {

using Kind = AbstractValue::Kind;
using Complex = std::complex<double>;

namespace {

std::optional<Complex> known_complex(const AbstractValue& datum) {
  if (datum.kind == Kind::kComplex) return datum.complex();
  if (datum.is_number() && !datum.value && is_known_real(datum)) return Complex(real_of(datum));
  return std::nullopt;
}

bool is_scalar(const AbstractValue& datum) {
  return datum.is_number() || datum.kind == Kind::kComplex;
}

Complex checked(const AbstractValue& datum) {
  const std::optional<Complex> known = known_complex(datum);
  if (!known) refuse("a complex number is made of " + description(datum));
  return *known;
}

std::optional<AbstractValue> made(GraphRecorder&, const Operands& operands) {
  const AbstractValue *real = operands.find(0, "x"), *imaginary = operands.find(1, "y");
  if (!real || !imaginary || !real->is_number() || !imaginary->is_number()) return std::nullopt;
  return AbstractValue::of_complex({checked(*real).real(), checked(*imaginary).real()});
}

std::optional<AbstractValue> of_two(const std::string& op, Complex left, Complex right) {
  if (op == "aten::add") return AbstractValue::of_complex(left + right);
  if (op == "aten::sub") return AbstractValue::of_complex(left - right);
  if (op == "aten::mul") return AbstractValue::of_complex(left * right);
  if (op == "aten::div") return AbstractValue::of_complex(left / right);
  if (op == "aten::pow") return AbstractValue::of_complex(std::pow(left, right));
  if (op == "aten::eq") return AbstractValue::of_bool(left == right);
  if (op == "aten::ne") return AbstractValue::of_bool(left != right);
  return std::nullopt;
}

}  // namespace

std::optional<AbstractValue> complex_builtin(GraphRecorder& recorder, const Operands& operands) {
  if (operands.op == "aten::Complex") return made(recorder, operands);
  const std::vector<AbstractValue>& given = operands.positional;
  if (given.empty() || given.size() > 2 || !operands.named.empty()) return std::nullopt;
  const AbstractValue &left = given.front(), &right = given.back();
  const bool has_complex = left.kind == Kind::kComplex || right.kind == Kind::kComplex;
  if (!has_complex || !is_scalar(left) || !is_scalar(right)) return std::nullopt;
  if (given.size() == 2) return of_two(operands.op, checked(left), checked(right));
  if (operands.op == "aten::neg") return AbstractValue::of_complex(-left.complex());
  if (operands.op == "prim::abs" || operands.op == "aten::abs")
    return AbstractValue::of_real(std::abs(left.complex()));
  return std::nullopt;
}

}  // namespace sardonyx::torchscript
