// Before: i = Unsqueeze(Expand(Unsqueeze(Range(0, b, 1), [1, 2, 3])), [4]), j = ... Range(0, s, 1)
//         y = GatherND(mask, Concat<axis=-1>(i, j))
// After:  y = Unsqueeze(mask, [1, 2])
// Attention masks are read so: element [i, 0, 0, j] is mask[i, j]. Where a range is not known to
// run over the whole axis, a Slice takes that much of it first.
#include <algorithm>
#include <vector>

#include "passes/rules/indexing/iota.h"
#include "passes/rules/indexing/rules.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;
using symbolic::Expr;

// The iotas that a GatherND's indices put side by side, one for each leading axis of the data.
std::vector<Iota> iotas_of(const Node* gather) {
  const Node* concat = made_by(gather->input(1), Op::kConcat);
  const ValueInfo* indices = gather->input(1);
  if (concat == nullptr || !indices->has_rank || indices->shape.empty()) return {};
  const auto last = static_cast<std::int64_t>(indices->shape.size()) - 1;
  const std::int64_t axis = concat->int_or("axis", 0);
  if (axis != last && axis != -1) return {};
  std::vector<Iota> iotas;
  for (const ValueInfo* part : concat->inputs) {
    const auto iota = iota_of(part);
    if (!iota || iota->axis == last || !part->has_rank || !part->shape.back().is(1)) return {};
    iotas.push_back(*iota);
  }
  return iotas;
}

// Each iota along an axis of its own, in order, and size 1 everywhere else.
bool spell_out_the_axes(const std::vector<Iota>& iotas, const ValueInfo* indices) {
  for (std::size_t i = 1; i < iotas.size(); ++i)
    if (iotas[i].axis <= iotas[i - 1].axis) return false;
  for (std::size_t axis = 0; axis + 1 < indices->shape.size(); ++axis) {
    const bool counted = std::ranges::any_of(
        iotas, [&](const Iota& iota) { return iota.axis == static_cast<std::int64_t>(axis); });
    if (!counted && !indices->shape[axis].is(1)) return false;
  }
  return true;
}

// How far the range runs, as int64 [1].
ValueInfo* limit_of(Patch& patch, const Node* range) {
  ValueInfo* limit = range->input(1);
  const Node* squeeze = made_by(limit, Op::kSqueeze);
  if (squeeze != nullptr && squeeze->input(0)->has_rank && squeeze->input(0)->shape.size() == 1)
    return squeeze->input(0);
  return patch.node(Op::kUnsqueeze, {limit, patch.ints({0})}, {}, limit->name + "_Unsqueeze");
}

// The axes of the indices that no iota runs along.
std::vector<std::int64_t> added_axes(const std::vector<Iota>& iotas, std::size_t rank) {
  std::vector<std::int64_t> added;
  for (std::size_t axis = 0; axis + 1 < rank; ++axis) {
    const auto position = static_cast<std::int64_t>(axis);
    if (std::ranges::none_of(iotas, [&](const Iota& c) { return c.axis == position; }))
      added.push_back(position);
  }
  return added;
}

bool read_in_order(Node* gather, RuleContext& context) {
  if (gather->int_or("batch_dims", 0) != 0) return false;
  ValueInfo* data = gather->input(0);
  const ValueInfo* indices = gather->input(1);
  if (data == nullptr || gather->output() == nullptr) return false;
  const std::vector<Iota> iotas = iotas_of(gather);
  if (iotas.empty()) return false;
  if (!data->has_rank || iotas.size() > data->shape.size())
    return context.decline(gather, "the rank of what is read is not known");
  if (!spell_out_the_axes(iotas, indices))
    return context.decline(gather, "its ranges do not run along axes of their own, in order");
  if (!gather->output()->returns.empty())
    return context.decline(gather, "it is an output of its graph");

  Patch patch(context, gather);
  const std::string& name = gather->output()->name;
  for (std::size_t i = 0; i < iotas.size(); ++i) {
    if (data->shape[i] == iotas[i].size) continue;
    ValueInfo* const slice = patch.node(Op::kSlice,
                                        {data, patch.ints({0}), limit_of(patch, iotas[i].range),
                                         patch.ints({static_cast<std::int64_t>(i)})},
                                        {}, name + "_Slice");
    if (slice == nullptr) return patch.apply();
    slice->shape = data->shape;
    slice->shape[i] = iotas[i].size;
    data = slice;
  }
  const std::vector<std::int64_t> added = added_axes(iotas, indices->shape.size());
  if (!added.empty())
    data = patch.node(Op::kUnsqueeze, {data, patch.ints(added)}, {}, name + "_Unsqueeze");
  patch.replace(gather->output(), data);
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kGatherND};

}  // namespace

// Since opset 13 Unsqueeze and its like take axes as an input.
const Rule kGatherNdToSlice = {"gather-nd-to-slice", kRoots, read_in_order, 13};

}  // namespace sardonyx::passes
