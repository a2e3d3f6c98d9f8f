// The fft family. Its operators take real and complex tensors alike.
#include "aten/complex/math.h"
#include "aten/families.h"
#include "aten/signal/fourier.h"

namespace sardonyx::aten {
namespace {

// "backward" scales the inverse transform, "forward" the other one, "ortho" both by the root.
Scaling scaling_of(const Call& call, bool inverse) {
  const std::string norm = call.has("norm") ? call.text("norm") : "backward";
  if (norm == "ortho") return Scaling::kByRoot;
  return (norm == "forward") == inverse ? Scaling::kNone : Scaling::kByLength;
}

// The input in the result's precision.
Parts signal(const Call& call, Emit& onnx) {
  const DType dtype = base::real_of(call.result_dtype());
  if (base::bit_width(dtype) < 32) {
    call.refuse("a Fourier transform in half precision", "convert the input to float32");
  }
  return each_part(parts_of(onnx, call.tensor("self")),
                   [&](Value part) { return onnx.cast(part, dtype); });
}

Outputs complete(Emit& onnx, const Parts& x) {
  return {joined(onnx, ComplexMath(onnx).complete(x))};
}

// --- one axis

struct Axis {
  std::int64_t axis;
  Expr length;  // of the signal (not of half its spectrum)
};

// `n`, or the length that the input has; `from_half` where the input is half a spectrum.
Axis axis_of(const Call& call, const Parts& x, bool from_half = false) {
  const std::int64_t axis = call.axis("dim", x.real.rank());
  const Expr size = x.real.dim(axis);
  const Expr length = from_half ? (size - 1) * 2 : size;
  return {axis, call.has("n") ? call.size("n") : length};
}

Outputs one_axis(const Call& call, Emit& onnx, bool inverse) {
  const Parts x = signal(call, onnx);
  const Axis at = axis_of(call, x);
  return complete(onnx, fourier(onnx, x, at.axis, {at.length, inverse, scaling_of(call, inverse)}));
}
Outputs fft_fft(const Call& call, Emit& onnx) { return one_axis(call, onnx, false); }
Outputs fft_ifft(const Call& call, Emit& onnx) { return one_axis(call, onnx, true); }

Outputs fft_rfft(const Call& call, Emit& onnx) {
  const Parts x = signal(call, onnx);
  const Axis at = axis_of(call, x);
  return complete(onnx,
                  half_fourier(onnx, x, at.axis, {at.length, false, scaling_of(call, false)}));
}

// The conjugate of rfft, scaled as an inverse.
Outputs fft_ihfft(const Call& call, Emit& onnx) {
  const Parts x = signal(call, onnx);
  const Axis at = axis_of(call, x);
  return complete(onnx, half_fourier(onnx, x, at.axis, {at.length, true, scaling_of(call, true)}));
}

Outputs fft_irfft(const Call& call, Emit& onnx) {
  const Parts x = signal(call, onnx);
  const Axis at = axis_of(call, x, true);
  return {real_from_half(onnx, x, at.axis, {at.length, true, scaling_of(call, true)})};
}

Outputs fft_hfft(const Call& call, Emit& onnx) {
  const Parts x = signal(call, onnx);
  const Axis at = axis_of(call, x, true);
  return {real_from_half(onnx, x, at.axis, {at.length, false, scaling_of(call, false)})};
}

// --- several axes

// `dim` and `s`: all axes without either, the last ones where only `s` is given; -1 keeps a length.
std::vector<Axis> axes_of(const Call& call, const Parts& x, bool from_half = false) {
  const std::int64_t rank = x.real.rank();
  std::vector<Expr> lengths;
  if (call.has("s")) lengths = call.sizes("s");
  std::vector<std::int64_t> axes = call.axes("dim", rank);
  if (!call.has("dim")) {
    const std::int64_t first = call.has("s") ? rank - static_cast<std::int64_t>(lengths.size()) : 0;
    for (std::int64_t axis = first; axis < rank; ++axis) axes.push_back(axis);
  }
  std::vector<Axis> found;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const Expr size = x.real.dim(axes[i]);
    const bool half = from_half && i + 1 == axes.size();
    const bool given = i < lengths.size() && !lengths[i].is(-1);
    found.push_back({axes[i], given ? lengths[i] : half ? (size - 1) * 2 : size});
  }
  return found;
}

Parts over(Emit& onnx, Parts x, std::span<const Axis> axes, bool inverse, Scaling scaling) {
  for (const Axis& at : axes) x = fourier(onnx, x, at.axis, {at.length, inverse, scaling});
  return x;
}

Outputs several_axes(const Call& call, Emit& onnx, bool inverse) {
  const Parts x = signal(call, onnx);
  return complete(onnx, over(onnx, x, axes_of(call, x), inverse, scaling_of(call, inverse)));
}
Outputs fft_fftn(const Call& call, Emit& onnx) { return several_axes(call, onnx, false); }
Outputs fft_ifftn(const Call& call, Emit& onnx) { return several_axes(call, onnx, true); }

// A real signal: the last axis first, half of it; then the others.
Outputs half_of_several(const Call& call, Emit& onnx, bool inverse) {
  const Parts x = signal(call, onnx);
  const std::vector<Axis> axes = axes_of(call, x);
  const Scaling scaling = scaling_of(call, inverse);
  if (axes.empty()) return complete(onnx, x);
  const Parts half =
      half_fourier(onnx, x, axes.back().axis, {axes.back().length, inverse, scaling});
  return complete(onnx, over(onnx, half, std::span(axes).first(axes.size() - 1), inverse, scaling));
}
Outputs fft_rfftn(const Call& call, Emit& onnx) { return half_of_several(call, onnx, false); }
Outputs fft_ihfftn(const Call& call, Emit& onnx) { return half_of_several(call, onnx, true); }

Outputs real_of_several(const Call& call, Emit& onnx, bool inverse) {
  const Parts x = signal(call, onnx);
  const std::vector<Axis> axes = axes_of(call, x, true);
  const Scaling scaling = scaling_of(call, inverse);
  if (axes.empty()) return {x.real};
  const Parts others = over(onnx, x, std::span(axes).first(axes.size() - 1), inverse, scaling);
  return {real_from_half(onnx, others, axes.back().axis, {axes.back().length, inverse, scaling})};
}
Outputs fft_irfftn(const Call& call, Emit& onnx) { return real_of_several(call, onnx, true); }
Outputs fft_hfftn(const Call& call, Emit& onnx) { return real_of_several(call, onnx, false); }

// --- what the others become when they are decomposed

Scaling numbered_scaling(const Call& call) {
  return static_cast<Scaling>(call.integer("normalization"));
}

std::vector<Axis> whole_axes(const Call& call, const Parts& x) {
  std::vector<Axis> axes;
  for (const std::int64_t axis : call.axes("dim", x.real.rank())) {
    axes.push_back({axis, x.real.dim(axis)});
  }
  return axes;
}

Outputs _fft_c2c(const Call& call, Emit& onnx) {
  const Parts x = signal(call, onnx);
  return complete(
      onnx, over(onnx, x, whole_axes(call, x), !call.flag("forward"), numbered_scaling(call)));
}

Outputs _fft_r2c(const Call& call, Emit& onnx) {
  const Parts x = signal(call, onnx);
  const Scaling scaling = numbered_scaling(call);
  const std::vector<Axis> axes = whole_axes(call, x);
  if (!call.flag("onesided")) return complete(onnx, over(onnx, x, axes, false, scaling));
  const Parts half = half_fourier(onnx, x, axes.back().axis, {axes.back().length, false, scaling});
  return complete(onnx, over(onnx, half, std::span(axes).first(axes.size() - 1), false, scaling));
}

Outputs _fft_c2r(const Call& call, Emit& onnx) {
  const Parts x = signal(call, onnx);
  const Scaling scaling = numbered_scaling(call);
  const std::vector<Axis> axes = whole_axes(call, x);
  const Parts others = over(onnx, x, std::span(axes).first(axes.size() - 1), true, scaling);
  return {
      real_from_half(onnx, others, axes.back().axis, {call.size("last_dim_size"), true, scaling})};
}

// --- where frequencies stand

// Elements moved round: those from `start` on come first.
Value turned(Emit& onnx, Value x, std::int64_t axis, Expr start) {
  if (start.is(0)) return x;
  return onnx.concat({onnx.slice(x, axis, start, x.dim(axis)), onnx.slice(x, axis, 0, start)},
                     axis);
}

Outputs shift(const Call& call, Emit& onnx, bool back) {
  Parts x = parts_of(onnx, call.tensor("self"));
  std::vector<std::int64_t> axes = call.axes("dim", x.real.rank());
  if (!call.has("dim")) {
    for (std::int64_t axis = 0; axis < x.real.rank(); ++axis) axes.push_back(axis);
  }
  for (const std::int64_t axis : axes) {
    const Expr size = x.real.dim(axis);
    const Expr start = symbolic::floor_div(back ? size : size + 1, 2);
    x = each_part(x, [&](Value part) { return turned(onnx, part, axis, start); });
  }
  return {joined(onnx, x)};
}
Outputs fft_fftshift(const Call& call, Emit& onnx) { return shift(call, onnx, false); }
Outputs fft_ifftshift(const Call& call, Emit& onnx) { return shift(call, onnx, true); }

// 0, 1, ..., then the negative ones, over n * d.
Outputs frequencies(const Call& call, Emit& onnx, bool negative) {
  const DType dtype = base::real_of(call.result_dtype());
  const Expr n = call.size("n"), count = call.result_shape().front();
  const auto counted = [&](Expr start, Expr end) {
    return onnx.range(onnx.size(start), onnx.size(end), onnx.int_scalar(1));
  };
  const Expr half = symbolic::floor_div(n, 2);
  const Value steps =
      negative ? onnx.concat({counted(0, n - half), counted(-half, 0)}, 0) : counted(0, count);
  const Value width = onnx.mul(onnx.cast(onnx.size(n), DType::kFloat64),
                               onnx.scalar(call.number("d"), DType::kFloat64));
  return {onnx.cast(onnx.div(onnx.cast(steps, DType::kFloat64), width), dtype)};
}
Outputs fft_fftfreq(const Call& call, Emit& onnx) { return frequencies(call, onnx, true); }
Outputs fft_rfftfreq(const Call& call, Emit& onnx) { return frequencies(call, onnx, false); }

constexpr Row kRows[] = {
    {"aten::_fft_c2c(Tensor self, SymInt[] dim, int normalization, bool forward) -> Tensor",
     _fft_c2c},
    {"aten::_fft_c2r(Tensor self, int[] dim, int normalization, SymInt last_dim_size) -> Tensor",
     _fft_c2r},
    {"aten::_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor",
     _fft_r2c},
    {"aten::fft_fft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor", fft_fft},
    {"aten::fft_fft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> "
     "Tensor",
     fft_fftn},
    {"aten::fft_fftfreq(int n, float d=1., *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None) -> Tensor",
     fft_fftfreq},
    {"aten::fft_fftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
     fft_fftn},
    {"aten::fft_fftshift(Tensor self, int[1]? dim=None) -> Tensor", fft_fftshift},
    {"aten::fft_hfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor", fft_hfft},
    {"aten::fft_hfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> "
     "Tensor",
     fft_hfftn},
    {"aten::fft_hfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
     fft_hfftn},
    {"aten::fft_ifft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor", fft_ifft},
    {"aten::fft_ifft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> "
     "Tensor",
     fft_ifftn},
    {"aten::fft_ifftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
     fft_ifftn},
    {"aten::fft_ifftshift(Tensor self, int[1]? dim=None) -> Tensor", fft_ifftshift},
    {"aten::fft_ihfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
     fft_ihfft},
    {"aten::fft_ihfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> "
     "Tensor",
     fft_ihfftn},
    {"aten::fft_ihfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
     fft_ihfftn},
    {"aten::fft_irfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
     fft_irfft},
    {"aten::fft_irfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> "
     "Tensor",
     fft_irfftn},
    {"aten::fft_irfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
     fft_irfftn},
    {"aten::fft_rfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor", fft_rfft},
    {"aten::fft_rfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> "
     "Tensor",
     fft_rfftn},
    {"aten::fft_rfftfreq(int n, float d=1., *, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None) -> Tensor",
     fft_rfftfreq},
    {"aten::fft_rfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
     fft_rfftn},
};

}  // namespace

std::span<const Row> spectrum_rows() { return kRows; }

}  // namespace sardonyx::aten
