// Before: a, b = Split<axis = 2>(x); y = Transpose<perm = [1, 0, 2]>(a)
//         z = Transpose<perm = [1, 0, 2]>(b)
// After:  y, z = Split<axis = 2>(Transpose<perm = [1, 0, 2]>(x))
// Parts that are all transposed alike are transposed as one. Behind lowering: for other rules each
// part stands for itself.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "passes/rules/indexing/rules.h"
#include "passes/transposition/transpose_sinking.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;
using onnx::ValueInfo;

// The transposition that alone reads each of them; nothing where there is none such.
std::optional<Perm> shared_perm(const std::vector<ValueInfo*>& parts, std::vector<Node*>& readers) {
  std::optional<Perm> shared;
  for (const ValueInfo* part : parts) {
    if (part == nullptr || !used_once(part)) return std::nullopt;
    Node* const reader = part->uses.front().node;
    const auto perm = perm_of(reader);
    if (!perm || (shared && *shared != *perm) || reader->graph != part->producer->graph)
      return std::nullopt;
    shared = perm;
    readers.push_back(reader);
  }
  return shared;
}

bool transpose_first(Node* split, RuleContext& context) {
  std::vector<Node*> readers;
  if (split->outputs.size() < 2) return false;
  const auto perm = shared_perm(split->outputs, readers);
  ValueInfo* const x = split->input(0);
  if (!perm || !x->has_rank || x->shape.size() != perm->size()) return false;
  const auto rank = static_cast<std::int64_t>(perm->size());
  std::int64_t axis = split->int_or("axis", 0);
  if (axis < 0) axis += rank;
  const auto at = std::ranges::find(*perm, axis);
  if (at == perm->end()) return false;
  Patch patch(context, split);
  std::vector<ValueInfo*> inputs = split->inputs;
  inputs[0] = patch.node(Op::kTranspose, {x}, {{"perm", *perm, {}}}, x->name + "_turned");
  std::vector<onnx::Attribute> attributes = split->attributes;
  std::erase_if(attributes, [](const onnx::Attribute& each) { return each.name == "axis"; });
  attributes.push_back({"axis", static_cast<std::int64_t>(at - perm->begin()), {}});
  const std::vector<ValueInfo*> made = patch.nodes(Op::kSplit, inputs, std::move(attributes),
                                                   readers.front()->output()->name, readers.size());
  for (std::size_t i = 0; i < made.size(); ++i) patch.replace(readers[i]->output(), made[i]);
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kSplit};

}  // namespace

const Rule kTransposeBeforeSplit = {"transpose-before-split", kRoots, transpose_first, 13};

}  // namespace sardonyx::passes
