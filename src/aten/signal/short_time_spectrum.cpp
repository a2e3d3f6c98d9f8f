// Spectra of short stretches of a signal, and the signal back from them.
#include "aten/complex/math.h"
#include "aten/families.h"
#include "aten/signal/fourier.h"

namespace sardonyx::aten {
namespace {

struct Framing {
  std::int64_t length;  // of a frame and of its transform
  std::int64_t hop;
  Parts window;  // of that length; absent: all ones
};

Value padded_on_last(Emit& onnx, Value x, Expr before, Expr after,
                     std::optional<std::string_view> mode = {}) {
  if (before.is(0) && after.is(0)) return x;
  std::vector<Expr> pads(2 * static_cast<std::size_t>(x.rank()), Expr(0));
  pads[pads.size() / 2 - 1] = before;
  pads.back() = after;
  return onnx.pad(x, onnx.sizes(pads), {}, {}, {.mode = mode});
}

// A window shorter than a frame stands in its middle.
Framing framing_of(const Call& call, Emit& onnx, DType dtype) {
  const std::int64_t length = call.integer("n_fft");
  const std::int64_t hop = call.optional_integer("hop_length").value_or(length / 4);
  const std::int64_t width = call.optional_integer("win_length").value_or(length);
  Parts window;
  if (call.has("window")) {
    window = each_part(parts_of(onnx, call.tensor("window")),
                       [&](Value part) { return onnx.cast(part, dtype); });
  } else if (width != length) {
    window = {onnx.full(Shape{width}, onnx.one(dtype)), {}};
  }
  if (window.real && width != length) {
    const std::int64_t before = (length - width) / 2;
    window = each_part(window, [&](Value part) {
      return padded_on_last(onnx, part, before, length - width - before);
    });
  }
  return {length, hop, window};
}

// [..., time] -> [..., frames, length]
Value frames_of(Emit& onnx, Value x, const Framing& framing) {
  const Expr count = symbolic::floor_div(x.dim(-1) - framing.length, framing.hop) + 1;
  const Value starts = onnx.mul(onnx.range(count), onnx.int_scalar(framing.hop));
  const Value within = onnx.range(framing.length);
  const Value positions = onnx.add(onnx.unsqueeze(starts, {1}), onnx.unsqueeze(within, {0}));
  return onnx.gather(x, positions, {.axis = x.rank() - 1});
}

Value centered(const Call& call, Emit& onnx, Value x, std::int64_t length) {
  if (!call.captured().schema->find("center") || !call.flag("center")) return x;
  const std::string mode = call.text("pad_mode");
  if (mode != "reflect" && mode != "constant" && mode != "replicate") {
    call.refuse("stft with padding mode " + mode, "pad the signal before it");
  }
  const std::string_view name = mode == "reflect"     ? "reflect"
                                : mode == "replicate" ? "edge"
                                                      : "constant";
  return padded_on_last(onnx, x, length / 2, length / 2, name);
}

// The result as the call wants it: complex, or pairs.
Value returned(const Call& call, Emit& onnx, const Parts& x) {
  if (base::is_complex(call.result_dtype())) return joined(onnx, x);
  return onnx.concat({onnx.unsqueeze(x.real, {-1}), onnx.unsqueeze(x.imaginary, {-1})}, -1);
}

Outputs stft(const Call& call, Emit& onnx) {
  if (call.has("align_to_window") && call.flag("align_to_window")) {
    call.refuse("stft with align_to_window");
  }
  const ComplexMath math(onnx);
  const DType dtype = base::real_of(call.result_dtype());
  const Framing framing = framing_of(call, onnx, dtype);
  Parts frames = each_part(parts_of(onnx, call.tensor("self")), [&](Value part) {
    return frames_of(onnx, centered(call, onnx, part, framing.length), framing);
  });
  if (framing.window.real) frames = math.mul(frames, framing.window);
  const bool half = call.optional_flag("onesided").value_or(!frames.is_complex());
  const Transform transform{framing.length, false,
                            call.flag("normalized") ? Scaling::kByRoot : Scaling::kNone};
  const std::int64_t axis = frames.real.rank() - 1;
  const Parts found =
      half ? half_fourier(onnx, frames, axis, transform) : fourier(onnx, frames, axis, transform);
  const Parts turned =
      each_part(math.complete(found), [&](Value part) { return onnx.swap_axes(part, -1, -2); });
  return {returned(call, onnx, turned)};
}

// --- back

// [..., frames, length] -> [..., time]: every frame in its place, summed where they overlap. The
// frames are cut into pieces of a hop; piece i of all of them is a signal that starts i hops late.
Value overlapped(Emit& onnx, Value frames, const Framing& framing) {
  const std::int64_t pieces = (framing.length + framing.hop - 1) / framing.hop;
  const std::int64_t rank = frames.rank();
  const Value whole = padded_on_last(onnx, frames, 0, pieces * framing.hop - framing.length);
  Value sum;
  for (std::int64_t i = 0; i < pieces; ++i) {
    const Value piece = onnx.slice(whole, -1, i * framing.hop, (i + 1) * framing.hop);
    std::vector<Expr> pads(2 * static_cast<std::size_t>(rank), Expr(0));
    pads[static_cast<std::size_t>(rank) - 2] = i;
    pads[2 * static_cast<std::size_t>(rank) - 2] = pieces - 1 - i;
    const Value late = onnx.pad(piece, onnx.sizes(pads));
    sum = sum ? onnx.add(sum, late) : late;
  }
  const Expr count = frames.dim(-2);
  Shape shape(frames.shape().begin(), frames.shape().end() - 2);
  shape.push_back((count + (pieces - 1)) * framing.hop);
  const Value flat = onnx.reshape(sum, shape);
  return onnx.slice(flat, -1, 0, (count - 1) * framing.hop + framing.length);
}

// Squares of the window, summed as the frames are; the complex square where it is complex.
Parts envelope(Emit& onnx, const Framing& framing, Expr count, DType dtype) {
  const ComplexMath math(onnx);
  const Shape shape{count, framing.length};
  const Parts window = framing.window.real ? framing.window : Parts{onnx.one(dtype), {}};
  return each_part(math.square(window),
                   [&](Value part) { return overlapped(onnx, onnx.expand(part, shape), framing); });
}

Outputs istft(const Call& call, Emit& onnx) {
  const ComplexMath math(onnx);
  const DType dtype = base::real_of(call.result_dtype());
  const Framing framing = framing_of(call, onnx, dtype);
  const Parts x = each_part(parts_of(onnx, call.tensor("self")),
                            [&](Value part) { return onnx.swap_axes(part, -1, -2); });
  const Transform transform{framing.length, true,
                            call.flag("normalized") ? Scaling::kByRoot : Scaling::kByLength};
  const std::int64_t axis = x.real.rank() - 1;
  Parts frames = call.flag("return_complex") ? fourier(onnx, x, axis, transform)
                                             : Parts{real_from_half(onnx, x, axis, transform), {}};
  if (framing.window.real) frames = math.mul(frames, framing.window);
  const Expr count = x.real.dim(-2);
  const Parts sum = each_part(frames, [&](Value part) { return overlapped(onnx, part, framing); });
  const Parts whole = math.div(sum, envelope(onnx, framing, count, dtype));

  const Expr available = (count - 1) * framing.hop + framing.length;
  const Expr start = call.flag("center") ? framing.length / 2 : 0;
  const Expr wanted = call.result_shape().back();
  const Expr missing = symbolic::max(start + wanted - available, 0);
  return {joined(onnx, each_part(whole, [&](Value part) {
                   const Value cut = onnx.slice(part, -1, start, start + wanted);
                   return padded_on_last(onnx, cut, 0, missing);
                 }))};
}

constexpr Row kRows[] = {
    {"aten::istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? "
     "window=None, bool center=True, bool normalized=False, bool? onesided=None, int? length=None, "
     "bool return_complex=False) -> Tensor",
     istft},
    {"aten::stft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? "
     "window=None, bool normalized=False, bool? onesided=None, bool? return_complex=None, bool? "
     "align_to_window=None) -> Tensor",
     stft},
    {"aten::stft.center(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, "
     "Tensor? window=None, bool center=True, str pad_mode=\"reflect\", bool normalized=False, "
     "bool? onesided=None, bool? return_complex=None, bool? align_to_window=None) -> Tensor",
     stft},
};

}  // namespace

std::span<const Row> short_time_spectrum_rows() { return kRows; }

}  // namespace sardonyx::aten
