// The discrete Fourier transform as products with matrices of cosines and sines.
#include "onnx/definitions/fourier.h"

#include <numbers>
#include <numeric>

#include "onnx/definitions/computed_axes.h"
#include "onnx/definitions/signal.h"
#include "onnx/emit/emit_state.h"

namespace sardonyx::onnx {
namespace {

// How many elements go in and come out, int64, 0-d, where `length` is that of the whole signal.
struct Lengths {
  Value length, inputs, outputs;
};

Lengths lengths_of(const Composite& call, std::int64_t axis) {
  Emit& onnx = call.onnx;
  const bool onesided = call.integer("onesided", 0) != 0;
  const bool inverse = call.integer("inverse", 0) != 0;
  const Value one = onnx.int_scalar(1), two = onnx.int_scalar(2);
  const auto half = [&](Value n) { return onnx.add(onnx.div(n, two), one); };
  Value length;
  if (call.input(1)) {
    length = onnx.cast(onnx.reshape(call.input(1), Shape{}), DType::kInt64);
  } else {
    length = onnx.reshape(onnx.dim_of(call.input(0), axis), Shape{});
    if (onesided && inverse) length = onnx.mul(onnx.sub(length, one), two);
  }
  return {length, onesided && inverse ? half(length) : length,
          onesided && !inverse ? half(length) : length};
}

// Cut, or with zeros after it.
Value with_length(Emit& onnx, Value x, std::int64_t axis, Value length) {
  const Value wanted = onnx.unsqueeze(length, {0}), axes = onnx.ints({axis}), none = onnx.ints({0});
  const Value cut = onnx.Operators::slice(x, none, wanted, axes);
  const Value missing = onnx.sub(wanted, onnx.dim_of(cut, axis));
  return onnx.pad(cut, onnx.concat({none, missing}, 0), onnx.zero(x.dtype()), axes);
}

// 0, 1, ..., count - 1
Value counted(Emit& onnx, Value count) {
  return onnx.Operators::range(onnx.int_scalar(0), count, onnx.int_scalar(1));
}

struct Complex {
  Value real, imaginary;  // absent: zero
};

// The sums over the last axis, with the angles turned to the other side for the inverse.
Complex transformed(const Composite& call, const Complex& x, const Lengths& lengths) {
  Emit& onnx = call.onnx;
  const bool inverse = call.integer("inverse", 0) != 0;
  const Value angle = fourier_angles(onnx, onnx.unsqueeze(counted(onnx, lengths.inputs), {1}),
                                     onnx.unsqueeze(counted(onnx, lengths.outputs), {0}),
                                     lengths.length, 2 * std::numbers::pi, x.real.dtype());
  const Value cosine = onnx.cos(angle);
  const Value sine = inverse ? onnx.sin(angle) : onnx.neg(onnx.sin(angle));
  Complex y = {onnx.matmul(x.real, cosine), onnx.matmul(x.real, sine)};
  if (x.imaginary) {
    y.real = onnx.sub(y.real, onnx.matmul(x.imaginary, sine));
    y.imaginary = onnx.add(y.imaginary, onnx.matmul(x.imaginary, cosine));
  }
  if (!inverse) return y;
  const Value count = onnx.cast(lengths.length, x.real.dtype());
  return {onnx.div(y.real, count), onnx.div(y.imaginary, count)};
}

Value along_axis(const Composite& call, std::int64_t axis) {
  Emit& onnx = call.onnx;
  const Value given = call.input(0);
  const Lengths lengths = lengths_of(call, axis);
  const Value x = call.input(1) ? with_length(onnx, given, axis, lengths.inputs) : given;
  // The axis becomes the last one of the real and of the imaginary part.
  std::vector<std::int64_t> order(static_cast<std::size_t>(given.rank() - 1));
  std::iota(order.begin(), order.end(), 0);
  order.erase(order.begin() + axis);
  order.push_back(axis);
  std::vector<std::int64_t> back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  const bool to_real = call.integer("onesided", 0) != 0 && call.integer("inverse", 0) != 0;
  const auto part = [&](std::int64_t i) {
    const Value moved = onnx.transpose(onnx.select(x, -1, i), order);
    if (!to_real) return moved;
    return onnx.mul(
        moved, spectrum_weights(onnx, counted(onnx, lengths.inputs), lengths.length, x.dtype()));
  };
  const Complex parts = {part(0), given.dim(-1).is(2) ? part(1) : Value()};
  const Complex y = transformed(call, parts, lengths);
  const auto restored = [&](Value z) { return onnx.unsqueeze(onnx.transpose(z, back), {-1}); };
  if (to_real) return restored(y.real);
  return onnx.concat({restored(y.real), restored(y.imaginary)}, -1);
}

}  // namespace

Value fourier_angles(Emit& onnx, Value rows, Value columns, Value length, double turn,
                     DType dtype) {
  const Value steps = onnx.mod(onnx.mul(rows, columns), length);
  return onnx.div(onnx.mul(onnx.cast(steps, dtype), onnx.scalar(turn, dtype)),
                  onnx.cast(length, dtype));
}

Value spectrum_weights(Emit& onnx, Value element, Value length, DType dtype) {
  const Value is_single = onnx.or_(onnx.equal(element, onnx.int_scalar(0)),
                                   onnx.equal(onnx.mul(element, onnx.int_scalar(2)), length));
  return onnx.where(is_single, onnx.one(dtype), onnx.scalar(2, dtype));
}

// Opset 17: x [..., 1 or 2], whose last axis has the real and the imaginary part.
std::optional<Values> spelled_out_dft(const Composite& call) {
  Emit& onnx = call.onnx;
  const Value x = call.input(0), axis = call.input(2);
  if (!x.has_rank() || x.rank() < 2 || !(x.dim(-1).is(1) || x.dim(-1).is(2))) return std::nullopt;
  const auto known = axis ? axis.ints() : std::vector<std::int64_t>{-2};
  if (known && known->size() == 1) {
    const std::int64_t place = known->front() < 0 ? known->front() + x.rank() : known->front();
    if (place < 0 || place >= x.rank() - 1) return std::nullopt;
    return Values{along_axis(call, place)};
  }
  const ComputedAxis computed(onnx, x, axis, {.last = 1});
  const Value joined = computed.joined();
  Emit::set_type(joined, x.dtype(), {Expr(), Expr(), Expr(), x.dim(-1)});
  const Values inputs = {joined, call.input(1)};
  const Value y = along_axis({onnx, inputs, call.attributes}, ComputedAxis::kPlace);
  return Values{computed.restored(y)};
}

}  // namespace sardonyx::onnx
