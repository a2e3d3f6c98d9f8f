#include "aten/complex/componentwise.h"

#include <algorithm>
#include <bit>
#include <numbers>

#include "aten/complex/math.h"
#include "program/facts/facts.h"

namespace sardonyx::aten {
namespace {

bool named(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// Arguments that hold elements of the result, and are zero in the imaginary part where they are
// real.
bool is_data(std::string_view argument) {
  static constexpr std::string_view kNames[] = {
      "self",  "other", "tensors", "tensor",  "src",    "source", "input",
      "value", "end",   "values",  "prepend", "append", "start",  "A",
  };
  return named(kNames, argument);
}
bool is_data_number(std::string_view argument) {
  static constexpr std::string_view kNames[] = {"value", "fill_value", "fill", "s",
                                                "start", "end",        "self", "other"};
  return named(kNames, argument);
}

Outputs in_real_numbers(const Call& call, Emit& onnx, const RealView& view) {
  const Translator translate = find_translator(call.op(), false);
  if (!translate) {
    base::fail("SX1300", "no translation of " + call.op() + " for complex tensors",
               "do it on the real and the imaginary part");
  }
  return translate(call.as_real(view), onnx);
}

Scalar real_number(std::string_view argument, const Scalar& number) {
  if (number.is_complex() && number.as_complex().imag() != 0) {
    base::fail("SX1301", "argument '" + std::string(argument) + "' is a complex number");
  }
  return number.is_complex() ? Scalar(number.as_double()) : number;
}

bool result_is_complex(const Call& call, std::size_t i) {
  return call.uses_output(i) && base::is_complex(call.result_dtype(i));
}

bool any_complex_result(const Call& call) {
  for (std::size_t i = 0; i < call.output_count(); ++i) {
    if (result_is_complex(call, i)) return true;
  }
  return false;
}

// Complex results from both runs; real ones (indices, masks) from the first.
Outputs combined(const Call& call, Emit& onnx, const Outputs& reals, const Outputs& imaginaries) {
  Outputs results;
  for (std::size_t i = 0; i < reals.size(); ++i) {
    const bool complex = result_is_complex(call, i) && reals[i];
    results.push_back(complex ? from_parts(onnx, reals[i], imaginaries[i]) : reals[i]);
  }
  return results;
}

// T(re) + i T(im)
Outputs componentwise(const Call& call, Emit& onnx) {
  const Outputs reals = on_parts(call, onnx, Part::kReal);
  if (!any_complex_result(call)) return reals;
  return combined(call, onnx, reals, on_parts(call, onnx, Part::kImaginary));
}

// Numbers of variance 1, half of which is each part's.
Outputs normal_parts(const Call& call, Emit& onnx) {
  if (!any_complex_result(call)) return on_parts(call, onnx, Part::kReal);
  const auto part = [&](Part which) {
    Outputs numbers = on_parts(call, onnx, which);
    for (Value& x : numbers) x = onnx.mul(x, onnx.scalar(std::numbers::sqrt2 / 2, x.dtype()));
    return numbers;
  };
  return combined(call, onnx, part(Part::kReal), part(Part::kImaginary));
}

// What has a real value whatever its type: ones, an identity matrix.
Outputs real_valued(const Call& call, Emit& onnx) {
  const Outputs reals = on_parts(call, onnx, Part::kReal);
  Outputs zeros;
  for (const Value real : reals) {
    zeros.push_back(onnx.full(real.shape(), onnx.zero(real.dtype())));
  }
  return combined(call, onnx, reals, zeros);
}

// Asks whether numbers are zero, and nothing else.
Outputs of_truth(const Call& call, Emit& onnx) {
  const ComplexMath math(onnx);
  const RealView view{[&](std::string_view, std::size_t, Value x) {
                        if (!x || !x.is_complex()) return x;
                        return onnx.not_(math.is_zero(parts_of(onnx, x)));
                      },
                      real_number};
  return in_real_numbers(call, onnx, view);
}

// Works with the magnitudes.
Outputs of_magnitude(const Call& call, Emit& onnx) {
  const ComplexMath math(onnx);
  const RealView view{[&](std::string_view, std::size_t, Value x) {
                        return x && x.is_complex() ? math.abs(parts_of(onnx, x)) : x;
                      },
                      real_number};
  return in_real_numbers(call, onnx, view);
}

// --- linear in each of several operands

struct Factor {
  std::string_view argument;
  std::size_t position;

  friend bool operator==(const Factor&, const Factor&) = default;
};

// The complex operands, but for a bias, which is added.
std::vector<Factor> complex_factors(const Call& call) {
  std::vector<Factor> factors;
  for (const program::Parameter& parameter : call.captured().schema->parameters) {
    if (parameter.type.kind != program::TypeKind::kTensor || parameter.name == "bias") continue;
    const std::vector<Value> operands = call.optional_tensors(parameter.name);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (operands[i] && operands[i].is_complex()) factors.push_back({parameter.name, i});
    }
  }
  return factors;
}

// One product of parts; bit i of `chosen` takes the imaginary part of factor i.
Value product(const Call& call, Emit& onnx, const std::vector<Factor>& factors, unsigned chosen,
              Value bias) {
  const RealView view{[&](std::string_view argument, std::size_t position, Value x) -> Value {
                        if (argument == "bias") return bias;
                        const auto at = std::ranges::find(factors, Factor{argument, position});
                        if (at == factors.end()) return x;
                        const Parts parts = parts_of(onnx, x);
                        return (chosen >> (at - factors.begin()) & 1U) != 0 ? parts.imaginary
                                                                            : parts.real;
                      },
                      real_number};
  return in_real_numbers(call, onnx, view).front();
}

// The products with a power of i each, real and imaginary ones summed: i^2 = -1.
Outputs multilinear(const Call& call, Emit& onnx) {
  const std::vector<Factor> factors = complex_factors(call);
  if (factors.size() > 4) {
    call.refuse("a product of " + std::to_string(factors.size()) + " complex tensors",
                "multiply a few of them at a time");
  }
  const bool biased = call.captured().schema->find("bias") && call.has("bias");
  const Parts bias = biased ? parts_of(onnx, call.tensor("bias")) : Parts{};
  Parts sum;
  for (unsigned chosen = 0; chosen < (1U << factors.size()); ++chosen) {
    const unsigned power = static_cast<unsigned>(std::popcount(chosen));
    Value& into = power % 2 == 0 ? sum.real : sum.imaginary;
    const Value own_bias = into ? Value{} : power % 2 == 0 ? bias.real : bias.imaginary;
    const Value term = product(call, onnx, factors, chosen, own_bias);
    into = !into ? term : power % 4 < 2 ? onnx.add(into, term) : onnx.sub(into, term);
  }
  if (!sum.imaginary) sum.imaginary = onnx.full(sum.real.shape(), onnx.zero(sum.real.dtype()));
  return {from_parts(onnx, sum.real, sum.imaginary)};
}

// The translator for real tensors knows complex ones as well.
Outputs alike(const Call& call, Emit& onnx) {
  return find_translator(call.op(), false)(call, onnx);
}

Translator translator_for(program::OnComplex way) {
  using enum program::OnComplex;
  switch (way) {
    case kByParts:
      return componentwise;
    case kMultilinear:
      return multilinear;
    case kRealValued:
      return real_valued;
    case kNormal:
      return normal_parts;
    case kOfTruth:
      return of_truth;
    case kOfMagnitude:
      return of_magnitude;
    case kSameFormula:
      return alike;
    case kNone:
      break;
  }
  return nullptr;
}

}  // namespace

Translator find_translator_by_parts(std::string_view qualified_name) {
  return translator_for(program::facts_of(qualified_name).on_complex);
}

Outputs on_parts(const Call& call, Emit& onnx, Part part) {
  const bool imaginary = part == Part::kImaginary;
  const RealView view{[&](std::string_view argument, std::size_t, Value x) -> Value {
                        if (!x) return x;
                        if (x.is_complex()) {
                          const Parts parts = parts_of(onnx, x);
                          return imaginary ? parts.imaginary : parts.real;
                        }
                        if (!imaginary || !is_data(argument)) return x;
                        return onnx.full(x.shape(), onnx.zero(x.dtype()));
                      },
                      [&](std::string_view argument, const Scalar& number) -> Scalar {
                        if (!is_data_number(argument)) return real_number(argument, number);
                        const double real = number.is_complex() ? number.as_complex().real() : 0;
                        if (imaginary)
                          return number.is_complex() ? number.as_complex().imag() : 0.0;
                        return number.is_complex() ? Scalar(real) : number;
                      }};
  return in_real_numbers(call, onnx, view);
}

}  // namespace sardonyx::aten
