// Before: y = Reshape(ScatterElements(ConstantOfShape([r * c]), i, updates), [r, c])
// After:  y = ScatterND(ConstantOfShape([r, c]), j, updates) with j[k] = [i[k] / c, i[k] % c]
// Tables with few elements other than 0 are kept so in files that are to be small.
#include <functional>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "passes/constant_ints.h"
#include "passes/rules/indexing/rules.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Attribute;
using onnx::Node;
using onnx::Op;
using onnx::Tensor;
using onnx::ValueInfo;

using Sizes = std::vector<std::int64_t>;

// Where all are known.
std::optional<Sizes> known_sizes(const ValueInfo* value) {
  if (!value->has_rank) return std::nullopt;
  Sizes sizes;
  for (const auto& size : value->shape) {
    const auto known = size.constant();
    if (!known) return std::nullopt;
    sizes.push_back(*known);
  }
  return sizes;
}

// Places in a tensor of these sizes, of places in one row of as many elements.
std::optional<std::vector<std::int64_t>> places_in(const Sizes& sizes,
                                                   const std::vector<std::int64_t>& in_row) {
  const std::int64_t count =
      std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
  const std::size_t rank = sizes.size();
  std::vector<std::int64_t> places(in_row.size() * rank);
  for (std::size_t i = 0; i < in_row.size(); ++i) {
    std::int64_t left = in_row[i] < 0 ? in_row[i] + count : in_row[i];
    if (left < 0 || left >= count) return std::nullopt;
    for (std::size_t axis = rank; axis-- > 0;) {
      places[i * rank + axis] = left % sizes[axis];
      left /= sizes[axis];
    }
  }
  return places;
}

bool scatter(Node* reshape, RuleContext& context) {
  const ValueInfo* row = reshape->input(0);
  const Node* scatter = made_by(row, Op::kScatterElements);
  if (scatter == nullptr || scatter->string_or("reduction", "none") != "none") return false;
  const Node* filled = made_by(scatter->input(0), Op::kConstantOfShape);
  const auto in_row = constant_ints(scatter->input(1));
  const auto sizes = known_sizes(reshape->output());
  if (filled == nullptr || !in_row || !sizes || !row->has_rank || row->shape.size() != 1)
    return false;
  if (!used_once(row)) return context.decline(reshape, "the table is read in its other shape, too");
  const auto places = places_in(*sizes, *in_row);
  if (!places) return false;
  Patch patch(context, reshape);
  const std::string& name = reshape->output()->name;
  std::vector<Attribute> filling;
  if (const Attribute* value = filled->find("value")) filling.push_back(*value);
  ValueInfo* const whole = patch.node(Op::kConstantOfShape, {patch.ints(*sizes)},
                                      std::move(filling), name + "_ConstantOfShape");
  const Sizes of_places = {static_cast<std::int64_t>(in_row->size()),
                           static_cast<std::int64_t>(sizes->size())};
  ValueInfo* const indices = patch.constant(Tensor::of_ints(*places, of_places));
  patch.replace(reshape->output(),
                patch.node(Op::kScatterND, {whole, indices, scatter->input(2)}, {}, name));
  return patch.apply();
}

constexpr Op kRoots[] = {Op::kReshape};

}  // namespace

const Rule kScatterIntoShape = {"scatter-into-shape", kRoots, scatter, 11};

}  // namespace sardonyx::passes
