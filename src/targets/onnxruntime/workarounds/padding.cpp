// Padding of integers by the CUDA provider, which pads floating-point numbers and booleans.
#include <algorithm>
#include <optional>
#include <vector>

#include "onnx/infer/inference.h"
#include "targets/lowering.h"
#include "targets/onnxruntime/tables.h"

namespace sardonyx::targets {
namespace {

bool is_of_constants(const Use& use) {
  return use.text("mode", "constant") == "constant" && use.input(0).has_rank();
}

// Before: Pad(x, pads, value)
// After:  Concat(Expand(value), x, Expand(value)) along one axis after the other
std::optional<Values> joined_to_constants(const Use& use, const Rule&) {
  onnx::Emit& onnx = use.onnx;
  Value x = use.input(0);
  const auto amounts = onnx::contents_of(use.input(1).info());
  if (!amounts || (use.input(3) && !use.input(3).ints())) return std::nullopt;
  std::vector<std::int64_t> axes;
  if (use.input(3))
    axes = *use.input(3).ints();
  else
    for (std::int64_t axis = 0; axis < x.rank(); ++axis) axes.push_back(axis);
  const auto is_made = [&](Expr size) { return size.known() && onnx.can_size(size); };
  if (amounts->size() != 2 * axes.size() || !std::ranges::all_of(x.shape(), is_made) ||
      !std::ranges::all_of(*amounts, [&](Expr amount) {
        return is_made(amount) && symbolic::certainly_nonnegative(amount);
      }))
    return std::nullopt;
  const Value value = use.input(2) ? use.input(2) : onnx.int_scalar(0, x.dtype());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t axis = axes[i] < 0 ? axes[i] + x.rank() : axes[i];
    std::vector<Value> parts;
    const auto add = [&](Expr amount) {
      onnx::Shape shape(x.shape().begin(), x.shape().end());
      shape[static_cast<std::size_t>(axis)] = amount;
      if (amount != Expr(0)) parts.push_back(onnx.expand(value, shape));
    };
    add((*amounts)[i]);
    parts.push_back(x);
    add((*amounts)[i + axes.size()]);
    x = parts.size() == 1 ? x : onnx.concat(parts, axis);
  }
  return Values{x};
}

constexpr Rule kRows[] = {
    {.name = "padded-integers",
     .op = Op::kPad,
     .reason = Reason::kLacks,
     .types = onnx::dtype_bit(DType::kInt32) | onnx::dtype_bit(DType::kInt64),
     .when = is_of_constants,
     .how = joined_to_constants,
     .why = "the CUDA provider has no Pad of integers, and the CPU would run it between copies",
     .since = "1.31, read in the list of its kernels"},
};

}  // namespace

Rules cuda_padding_rules() { return kRows; }

}  // namespace sardonyx::targets
