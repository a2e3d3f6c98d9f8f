// Before: a, b = Split<axis = 1>(Reshape(x, [n, 56, 56, 96]), [3, 53])
//         y = Reshape(Transpose(Reshape(Concat<axis = 1>(b, a), [n, 8, 7, 8, 7, 96])), windows)
// After:  y = Reshape(Gather<axis = 1>(x, places), windows)
// Images that are shifted, parted into windows and put together again, or of which neighbors are
// laid side by side, are copied once instead of for each step. A Transpose alone stays: it copies
// once, too.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "onnx/gen/op.h"
#include "passes/rules/indexing/data_movement.h"
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

// Below, finding the places takes longer than copying what stands there.
constexpr std::int64_t kMinBytes = 32;
// A list of places takes memory, too.
constexpr std::int64_t kMaxRows = 65536;

bool is_moved_by(const onnx::Use& use, const ValueInfo* value) {
  return use.node->graph == value->graph && moves_rows(use.node) &&
         (use.node->is(Op::kConcat) || use.index == 0);
}

// Whether everything that reads the value moves it further. Parts that are computed with are no
// way on.
bool moves_on(const ValueInfo* value) {
  const auto is_moved = [](const ValueInfo* x) {
    return x->returns.empty() && !x->uses.empty() &&
           std::ranges::all_of(x->uses, [x](const onnx::Use& use) { return is_moved_by(use, x); });
  };
  return is_moved(value) && std::ranges::all_of(value->uses, [&](const onnx::Use& use) {
           return !use.node->is(Op::kSplit) || std::ranges::all_of(use.node->outputs, is_moved);
         });
}

// Nodes of the movement that nothing needs once its result is made another way.
std::vector<const Node*> spared(const Movement& movement) {
  std::vector<const Node*> nodes;
  const auto goes = [&](const onnx::Use& use) {
    return std::ranges::find(nodes, use.node) != nodes.end();
  };
  for (std::size_t i = movement.nodes.size(); i-- > 0;) {
    const Node* node = movement.nodes[i];
    const bool is_last = i + 1 == movement.nodes.size();
    if (is_last || std::ranges::all_of(node->outputs, [&](const ValueInfo* y) {
          return y->returns.empty() && std::ranges::all_of(y->uses, goes);
        }))
      nodes.push_back(node);
  }
  return nodes;
}

// The elements of one place of the axis behind the samples.
std::int64_t width_of(const ValueInfo* value) {
  return elements_of_sample(value) / value->shape[1].value();
}

// Its samples as rows of this many elements, which stand behind the second axis.
Shape in_rows(const ValueInfo* value, std::int64_t width) {
  if (width_of(value) == width) return value->shape;
  return {value->shape[0], elements_of_sample(value) / width, width};
}

// Places of rows of `width` elements, of which a unit has some.
std::vector<std::int64_t> places_of(const Movement& movement, std::int64_t width) {
  std::vector<std::int64_t> places;
  const std::int64_t each = movement.unit / width;
  for (const std::int64_t unit : movement.places)
    for (std::int64_t i = 0; i < each; ++i) places.push_back(unit * each + i);
  return places;
}

// Reshapes of what a Reshape gives, or takes, are one with it.
bool is_reshape(const Node* node) { return node != nullptr && node->is(Op::kReshape); }

bool saves(const Movement& movement, const ValueInfo* y, std::int64_t width) {
  const std::vector<const Node*> nodes = spared(movement);
  const auto copies = std::ranges::count_if(nodes, [](auto* node) { return !is_reshape(node); });
  std::size_t made = 1;
  if (width_of(movement.source) != width && !is_reshape(movement.source->producer)) ++made;
  if (width_of(y) != width && !(used_once(y) && is_reshape(y->uses.front().node))) ++made;
  return copies > 1 && (nodes.size() > made || (copies > 2 && nodes.size() == made));
}

bool gather(Node* root, RuleContext& context) {
  ValueInfo* const y = root->output();
  if (y == nullptr || !moves_rows(root) || moves_on(y)) return false;
  const auto movement = movement_to(y);
  if (!movement || base::byte_size(y->dtype, movement->unit) < kMinBytes) return false;
  ValueInfo* const x = movement->source;
  // Rows that are there already need no Reshape.
  std::int64_t width = width_of(x);
  if (movement->unit % width != 0 || base::byte_size(x->dtype, width) < kMinBytes)
    width = movement->unit;
  if (!saves(*movement, y, width)) return false;
  std::vector<std::int64_t> places = places_of(*movement, width);
  if (std::cmp_greater(places.size(), kMaxRows)) return false;
  const auto count = static_cast<std::int64_t>(places.size());
  Patch patch(context, root);
  ValueInfo* const rows = reshaped(patch, x, in_rows(x, width), x->name + "_rows");
  ValueInfo* const gathered =
      patch.node(Op::kGather, {rows, patch.constant(onnx::Tensor::of_ints(places, {count}))},
                 {{"axis", std::int64_t{1}, {}}}, y->name);
  if (patch.failed()) return patch.apply();
  patch.replace(y, reshaped(patch, gathered, y->shape, y->name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kReshape, Op::kTranspose, Op::kSlice, Op::kConcat};

}  // namespace

// Split takes the lengths as an input since opset 13.
const Rule kGatherRows = {"gather-rows", kRoots, gather, 13};

}  // namespace sardonyx::passes
