// Discrete Fourier transforms, axis by axis.
#include <cmath>

#include "aten/complex_value.h"
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

// How the transform of one axis is scaled: by nothing, by 1/n or by 1/sqrt(n). ONNX's DFT scales
// the inverse by 1/n by itself.
enum class Norm : std::uint8_t { kBackward, kForward, kOrtho };

Norm norm_of(const Call& call) {
  if (!call.has("norm") || call.text("norm") == "backward") return Norm::kBackward;
  if (call.text("norm") == "forward") return Norm::kForward;
  if (call.text("norm") == "ortho") return Norm::kOrtho;
  call.refuse("an FFT with norm " + call.text("norm"));
}

// What the scaled transform still has to be multiplied with.
Value rescaled(Emit& onnx, Value x, Expr length, bool inverse, Norm norm) {
  if (norm == Norm::kBackward) return x;
  const Value n = onnx.cast(onnx.size(length), x.dtype());
  if (norm == Norm::kOrtho) {
    const Value root = onnx.sqrt(n);
    return inverse ? onnx.mul(x, root) : onnx.div(x, root);
  }
  return inverse ? onnx.mul(x, n) : onnx.div(x, n);
}

struct Transform {
  bool inverse;
  Norm norm;
};

// x holds pairs. The axis keeps its length.
Value along(Emit& onnx, Value x, std::int64_t axis, Transform transform) {
  const Expr length = x.dim(axis);
  const Value found =
      onnx.dft(x, {}, onnx.int_scalar(axis), {.inverse = transform.inverse ? 1 : 0});
  return rescaled(onnx, found, length, transform.inverse, transform.norm);
}

Value pairs_of(Emit& onnx, Value x) {
  if (x.is_complex()) return x;
  const Value real = onnx.unsqueeze(x, {-1});
  return onnx.concat({real, onnx.mul(real, onnx.zero(x.dtype()))}, -1);
}

void refuse_resizing(const Call& call, std::string_view name) {
  if (call.has(name)) {
    call.refuse("an FFT that pads or cuts its input", "pad or slice the input before it");
  }
}

Outputs one_axis(const Call& call, Emit& onnx, bool inverse) {
  refuse_resizing(call, "n");
  const Value self = call.tensor("self");
  const Value x = onnx.cast(pairs_of(onnx, self), base::real_of(call.result_dtype()));
  const std::int64_t axis = call.axis("dim", x.rank() - 1);
  return {as_complex(onnx, along(onnx, x, axis, {inverse, norm_of(call)}))};
}

Outputs several_axes(const Call& call, Emit& onnx, bool inverse) {
  refuse_resizing(call, "s");
  const Value self = call.tensor("self");
  Value x = onnx.cast(pairs_of(onnx, self), base::real_of(call.result_dtype()));
  std::vector<std::int64_t> axes = call.axes("dim", x.rank() - 1);
  if (!call.has("dim")) {
    for (std::int64_t axis = 0; axis < x.rank() - 1; ++axis) axes.push_back(axis);
  }
  for (const std::int64_t axis : axes) x = along(onnx, x, axis, {inverse, norm_of(call)});
  return {as_complex(onnx, x)};
}

Outputs fft_fft(const Call& call, Emit& onnx) { return one_axis(call, onnx, false); }
Outputs fft_ifft(const Call& call, Emit& onnx) { return one_axis(call, onnx, true); }
Outputs fft_fftn(const Call& call, Emit& onnx) { return several_axes(call, onnx, false); }
Outputs fft_ifftn(const Call& call, Emit& onnx) { return several_axes(call, onnx, true); }

// Of a real signal the first half says everything.
Outputs fft_rfft(const Call& call, Emit& onnx) {
  const Value whole = one_axis(call, onnx, false).front();
  const std::int64_t axis = call.axis("dim", whole.rank() - 1);
  const Expr kept = symbolic::floor_div(whole.dim(axis), 2) + 1;
  return {as_complex(onnx, onnx.slice(whole, axis, 0, kept))};
}

constexpr Row kRows[] = {
    {"aten::fft_fft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor", 17,
     fft_fft},
    {"aten::fft_fft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> "
     "Tensor",
     17, fft_fftn},
    {"aten::fft_fftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
     17, fft_fftn},
    {"aten::fft_ifft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor", 17,
     fft_ifft},
    {"aten::fft_ifft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> "
     "Tensor",
     17, fft_ifftn},
    {"aten::fft_ifftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
     17, fft_ifftn},
    {"aten::fft_rfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor", 17,
     fft_rfft},
};

}  // namespace

std::span<const Row> complex_spectrum_rows() { return kRows; }

}  // namespace sardonyx::aten
