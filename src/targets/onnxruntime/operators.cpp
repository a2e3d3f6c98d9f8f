#include "targets/onnxruntime/operators.h"

#include "targets/gen/microsoft.h"

namespace sardonyx::targets::microsoft {
namespace {

constexpr std::string_view kDomain = "com.microsoft";

void like_first(onnx::Inference& node) { node.same_as(0, 0); }

// [batch, length, width] by weights of [width, q + k + v], where v is as wide as q and k.
void packed_attention(onnx::Inference& node) {
  if (!node.has_rank(0) || !node.has_rank(1)) return;
  if (node.rank(0) != 3 || node.rank(1) != 2) node.fail("it takes rows of batches and a matrix");
  onnx::Shape shape = node.shape(0);
  const onnx::Expr width = node.shape(1)[1];
  shape[2] = width.is_constant() ? onnx::Expr(width.value() / 3) : onnx::Expr();
  node.set_shape(0, std::move(shape));
}

}  // namespace

const onnx::ForeignOperator kPackedAttention = {kDomain, 1, "Attention", &kAttention,
                                                packed_attention};
const onnx::ForeignOperator kGeluOfSum = {kDomain, 1, "BiasGelu", &kBiasGelu, like_first};
const onnx::ForeignOperator kSwish = {kDomain, 1, "QuickGelu", &kQuickGelu, like_first};

}  // namespace sardonyx::targets::microsoft
