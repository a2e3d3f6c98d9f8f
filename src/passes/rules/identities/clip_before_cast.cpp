// Before: y = Min(Add(Cast<to = int64>(x), 8), 15)      of real numbers x
// After:  y = Add(Cast<to = int64>(Min(x, 7)), 8)
// Casts cut off, which keeps the order, so that numbers may be bounded while they are real:
// runtimes have quicker kernels for these than for long integers. What is no number is bounded by a
// least one, but not by a greatest, so that Max stays.
#include <cmath>
#include <cstdlib>
#include <optional>

#include "onnx/graph/tensor.h"
#include "passes/rules/identities/rules.h"
#include "passes/splat.h"
#include "rewriting/patch.h"
#include "rewriting/pattern.h"

namespace sardonyx::passes {
namespace {

using namespace pattern;
using base::DType;
using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

enum { kX, kCast, kSum, kAdded, kBound };

constexpr auto kInteger = as(kCast, op(Op::kCast, any(kX)));
bool is_splat(const ValueInfo* value) { return splat_value(value).has_value(); }

constexpr auto kBounded = op(Op::kMin, kInteger, any(kBound, is_splat));
constexpr auto kShifted =
    op(Op::kMin, as(kSum, op(Op::kAdd, kInteger, number(kAdded))), any(kBound, is_splat));

// What float32 has all of.
constexpr double kMaxBound = 0x1p24;
// Less than lies between the largest real numbers that casts take and the largest integer.
constexpr double kMaxAdded = 256;

bool bound(Node* root, RuleContext& context) {
  auto found = match(kBounded, root, context);
  const bool is_sum = !found;
  if (is_sum) found = match(kShifted, root, context);
  if (!found) return false;
  ValueInfo *const x = (*found)[kX], *const cast = (*found)[kCast];
  const bool is_real = x->dtype == DType::kFloat32 || x->dtype == DType::kFloat64;
  if (!is_real || (cast->dtype != DType::kInt64 && cast->dtype != DType::kInt32)) return false;
  const double added = is_sum ? found->real(kAdded) : 0;
  const double least = *splat_value((*found)[kBound]) - added;
  if (std::abs(added) > kMaxAdded || std::abs(least) > kMaxBound)
    return context.decline(root, "the bound is too large for a real number");
  Patch patch(context, root);
  ValueInfo* const limit = patch.constant(onnx::Tensor::filled(x->dtype, {}, least));
  ValueInfo* const bounded = patch.node(Op::kMin, {x, limit}, {}, x->name + "_bounded");
  ValueInfo* y = patch.cast(bounded, cast->dtype);
  if (is_sum) y = patch.node(Op::kAdd, {y, (*found)[kAdded]}, {}, root->output()->name);
  patch.replace(root->output(), y);
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kMin};

}  // namespace

const Rule kClipBeforeCast = {"clip-before-cast", kRoots, bound, 13};

}  // namespace sardonyx::passes
