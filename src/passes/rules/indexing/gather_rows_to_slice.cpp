// Before: i = Unsqueeze(Range(0, b, 1), [1, 2, 3]), j = Unsqueeze(Range(0, s, 1), [0, 1, 2])
//         y = Gather(Flatten<axis = 2>(mask), Add(Mul(i, s), j))
// After:  y = Unsqueeze(mask, [1, 2, 4])
// with mask: [b, s]. What torch.onnx's TorchScript exporter makes of mask[i, j]: one index into the
// rows and columns laid end to end, which counts them all in their order.
#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "onnx/infer/inference.h"
#include "passes/rules/indexing/iota.h"
#include "passes/rules/indexing/rules.h"
#include "passes/rules/reshape/reshaping.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::Shape;
using onnx::ValueInfo;
using symbolic::Expr;

// An iota and what one step of it adds to the index.
struct Digit {
  Iota iota;
  Expr step;
};

std::optional<Expr> size_in(const ValueInfo* value) {
  const auto contents = onnx::contents_of(value);
  if (!contents || contents->size() != 1 || !contents->front().known()) return std::nullopt;
  return contents->front();
}

// Of Mul(iota, step), or an iota alone. Axes of a step that has more than the iota would
// move those of the iota.
std::optional<Digit> digit_of(const ValueInfo* value) {
  if (const auto iota = iota_of(value)) return Digit{*iota, 1};
  const Node* product = made_by(value, Op::kMul);
  if (product == nullptr) return std::nullopt;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    const ValueInfo *counted = product->input(side), *size = product->input(1 - side);
    const auto iota = iota_of(counted);
    const auto step = iota ? size_in(size) : std::nullopt;
    if (step && size->has_rank && size->shape.size() <= counted->shape.size())
      return Digit{*iota, *step};
  }
  return std::nullopt;
}

// The summands of an index, each of its rank.
bool add_digits(const ValueInfo* value, std::size_t rank, std::vector<Digit>& digits) {
  if (value == nullptr || !value->has_rank || value->shape.size() != rank) return false;
  if (const auto digit = digit_of(value)) {
    digits.push_back(*digit);
    return true;
  }
  const Node* sum = made_by(value, Op::kAdd);
  return sum != nullptr && add_digits(sum->input(0), rank, digits) &&
         add_digits(sum->input(1), rank, digits);
}

// In the order of the axes, every index from 0 to the last, each once: a step of one axis is a
// whole run of those behind it.
bool count_all(std::vector<Digit>& digits, const ValueInfo* index, Expr total) {
  std::ranges::sort(digits, {}, [](const Digit& digit) { return digit.iota.axis; });
  Expr run = 1;
  auto next = static_cast<std::int64_t>(index->shape.size());
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
    if (digit->iota.axis == next || !(digit->step == run)) return false;
    next = digit->iota.axis;
    run = run * digit->iota.size;
  }
  if (!(run == total)) return false;
  return std::ranges::all_of(index->shape, [&](const Expr& size) {
    const auto axis = &size - index->shape.data();
    return size.is(1) || std::ranges::any_of(digits, [&](const Digit& digit) {
             return digit.iota.axis == axis && digit.iota.size == size;
           });
  });
}

bool read_in_order(Node* gather, RuleContext& context) {
  ValueInfo *const y = gather->output(), *const data = gather->input(0);
  const ValueInfo* index = gather->input(1);
  if (y == nullptr || data == nullptr || index == nullptr || !index->has_rank ||
      gather->int_or("axis", 0) != 0)
    return false;
  std::vector<Digit> digits;
  if (!add_digits(index, index->shape.size(), digits) || digits.size() < 2) return false;
  if (!has_known_sizes(data) || data->shape.empty() || !has_known_sizes(y))
    return context.decline(gather, "the sizes of what is read are not known");
  if (!count_all(digits, index, data->shape[0]))
    return context.decline(gather, "its ranges do not count what is read in order");

  // What it was before its rows were laid end to end has their sizes.
  const Node* rows = data->producer;
  const bool were_laid = rows != nullptr && (rows->is(Op::kFlatten) || rows->is(Op::kReshape)) &&
                         has_known_sizes(rows->input(0));
  Patch patch(context, gather);
  ValueInfo* const made = reshaped(patch, were_laid ? rows->input(0) : data, y->shape, y->name);
  if (made == nullptr || made->producer == nullptr)
    return context.decline(gather, "its shape has to be computed");
  patch.replace(y, made);
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kGather};

}  // namespace

// Since opset 15 Shape has a start and an end.
const Rule kGatherRowsToSlice = {"gather-rows-to-slice", kRoots, read_in_order, 15};

}  // namespace sardonyx::passes
