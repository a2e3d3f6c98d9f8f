// Before: m = Expand(seen, [b, 1, s, s]); w = Where(m, 0, lowest); y = Add(scores, w)
// After:  w = Where(seen, 0, lowest); y = Add(scores, w)    scores of [b, heads, s, s]
// Sinks a broadcast into its consumers where these combine it with something as large: the values
// between become smaller. So, too, ConstantOfShape, of which a number is
// left, Tile of axes of size 1, leading axes of size 1 that Unsqueeze or Reshape put in (beside
// others where an Unsqueeze without them is there, too), and And with a condition that always
// holds. Nothing is done where the whole is asked for: by an output of a graph, a body, or an
// operator that does not broadcast. Values that became smaller get other names, since they are no
// longer those of the program.
#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "base/diagnostic.h"
#include "onnx/gen/op.h"
#include "onnx/graph/recipe.h"
#include "onnx/infer/infer.h"
#include "onnx/operators/traits.h"
#include "passes/constant_ints.h"
#include "passes/passes.h"
#include "passes/rules/indexing/iota.h"
#include "passes/splat.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::Shape;
using onnx::ValueInfo;

// A broadcast has a handful of nodes in a layer after it; masks are read by all layers.
constexpr std::size_t kMaxNodes = 1000;

bool has_known_shape(const ValueInfo* value) {
  return value != nullptr && !value->is_disputed && value->has_rank &&
         std::ranges::all_of(value->shape, &symbolic::Expr::known);
}

// Whether broadcasting makes `wide` of `narrow`, which differs from it.
bool is_narrower(const Shape& narrow, const Shape& wide) {
  if (narrow.size() > wide.size() || std::ranges::equal(narrow, wide)) return false;
  const std::size_t missing = wide.size() - narrow.size();
  for (std::size_t i = 0; i < missing; ++i)
    if (!wide[i].known()) return false;
  for (std::size_t i = 0; i < narrow.size(); ++i)
    if (!narrow[i].is(1) && !(narrow[i] == wide[missing + i])) return false;
  return true;
}

// Whether the node computes the same elements of what broadcasting makes `wide` of, as input
// `index`, as of `wide`.
bool broadcasts(const Node* node, std::size_t index, const Shape& narrow, const Shape& wide) {
  if (!node->domain.empty()) return false;
  if (onnx::has_trait(node->op, onnx::Trait::kBroadcasts)) return true;
  if (onnx::has_trait(node->op, onnx::Trait::kPointwise)) return index == 0;
  // Rows are looked up for each index.
  if (node->is(Op::kGather)) return index == 1 && node->int_or("axis", 0) == 0;
  // Axes are counted from the front.
  return index == 0 && narrow.size() == wide.size() &&
         (node->is(Op::kUnsqueeze) || node->is(Op::kTranspose));
}

bool is_number(const ValueInfo* value, std::int64_t number) {
  if (value == nullptr || value->constant == nullptr) return false;
  const auto ints = value->constant->ints();
  return ints && ints->size() == 1 && ints->front() == number;
}

// A counter is never less than 0.
bool always_holds(const ValueInfo* condition) {
  const Node* node = condition->producer;
  if (node == nullptr || condition->is_disputed) return false;
  if (node->is(Op::kGreaterOrEqual))
    return is_number(node->input(1), 0) && iota_of(node->input(0)).has_value();
  if (node->is(Op::kLessOrEqual))
    return is_number(node->input(0), 0) && iota_of(node->input(1)).has_value();
  return false;
}

// Only leading axes of size 1 are put in.
bool adds_leading_axes(const Shape& from, const Shape& to) {
  if (from.size() >= to.size()) return false;
  const std::size_t added = to.size() - from.size();
  return std::all_of(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(added),
                     [](symbolic::Expr dim) { return dim.is(1); }) &&
         std::equal(from.begin(), from.end(), to.begin() + static_cast<std::ptrdiff_t>(added));
}

// The axes that an Unsqueeze puts in, in order.
std::vector<std::int64_t> axes_put_in(const Node* unsqueeze) {
  auto axes = constant_ints(unsqueeze->input(1));
  if (!axes) return {};
  for (std::int64_t& axis : *axes)
    if (axis < 0) axis += static_cast<std::int64_t>(unsqueeze->output()->shape.size());
  std::ranges::sort(*axes);
  return *axes;
}

// What another Unsqueeze makes of the same value, which puts in the same axes but for leading ones;
// null where there is none. It is computed before the node from then on.
ValueInfo* without_leading_axes(Node* unsqueeze) {
  std::vector<std::int64_t> axes = axes_put_in(unsqueeze);
  std::size_t leading = 0;
  while (leading < axes.size() && axes[leading] == static_cast<std::int64_t>(leading)) ++leading;
  if (leading == 0 || leading == axes.size()) return nullptr;
  axes.erase(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(leading));
  for (std::int64_t& axis : axes) axis -= static_cast<std::int64_t>(leading);
  for (const onnx::Use& use : unsqueeze->input(0)->uses) {
    Node* const other = use.node;
    if (!other->is(Op::kUnsqueeze) || use.index != 0 || other->graph != unsqueeze->graph ||
        !has_known_shape(other->output()) || axes_put_in(other) != axes)
      continue;
    if (!onnx::precedes(other, unsqueeze)) onnx::move_before(unsqueeze, other);
    return other->output();
  }
  return nullptr;
}

class Narrowing {
 public:
  Narrowing(onnx::Model& model, std::int64_t opset) : model_(model), opset_(opset) {}

  // Whether everything that reads `wide` has come to read `narrow` instead.
  bool run(ValueInfo* wide, ValueInfo* narrow) {
    if (!has_known_shape(wide) || !has_known_shape(narrow) || narrow->dtype != wide->dtype ||
        wide->is_complex ||
        !(std::ranges::equal(narrow->shape, wide->shape) ||
          is_narrower(narrow->shape, wide->shape)))
      return false;
    if (!stand_in(wide, narrow)) return false;
    for (std::size_t count = 0; !waiting_.empty(); ++count) {
      const auto first = std::ranges::min_element(waiting_, onnx::precedes);
      Node* const node = *first;
      waiting_.erase(first);
      if (count == kMaxNodes || !try_reader(node)) return false;
    }
    commit(wide, narrow);
    return true;
  }

 private:
  // All readers of `wide` are to be tried with `narrow`.
  bool stand_in(const ValueInfo* wide, const ValueInfo* narrow) {
    if (!wide->returns.empty() || wide->uses.empty() || wide->graph == nullptr) return false;
    narrow_[wide] = narrow;
    for (const onnx::Use& use : wide->uses) {
      if (use.node->graph != wide->producer->graph) return false;
      if (std::ranges::find(waiting_, use.node) == waiting_.end()) waiting_.push_back(use.node);
    }
    return true;
  }

  bool try_reader(const Node* node) {
    Node trial;
    onnx::set_operator(&trial, node->op_type, node->domain);
    trial.attributes = node->attributes;
    for (std::size_t i = 0; i < node->inputs.size(); ++i) {
      const auto found = narrow_.find(node->inputs[i]);
      if (found == narrow_.end()) {
        trial.inputs.push_back(node->inputs[i]);
        continue;
      }
      if (!broadcasts(node, i, found->second->shape, node->inputs[i]->shape)) return false;
      trial.inputs.push_back(const_cast<ValueInfo*>(found->second));
    }
    const ValueInfo* const before = node->output();
    if (node->outputs.size() != 1 || !has_known_shape(before)) return false;
    ValueInfo& after = *made_.emplace_back(std::make_unique<ValueInfo>());
    trial.outputs = {&after};
    try {
      onnx::infer(&trial, *model_.pool, opset_);
    } catch (const base::Error&) {
      return false;
    }
    if (!has_known_shape(&after) || after.dtype != before->dtype) return false;
    if (std::ranges::equal(after.shape, before->shape)) return true;
    return is_narrower(after.shape, before->shape) && stand_in(before, &after);
  }

  void commit(ValueInfo* wide, ValueInfo* narrow) {
    Node* const maker = wide->producer;
    onnx::replace_all_uses(wide, narrow);
    narrow_.erase(wide);
    for (const auto& [value, type] : narrow_) {
      auto* const made = const_cast<ValueInfo*>(value);
      made->shape = type->shape;
      made->contents = type->contents;
      model_.rename(made, made->name + "_narrow");
    }
    erase_unused(maker);
  }

  onnx::Model& model_;
  std::int64_t opset_;
  std::map<const ValueInfo*, const ValueInfo*> narrow_;  // what is read instead, or its type
  std::vector<std::unique_ptr<ValueInfo>> made_;
  std::vector<Node*> waiting_;
};

// A number that is the element of all that ConstantOfShape makes.
ValueInfo* element_of(const Node* node, onnx::Model& model) {
  const auto element = filling_of(node);
  const auto number = element == nullptr ? std::nullopt : onnx::with_dims(*element, {});
  return number ? model.add_constant(*number) : nullptr;
}

// What could be read in place of the node's output; null where nothing could.
ValueInfo* narrower(Node* node, onnx::Model& model) {
  ValueInfo* const x = node->input(0);
  const ValueInfo* const y = node->output();
  if (y == nullptr || x == nullptr || !node->domain.empty()) return nullptr;
  if (node->is(Op::kExpand)) return x;
  if (!has_known_shape(x) || !has_known_shape(y)) return nullptr;
  if (node->is(Op::kConstantOfShape)) return element_of(node, model);
  if ((node->is(Op::kUnsqueeze) || node->is(Op::kReshape)) && adds_leading_axes(x->shape, y->shape))
    return x;
  if (node->is(Op::kUnsqueeze)) return without_leading_axes(node);
  // Where a size stays as it is, it is repeated once, or nothing.
  if (node->is(Op::kTile)) return x;
  if (node->is(Op::kAnd)) {
    if (always_holds(x)) return node->input(1);
    if (always_holds(node->input(1))) return x;
  }
  return nullptr;
}

std::int64_t narrow_in(onnx::Model& model, onnx::Graph* graph) {
  const std::int64_t opset = onnx::opset_of(graph);
  std::int64_t count = 0;
  for (Node* node = graph->first; node != nullptr;) {
    Node* const next = node->next;
    for (onnx::Graph* body : onnx::bodies(node)) count += narrow_in(model, body);
    ValueInfo* const narrow = narrower(node, model);
    if (narrow != nullptr && Narrowing(model, opset).run(node->output(), narrow)) ++count;
    node = next;
  }
  return count;
}

}  // namespace

std::int64_t sink_broadcast(RuleContext& context) {
  std::int64_t count = 0, last = 0;
  // Each node that goes may have been what kept another.
  while ((last = narrow_in(context.model(), context.model().graph)) > 0) count += last;
  return count;
}

}  // namespace sardonyx::passes
