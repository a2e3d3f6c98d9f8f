// Losses of a prediction and a target, element by element, then reduced.
#include <cmath>
#include <limits>
#include <numbers>

#include "aten/elementwise/operands.h"
#include "aten/families.h"
#include "aten/losses/loss_reduction.h"

namespace sardonyx::aten {
namespace {

Value wide(const Call& call, Emit& onnx, std::string_view name) {
  return onnx.cast(call.tensor(name), computing_type(call.result_dtype()));
}

Value number(Emit& onnx, Value like, double value) { return onnx.scalar(value, like.dtype()); }

Value error(const Call& call, Emit& onnx) {
  return onnx.sub(wide(call, onnx, "self"), wide(call, onnx, "target"));
}

Outputs l1_loss(const Call& call, Emit& onnx) {
  return reduced_loss(call, onnx, onnx.abs(error(call, onnx)));
}

Outputs mse_loss(const Call& call, Emit& onnx) {
  const Value e = error(call, onnx);
  return reduced_loss(call, onnx, onnx.mul(e, e));
}

// e^2 / (2 beta) below beta, |e| - beta / 2 above.
Outputs smooth_l1_loss(const Call& call, Emit& onnx) {
  const Value e = onnx.abs(error(call, onnx));
  const double beta = call.number("beta");
  if (beta == 0) return reduced_loss(call, onnx, e);
  const Value near =
      onnx.div(onnx.mul(onnx.mul(e, e), number(onnx, e, 0.5)), number(onnx, e, beta));
  const Value far = onnx.sub(e, number(onnx, e, beta / 2));
  return reduced_loss(call, onnx, onnx.where(onnx.less(e, number(onnx, e, beta)), near, far));
}

// e^2 / 2 up to delta, delta (|e| - delta / 2) above.
Outputs huber_loss(const Call& call, Emit& onnx) {
  const Value e = onnx.abs(error(call, onnx));
  const double delta = call.number("delta");
  const Value near = onnx.mul(onnx.mul(e, e), number(onnx, e, 0.5));
  const Value far = onnx.mul(onnx.sub(e, number(onnx, e, delta / 2)), number(onnx, e, delta));
  return reduced_loss(call, onnx, onnx.where(onnx.greater(e, number(onnx, e, delta)), far, near));
}

// Logarithms are held above -100.
Outputs binary_cross_entropy(const Call& call, Emit& onnx) {
  const Value p = wide(call, onnx, "self"), target = wide(call, onnx, "target");
  const Value one = number(onnx, p, 1), floor = number(onnx, p, -100);
  const Value yes = onnx.max({onnx.log(p), floor});
  const Value no = onnx.max({log_one_plus(onnx, onnx.neg(p)), floor});
  Value loss = onnx.sub(onnx.mul(onnx.sub(target, one), no), onnx.mul(target, yes));
  if (call.has("weight")) loss = onnx.mul(loss, wide(call, onnx, "weight"));
  return reduced_loss(call, onnx, loss);
}

// log(1 + exp(-x)) without overflow.
Value minus_log_sigmoid(Emit& onnx, Value x) {
  const Value tail = log_one_plus(onnx, onnx.exp(onnx.neg(onnx.abs(x))));
  return onnx.add(onnx.relu(onnx.neg(x)), tail);
}

// (1 - t) x + (1 + (w - 1) t) log(1 + exp(-x))
Outputs binary_cross_entropy_with_logits(const Call& call, Emit& onnx) {
  const Value x = wide(call, onnx, "self"), target = wide(call, onnx, "target");
  const Value one = number(onnx, x, 1);
  Value positive = minus_log_sigmoid(onnx, x);
  if (call.has("pos_weight")) {
    const Value extra = onnx.sub(wide(call, onnx, "pos_weight"), one);
    positive = onnx.mul(onnx.add(one, onnx.mul(extra, target)), positive);
  }
  Value loss = onnx.add(onnx.mul(onnx.sub(one, target), x), positive);
  if (call.has("weight")) loss = onnx.mul(loss, wide(call, onnx, "weight"));
  return reduced_loss(call, onnx, loss);
}

// t (log t - x), 0 where t is 0.
Outputs kl_div(const Call& call, Emit& onnx) {
  const Value x = wide(call, onnx, "self"), target = wide(call, onnx, "target");
  if (call.flag("log_target")) {
    return reduced_loss(call, onnx, onnx.mul(onnx.exp(target), onnx.sub(target, x)));
  }
  const Value zero = number(onnx, x, 0);
  const Value own = onnx.where(onnx.equal(target, zero), zero, onnx.mul(target, onnx.log(target)));
  return reduced_loss(call, onnx, onnx.sub(own, onnx.mul(target, x)));
}

Outputs soft_margin_loss(const Call& call, Emit& onnx) {
  const Value product = onnx.mul(wide(call, onnx, "self"), wide(call, onnx, "target"));
  Value loss = minus_log_sigmoid(onnx, product);
  // PyTorch's exponential of float16 overflows from log(65520) on, and the loss with it.
  if (call.result_dtype() == DType::kFloat16) {
    const Value overflows = onnx.less(product, number(onnx, product, -11.0901));
    const double infinity = std::numeric_limits<double>::infinity();
    loss = onnx.where(overflows, number(onnx, product, infinity), loss);
  }
  return reduced_loss(call, onnx, loss);
}

// exp(x) - t x with x a logarithm, x - t log(x + eps) otherwise; `full` adds Stirling's terms.
Outputs poisson_nll_loss(const Call& call, Emit& onnx) {
  const Value x = wide(call, onnx, "input"), target = wide(call, onnx, "target");
  Value loss;
  if (call.flag("log_input")) {
    loss = onnx.sub(onnx.exp(x), onnx.mul(target, x));
  } else {
    const Value log = onnx.log(onnx.add(x, number(onnx, x, call.number("eps"))));
    loss = onnx.sub(x, onnx.mul(target, log));
  }
  if (call.flag("full")) {
    const Value circle = onnx.log(onnx.mul(target, number(onnx, x, 2 * std::numbers::pi)));
    const Value stirling = onnx.add(onnx.sub(onnx.mul(target, onnx.log(target)), target),
                                    onnx.mul(circle, number(onnx, x, 0.5)));
    const Value counts = onnx.greater(target, number(onnx, x, 1));
    loss = onnx.add(loss, onnx.where(counts, stirling, number(onnx, x, 0)));
  }
  return reduced_loss(call, onnx, loss);
}

Outputs hinge_embedding_loss(const Call& call, Emit& onnx) {
  const Value x = wide(call, onnx, "self"), target = wide(call, onnx, "target");
  const Value zero = number(onnx, x, 0);
  const Value gap = onnx.relu(onnx.sub(number(onnx, x, call.number("margin")), x));
  const Value unlike = onnx.where(onnx.equal(target, number(onnx, x, 1)), zero, gap);
  const Value like = onnx.where(onnx.equal(target, number(onnx, x, -1)), zero, x);
  return reduced_loss(call, onnx, onnx.add(unlike, like));
}

// -t (a - b); integers wrap round at each step in the type that it has.
Value against_target(const Call& call, Emit& onnx) {
  const Value a = call.tensor("input1"), b = call.tensor("input2"), target = call.tensor("target");
  if (base::is_floating(a.dtype()) || base::is_floating(b.dtype()) ||
      base::is_floating(target.dtype())) {
    const Value gap = onnx.sub(wide(call, onnx, "input1"), wide(call, onnx, "input2"));
    return onnx.neg(onnx.mul(wide(call, onnx, "target"), gap));
  }
  const Pair inputs = promoted(onnx, a, b);
  const Value negative = onnx.sub(onnx.zero(target.dtype()), target);
  const Pair factors = promoted(onnx, negative, onnx.sub(inputs.left, inputs.right));
  return onnx.cast(onnx.mul(factors.left, factors.right), computing_type(call.result_dtype()));
}

Outputs margin_ranking_loss(const Call& call, Emit& onnx) {
  const Value against = against_target(call, onnx);
  return reduced_loss(call, onnx,
                      onnx.relu(onnx.add(against, number(onnx, against, call.number("margin")))));
}

// x as float16 holds it, in float32: small numbers in whole steps of 2^-24, large ones infinite.
// The digits in between are as good as any. A Cast there and back would say the same, but runtimes
// leave such out.
Value in_range_of_half(Emit& onnx, Value x) {
  const Value size = onnx.abs(x), step = number(onnx, x, std::ldexp(1.0, -24));
  const Value small = onnx.mul(onnx.round(onnx.div(x, step)), step);
  const Value infinite = onnx.mul(x, number(onnx, x, std::numeric_limits<double>::infinity()));
  const Value fits = onnx.where(onnx.less(size, number(onnx, x, 65520)), x, infinite);
  return onnx.where(onnx.less(size, number(onnx, x, std::ldexp(1.0, -14))), small, fits);
}

// 1 - cos for like pairs, what cos has above the margin for unlike ones. PyTorch takes products in
// the type that it is given, so that those of float16 vanish or overflow.
Outputs cosine_embedding_loss(const Call& call, Emit& onnx) {
  const Value a = wide(call, onnx, "input1"), b = wide(call, onnx, "input2");
  const Value target = wide(call, onnx, "target");
  const std::vector<std::int64_t> last = {a.rank() - 1};
  const bool half = call.result_dtype() == DType::kFloat16;
  const auto product = [&](Value x, Value y) {
    const Value exact = onnx.mul(x, y);
    return half ? in_range_of_half(onnx, exact) : exact;
  };
  const auto dot = [&](Value x, Value y) {
    const Value sum = onnx.reduce("ReduceSum", product(x, y), last, false);
    return half ? in_range_of_half(onnx, sum) : sum;
  };
  // Too small for float16.
  const Value epsilon = number(onnx, a, half ? 0 : 1e-12);
  const Value lengths = product(onnx.add(dot(a, a), epsilon), onnx.add(dot(b, b), epsilon));
  const Value cosine = onnx.div(dot(a, b), onnx.sqrt(lengths));
  const Value zero = number(onnx, a, 0), one = number(onnx, a, 1);
  const Value like = onnx.where(onnx.equal(target, one), onnx.sub(one, cosine), zero);
  const Value above = onnx.relu(onnx.sub(cosine, number(onnx, a, call.number("margin"))));
  const Value unlike = onnx.where(onnx.equal(target, number(onnx, a, -1)), above, zero);
  return reduced_loss(call, onnx, onnx.add(like, unlike));
}

constexpr Row kRows[] = {
    {"aten::binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=1) "
     "-> Tensor",
     binary_cross_entropy},
    {"aten::binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, "
     "Tensor? pos_weight=None, int reduction=1) -> Tensor",
     binary_cross_entropy_with_logits},
    {"aten::cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., "
     "int reduction=1) -> Tensor",
     cosine_embedding_loss},
    {"aten::hinge_embedding_loss(Tensor self, Tensor target, float margin=1., int reduction=1) -> "
     "Tensor",
     hinge_embedding_loss},
    {"aten::huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.) -> Tensor",
     huber_loss},
    {"aten::kl_div(Tensor self, Tensor target, int reduction=1, *, bool log_target=False) -> "
     "Tensor",
     kl_div},
    {"aten::l1_loss(Tensor self, Tensor target, int reduction=1) -> Tensor", l1_loss},
    {"aten::margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., int "
     "reduction=1) -> Tensor",
     margin_ranking_loss},
    {"aten::mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor", mse_loss},
    {"aten::poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, "
     "int reduction) -> Tensor",
     poisson_nll_loss},
    {"aten::smooth_l1_loss(Tensor self, Tensor target, int reduction=1, float beta=1.) -> Tensor",
     smooth_l1_loss},
    {"aten::soft_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
     soft_margin_loss},
};

}  // namespace

std::span<const Row> losses_rows() { return kRows; }

}  // namespace sardonyx::aten
