// Sums that are normalized: what a layer gives, added to what it was given.
#include <algorithm>

#include "rewriting/rewrite.h"
#include "targets/lowering.h"
#include "targets/onnxruntime/tables.h"

namespace sardonyx::targets {
namespace {

// A bias stays with the product before it, which takes it in.
bool is_addend(const Value value) {
  return value && !value.is_constant() && value.has_rank() && value.rank() > 1;
}

bool is_normalized(const Use& use) {
  if (use.node == nullptr || use.onnx.says_alike() || !is_addend(use.input(0)) ||
      !is_addend(use.input(1)))
    return false;
  return std::ranges::any_of(use.node->output()->uses, [](const onnx::Use& read) {
    return read.index == 0 && read.node->is(Op::kLayerNormalization);
  });
}

// The addends, with those of a sum that only this one reads: of a bias, most often.
std::optional<Values> as_sum(const Use& use, const Rule&) {
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    const onnx::Node* inner = use.input(side)->producer;
    if (inner == nullptr || !inner->is(Op::kAdd) || !rewriting::used_once(use.node->input(side)))
      continue;
    return Values{use.onnx.sum({inner->input(0), inner->input(1), use.input(1 - side)})};
  }
  return Values{use.onnx.sum({use.input(0), use.input(1)})};
}

constexpr Rule kRows[] = {
    {.name = "normalized-sum",
     .op = Op::kAdd,
     .reason = Reason::kSlow,
     .types = onnx::dtype_bit(base::DType::kFloat32),
     .when = is_normalized,
     .how = as_sum,
     .why = "its optimizer makes Add and LayerNormalization one SkipLayerNormalization, whose "
            "kernel takes 3.9 to 4.6 times as long as the two on 128 and 512 tokens of 768; Sum it "
            "leaves alone",
     .since = "1.31"},
};

}  // namespace

Rules residual_rules() { return kRows; }

}  // namespace sardonyx::targets
