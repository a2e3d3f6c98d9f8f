// Fourier transforms and window functions.
#include "onnx/infer/inference.h"

namespace sardonyx::onnx {
namespace {

// The input is [..., 1 or 2]; the axis is an attribute before opset 20 and an input since, counted
// with the last dim.
void dft(Inference& node) {
  if (!node.has_rank(0, 2)) return;
  const auto given = node.has(2) ? node.ints(2) : std::vector<std::int64_t>{};
  const std::int64_t otherwise = node.opset() < 20 ? 1 : -2;
  if (!given) return node.set_rank(0, node.rank(0));
  const std::size_t axis =
      node.axis(given->empty() ? node.integer("axis", otherwise) : given->front(), node.rank(0));
  const bool inverse = node.integer("inverse", 0) != 0,
             one_sided = node.integer("onesided", 0) != 0;
  Shape out = node.shape(0);
  if (node.has(1)) {
    const auto length = node.contents(1);
    out[axis] = length && length->size() == 1 ? length->front() : Expr();
  }
  if (one_sided && !inverse) out[axis] = symbolic::floor_div(out[axis], 2) + 1;
  if (one_sided && inverse && !node.has(1)) out[axis] = (out[axis] - 1) * 2;
  out.back() = one_sided && inverse ? 1 : 2;
  node.set_shape(0, std::move(out));
}

// Inputs: signal [batch, length, 1 or 2], frame_step, window, frame_length.
void stft(Inference& node) {
  if (!node.has_rank(0, 2)) return;
  const auto step = node.contents(1);
  Expr frame;
  if (node.has(3)) {
    const auto length = node.contents(3);
    if (length && length->size() == 1) frame = length->front();
  } else if (node.has_rank(2, 1)) {
    frame = node.shape(2)[0];
  }
  Expr frames;
  if (step && step->size() == 1)
    frames = symbolic::floor_div(node.shape(0)[1] - frame, step->front()) + 1;
  const bool one_sided = node.integer("onesided", 1) != 0;
  const Expr bins = one_sided ? symbolic::floor_div(frame, 2) + 1 : frame;
  node.set_shape(0, {node.shape(0)[0], frames, bins, 2});
}

void window(Inference& node) {
  node.set_dtype(0, static_cast<DType>(node.integer("output_datatype", 1)));
  node.set_rank(0, 1);
  const auto size = node.contents(0);
  if (size && size->size() == 1) node.set_shape(0, {size->front()});
}

void mel_weights(Inference& node) {
  node.set_dtype(0, static_cast<DType>(node.integer("output_datatype", 1)));
  node.set_rank(0, 2);
  const auto bins = node.contents(0), length = node.contents(1);
  if (bins && length && bins->size() == 1 && length->size() == 1)
    node.set_shape(0, {symbolic::floor_div(length->front(), 2) + 1, bins->front()});
}

constexpr InferenceRule kRules[] = {
    {Op::kDFT, dft},
    {Op::kSTFT, stft},
    {Op::kBlackmanWindow, window},
    {Op::kHammingWindow, window},
    {Op::kHannWindow, window},
    {Op::kMelWeightMatrix, mel_weights},
};

}  // namespace

std::span<const InferenceRule> signal_rules() { return kRules; }

}  // namespace sardonyx::onnx
