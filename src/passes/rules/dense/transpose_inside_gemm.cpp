// Before: y = Gemm(Transpose<perm = [1, 0]>(a), b, c)
// After:  y = Gemm<transA = 1>(a, b, c)
// So, too, for the second factor. A weight that is transposed is turned itself
// (`transpose-weights`).
#include <cstddef>
#include <cstdint>
#include <vector>

#include "passes/rules/dense/rules.h"
#include "passes/transposition/transpose_sinking.h"
#include "rewriting/patch.h"
#include "rewriting/rewrite.h"

namespace sardonyx::passes {
namespace {

using onnx::Node;
using onnx::Op;

bool turn(Node* gemm, RuleContext& context) {
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    const Node* transpose = made_by(gemm->input(side), Op::kTranspose);
    if (perm_of(transpose) != Perm{1, 0} || !used_once(transpose->output()) ||
        transpose->input(0)->constant != nullptr)
      continue;
    const char* const name = side == 0 ? "transA" : "transB";
    Patch patch(context, gemm);
    patch.set_input(gemm, side, transpose->input(0));
    patch.set_attribute(gemm, name, std::int64_t{gemm->int_or(name, 0) != 0 ? 0 : 1});
    return patch.apply();
  }
  return false;
}

constexpr Op kRoots[] = {Op::kGemm};

}  // namespace

const Rule kTransposeInsideGemm = {"transpose-inside-gemm", kRoots, turn, 7};

}  // namespace sardonyx::passes
