// Elementary functions in float64 from Exp, Log, Sin, Cos, Sqrt and polynomials. The coefficients
// are Chebyshev interpolations made with 40 digits (mpmath), written in powers of a variable that
// runs over [-1, 1].
#include "targets/kernels/double_forms.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "onnx/definitions/definitions.h"
#include "onnx/emit/elementary.h"
#include "onnx/emit/emit_state.h"
#include "onnx/gen/op.h"

namespace sardonyx::targets {
namespace {

using onnx::Emit;
using onnx::find_attribute;
using onnx::int_attribute;
using onnx::Operator;

// erf(x) / x in 2x^2 - 1, for |x| <= 1.
constexpr double kErf[] = {
    0.9654687386698673,     -0.1405360890227171,    0.019852496688984218,   -0.0022854855611440855,
    0.00021751715603563488, -1.75371694412802e-05,  1.2233827638093572e-06, -7.51156925108609e-08,
    4.115751500265885e-09,  -2.035231956483527e-10, 9.21125018742823e-12,   -3.80659122412214e-13,
};
// erfc(x) exp(x^2) (x + 2) in 2.4 (x - 2) / (x + 2) - 0.2, for 1 <= x <= 6.
constexpr double kErfc[] = {
    0.9662379937306147,     -0.26724557248328434,    0.04678904708989673,
    -0.003119813279873231,  -0.0005578532556766573,  9.897813844692435e-05,
    1.2958680902721891e-05, -2.7477766990382813e-06, -5.354464944114145e-07,
    6.229731293825552e-08,  2.5608355266593847e-08,  1.9562466254351945e-10,
    -9.717377289539592e-10, -1.2308622598644268e-10,
};
// atan(x) / x in 2 (x / tan(pi/8))^2 - 1, for |x| <= tan(pi/8).
constexpr double kAtan[] = {
    0.9727918173603545,    -0.02590019545981344,    0.0012335918790096182,  -6.980070655107477e-05,
    4.296549735025082e-06, -2.780682332186124e-07,  1.8605790449672663e-08, -1.2747635570400117e-09,
    8.891420434678997e-11, -6.3787064981459615e-12, 4.56243044437864e-13,
};
constexpr double kTwoOverTan2 = 11.65685424949238;  // 2 / tan(pi/8)^2
constexpr double kPi = 3.141592653589793;

// Arithmetic on float64 values and numbers.
struct Double {
  Emit& onnx;

  Value number(double value) const { return onnx.scalar(value, DType::kFloat64); }
  Value add(Value a, double b) const { return onnx.add(a, number(b)); }
  Value mul(Value a, double b) const { return onnx.mul(a, number(b)); }
  Value from(double a, Value b) const { return onnx.sub(number(a), b); }  // a - b
  Value below(Value a, double b) const { return onnx.less(a, number(b)); }
  Value equals(Value a, double b) const { return onnx.equal(a, number(b)); }

  Value polynomial(std::span<const double> coefficients, Value v) const {
    Value sum = number(coefficients.back());
    for (std::size_t i = coefficients.size() - 1; i-- > 0;)
      sum = add(onnx.mul(sum, v), coefficients[i]);
    return sum;
  }

  Value atan(Value x) const {
    const Value size = onnx.abs(x);
    const Value large = onnx.greater(size, number(2.414213562373095));     // tan(3 pi/8)
    const Value medium = onnx.greater(size, number(0.41421356237309503));  // tan(pi/8)
    const Value middle = onnx.div(add(size, -1), add(size, 1));
    const Value reduced =
        onnx.where(large, onnx.neg(onnx.reciprocal(size)), onnx.where(medium, middle, size));
    const Value start =
        onnx.where(large, number(kPi / 2), onnx.where(medium, number(kPi / 4), number(0)));
    const Value v = add(mul(onnx.mul(reduced, reduced), kTwoOverTan2), -1);
    const Value angle = onnx.add(start, onnx.mul(reduced, polynomial(kAtan, v)));
    return onnx.where(below(x, 0), onnx.neg(angle), angle);
  }

  Value erf(Value x) const {
    const Value size = onnx.abs(x);
    const Value near = onnx.mul(x, polynomial(kErf, add(mul(onnx.mul(x, x), 2), -1)));
    const Value far = onnx.clip(size, number(1), number(6));  // erf(6) rounds to 1
    const Value t = onnx.div(add(far, -2), add(far, 2));
    const Value scaled = onnx.div(polynomial(kErfc, add(mul(t, 2.4), -0.2)), add(far, 2));
    const Value rest = onnx.mul(scaled, onnx.exp(onnx.neg(onnx.mul(far, far))));
    const Value whole = onnx.mul(onnx.sign(x), from(1, rest));
    // Not a number is not below 1 either, nor has it a sign that would be one.
    return onnx.where(onnx.is_nan(x), x, onnx.where(below(size, 1), near, whole));
  }

  Value sinh(Value x) const {
    const Value size = onnx.abs(x), e = exp_minus_one(onnx, size);
    const Value moderate = mul(onnx.add(e, onnx.div(e, add(e, 1))), 0.5);
    // exp(x/2)^2 reaches further than exp(x).
    const Value root = onnx.exp(mul(size, 0.5));
    const Value large = onnx.mul(mul(root, 0.5), root);
    const Value y = onnx.where(below(size, 22), moderate, large);
    return onnx.where(below(x, 0), onnx.neg(y), y);
  }
  Value cosh(Value x) const {
    const Value root = onnx.exp(mul(onnx.abs(x), 0.5));
    const Value half = onnx.mul(mul(root, 0.5), root);
    return onnx.add(half, mul(onnx.exp(onnx.neg(onnx.abs(x))), 0.5));
  }
  Value asinh(Value x) const {
    const Value size = onnx.abs(x), square = onnx.mul(x, x);
    const Value root = onnx.sqrt(add(square, 1));
    const Value moderate = log_one_plus(onnx, onnx.add(size, onnx.div(square, add(root, 1))));
    const Value large = add(onnx.log(size), 0.6931471805599453);
    const Value y = onnx.where(below(size, 1e8), moderate, large);
    return onnx.where(below(x, 0), onnx.neg(y), y);
  }
  Value acosh(Value x) const {
    const Value t = add(x, -1);
    const Value moderate =
        log_one_plus(onnx, onnx.add(t, onnx.mul(onnx.sqrt(t), onnx.sqrt(add(t, 2)))));
    return onnx.where(below(x, 1e8), moderate, add(onnx.log(x), 0.6931471805599453));
  }
  Value atanh(Value x) const {
    return mul(log_one_plus(onnx, onnx.div(mul(x, 2), from(1, x))), 0.5);
  }
  Value asin(Value x) const {
    return atan(onnx.div(x, onnx.sqrt(onnx.mul(from(1, x), add(x, 1)))));
  }
  Value acos(Value x) const { return mul(atan(onnx.sqrt(onnx.div(from(1, x), add(x, 1)))), 2); }
  Value softplus(Value x) const {
    const Value positive = onnx.where(below(x, 0), number(0), x);  // keeps NaN
    return onnx.add(positive, log_one_plus(onnx, onnx.exp(onnx.neg(onnx.abs(x)))));
  }
  // x above 0, alpha * (exp(x / scale) - 1) below.
  Value elu(Value x, double alpha, double scale) const {
    const Value low = mul(exp_minus_one(onnx, onnx.div(x, number(scale))), alpha);
    return onnx.where(onnx.greater(x, number(0)), x, low);
  }
};

// The attribute as the program had it: the double of the shortest digits that the float prints as.
double real_attribute(std::span<const Attribute> attributes, std::string_view name,
                      float otherwise) {
  const Attribute* found = find_attribute(attributes, name);
  const float value = found == nullptr ? otherwise : std::get<float>(found->data);
  return std::strtod(fmt::format("{}", value).c_str(), nullptr);
}

std::vector<std::int64_t> spatial_axes(Value x) {
  std::vector<std::int64_t> axes(static_cast<std::size_t>(x.rank() - 2));
  std::iota(axes.begin(), axes.end(), 2);
  return axes;
}

Value global_pool(Emit& onnx, Value x, std::string_view reduction) {
  if (!x.has_rank() || x.rank() < 3) return {};
  return onnx.reduce(reduction, x, spatial_axes(x), true);
}

Value mean_of(Emit& onnx, std::span<const Value> inputs) {
  const double count = static_cast<double>(inputs.size());
  return onnx.div(onnx.sum(inputs), onnx.scalar(count, DType::kFloat64));
}

Value instance_normalization(Emit& onnx, std::span<const Value> inputs, double epsilon) {
  const Value x = inputs[0];
  if (!x.has_rank() || x.rank() < 3) return {};
  const auto axes = spatial_axes(x);
  std::vector<std::int64_t> beside(axes.size());
  std::iota(beside.begin(), beside.end(), 1);
  const Value centered = onnx.sub(x, onnx.reduce("ReduceMean", x, axes, true));
  const Value variance = onnx.reduce("ReduceMean", onnx.mul(centered, centered), axes, true);
  const Value deviation = onnx.sqrt(onnx.add(variance, onnx.scalar(epsilon, DType::kFloat64)));
  const Value normal = onnx.div(centered, deviation);
  return onnx.add(onnx.mul(normal, onnx.unsqueeze(inputs[1], beside)),
                  onnx.unsqueeze(inputs[2], beside));
}

// Values are [off, on].
Value one_hot(Emit& onnx, std::span<const Value> inputs, std::span<const Attribute> attributes) {
  const Value hot = onnx.one_hot(inputs[0], inputs[1], onnx.ints({0, 1}),
                                 {.axis = int_attribute(attributes, "axis", -1)});
  return onnx.where(onnx.cast(hot, DType::kBool), onnx.gather(inputs[2], onnx.int_scalar(1)),
                    onnx.gather(inputs[2], onnx.int_scalar(0)));
}

}  // namespace

Value in_double(Emit& onnx, const Operator& op, std::span<const Value> inputs,
                std::span<const Attribute> attributes) {
  const Double d{onnx};
  const Value x = inputs[0];
  const auto real = [&](std::string_view name, float otherwise) {
    return real_attribute(attributes, name, otherwise);
  };
  switch (op.id) {
    case Op::kAcos:
      return d.acos(x);
    case Op::kAcosh:
      return d.acosh(x);
    case Op::kAsin:
      return d.asin(x);
    case Op::kAsinh:
      return d.asinh(x);
    case Op::kAtan:
      return d.atan(x);
    case Op::kAtanh:
      return d.atanh(x);
    case Op::kCosh:
      return d.cosh(x);
    case Op::kSinh:
      return d.sinh(x);
    case Op::kTan:
      return onnx.div(onnx.sin(x), onnx.cos(x));
    case Op::kErf:
      return d.erf(x);
    case Op::kSoftplus:
      return d.softplus(x);
    case Op::kSoftsign:
      return onnx.div(x, d.add(onnx.abs(x), 1));
    case Op::kElu:
      return d.elu(x, real("alpha", 1.0F), 1.0);
    case Op::kCelu:
      return d.elu(x, real("alpha", 1.0F), real("alpha", 1.0F));
    case Op::kSelu: {
      // The defaults are PyTorch's constants, rounded.
      const bool own = attributes.empty();
      const double alpha = own ? 1.6732632423543772 : real("alpha", 1.0F);
      const double gamma = own ? 1.0507009873554805 : real("gamma", 1.0F);
      return d.mul(d.elu(x, alpha, 1.0), gamma);
    }
    case Op::kHardSigmoid: {
      const bool sixth = std::abs(real("alpha", 0.2F) - 1.0 / 6.0) < 1e-6;
      const double alpha = sixth ? 1.0 / 6.0 : real("alpha", 0.2F);
      return onnx.clip(d.add(d.mul(x, alpha), real("beta", 0.5F)), d.number(0), d.number(1));
    }
    case Op::kLeakyRelu:
      return onnx.where(d.below(x, 0), d.mul(x, real("alpha", 0.01F)), x);
    case Op::kThresholdedRelu:
      return onnx.where(onnx.less_or_equal(x, d.number(real("alpha", 1.0F))), d.number(0), x);
    case Op::kPRelu:
      return onnx.where(d.below(x, 0), onnx.mul(inputs[1], x), x);
    case Op::kGelu:  // its Erf is brought here in turn
      return onnx::spelled_out({onnx, inputs, attributes}, op)->front();
    case Op::kGlobalAveragePool:
      return global_pool(onnx, x, "ReduceMean");
    case Op::kGlobalMaxPool:
      return global_pool(onnx, x, "ReduceMax");
    case Op::kInstanceNormalization:
      return instance_normalization(onnx, inputs, real("epsilon", 1e-5F));
    case Op::kMean:
      return mean_of(onnx, inputs);
    case Op::kOneHot:
      return one_hot(onnx, inputs, attributes);
    default:
      return {};
  }
}

}  // namespace sardonyx::targets
