// Operators that have changed, with the version of archives from which on they are what they are
// now (torch/csrc/jit/operator_upgraders). gelu, too, got a version of its own, and kept its
// meaning.
#include "frontends/torchscript/recording/upgraders.h"

#include <algorithm>

#include "base/dtype.h"

namespace sardonyx::torchscript {

using Kind = AbstractValue::Kind;

namespace {

constexpr std::int64_t kTrueDivision = 4;
constexpr std::int64_t kFullOfIntegers = 5;
constexpr std::int64_t kStepsAreGiven = 8;

bool is_floating(const AbstractValue& datum) {
  if (datum.is_tensor())
    return datum.value &&
           (base::is_floating(datum.value->dtype) || base::is_complex(datum.value->dtype));
  return datum.kind == Kind::kFloat || datum.kind == Kind::kComplex;
}

// Integers were divided into integers.
void upgrade_division(Operands& operands) {
  const AbstractValue *left = operands.find(0, "self"), *right = operands.find(1, "other");
  if (!left || !right || !left->is_tensor() || operands.find(2, "rounding_mode")) return;
  if (is_floating(*left) || is_floating(*right)) return;
  operands.named.emplace_back("rounding_mode", AbstractValue::of_text("trunc"));
}

// A hundred steps, where nothing said how many.
void upgrade_spacing(Operands& operands) {
  constexpr std::size_t kSteps = 2;
  constexpr std::int64_t kStandard = 100;
  if (operands.positional.size() > kSteps && operands.positional[kSteps].is_none())
    operands.positional[kSteps] = AbstractValue::of_int(kStandard);
  if (!operands.find(kSteps, "steps"))
    operands.named.emplace_back("steps", AbstractValue::of_int(kStandard));
}

// Of floats, whatever fills it, where nothing said the type.
void upgrade_full(Operands& operands) {
  constexpr std::int64_t kFloat = 6;
  const auto dtype = std::ranges::find(operands.named, "dtype", &NamedValue::first);
  if (dtype == operands.named.end()) {
    operands.named.emplace_back("dtype", AbstractValue::of_int(kFloat));
  } else if (dtype->second.is_none()) {
    dtype->second = AbstractValue::of_int(kFloat);
  }
}

}  // namespace

void upgrade(Operands& operands, std::int64_t version) {
  const std::string& op = operands.op;
  if (version < kTrueDivision && (op == "aten::div" || op == "aten::div_"))
    upgrade_division(operands);
  if (version < kFullOfIntegers && op == "aten::full") upgrade_full(operands);
  if (version < kStepsAreGiven && (op == "aten::linspace" || op == "aten::logspace"))
    upgrade_spacing(operands);
}

}  // namespace sardonyx::torchscript
