// RNN, GRU and LSTM: x [sequence, batch, input], or batch first with layout 1.
#include "onnx/infer/inference.h"

namespace sardonyx::onnx {
namespace {

void recurrent(Inference& node) {
  if (!node.has_rank(0)) return;
  if (node.rank(0) != 3) node.fail("the rank of the data is not 3");
  const Shape& x = node.shape(0);
  const bool batch_first = node.integer("layout", 0) != 0;
  const Expr sequence = x[batch_first ? 1 : 0], batch = x[batch_first ? 0 : 1];
  const Expr directions = node.node().string_or("direction", "forward") == "bidirectional" ? 2 : 1;
  Expr hidden;
  if (node.node().find("hidden_size") != nullptr)
    hidden = node.integer("hidden_size", 0);
  else if (node.has_rank(2, 1))
    hidden = node.shape(2).back();
  const Shape state =
      batch_first ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden};
  node.set_shape(0, batch_first ? Shape{batch, sequence, directions, hidden}
                                : Shape{sequence, directions, batch, hidden});
  node.set_shape(1, state);
  node.set_shape(2, state);
}

constexpr InferenceRule kRules[] = {
    {Op::kRNN, recurrent},
    {Op::kGRU, recurrent},
    {Op::kLSTM, recurrent},
};

}  // namespace

std::span<const InferenceRule> recurrent_rules() { return kRules; }

}  // namespace sardonyx::onnx
