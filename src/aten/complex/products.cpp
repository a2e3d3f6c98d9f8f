// Products of complex matrices that conjugate an operand or add to one.
#include <limits>

#include "aten/complex/math.h"
#include "aten/families.h"
#include "aten/reduction/prefix_scan.h"

namespace sardonyx::aten {
namespace {

Parts parts(const Call& call, Emit& onnx, std::string_view name) {
  return parts_of_operand(call, onnx, name, base::real_of(call.result_dtype()));
}

Parts summed(Emit& onnx, const Parts& x, std::int64_t axis) {
  return each_part(x,
                   [&](Value part) { return onnx.reduce("ReduceSum", part, {&axis, 1}, false); });
}

Outputs vdot(const Call& call, Emit& onnx) {
  const ComplexMath math(onnx);
  return {
      joined(onnx, math.matmul(math.conj(parts(call, onnx, "self")), parts(call, onnx, "other")))};
}

// beta * self + alpha * product, `self` left out with its NaNs when beta is 0.
Outputs affine(const Call& call, Emit& onnx, const Parts& product) {
  const ComplexMath math(onnx);
  const Parts scaled = math.mul(parts(call, onnx, "alpha"), product);
  const Shape& shape = call.result_shape();
  if (call.scalar("beta").is(0) && !call.scalar("beta").is_complex()) {
    return {joined(onnx, each_part(math.complete(scaled),
                                   [&](Value part) { return onnx.expand(part, shape); }))};
  }
  const Parts self = math.mul(parts(call, onnx, "beta"), parts(call, onnx, "self"));
  return {joined(onnx, math.complete(math.add(scaled, self)))};
}

Outputs addmm(const Call& call, Emit& onnx) {
  return affine(call, onnx,
                ComplexMath(onnx).matmul(parts(call, onnx, "mat1"), parts(call, onnx, "mat2")));
}

Outputs addmv(const Call& call, Emit& onnx) {
  return affine(call, onnx,
                ComplexMath(onnx).matmul(parts(call, onnx, "mat"), parts(call, onnx, "vec")));
}

Parts batch_product(const Call& call, Emit& onnx) {
  return ComplexMath(onnx).matmul(parts(call, onnx, "batch1"), parts(call, onnx, "batch2"));
}

Outputs baddbmm(const Call& call, Emit& onnx) {
  return affine(call, onnx, batch_product(call, onnx));
}

Outputs addbmm(const Call& call, Emit& onnx) {
  return affine(call, onnx, summed(onnx, batch_product(call, onnx), 0));
}

Outputs addr(const Call& call, Emit& onnx) {
  const auto stretched = [&](std::string_view name, std::int64_t axis) {
    return each_part(parts(call, onnx, name),
                     [&](Value part) { return onnx.unsqueeze(part, {axis}); });
  };
  return affine(call, onnx, ComplexMath(onnx).mul(stretched("vec1", 1), stretched("vec2", 0)));
}

// Running products of 1, x, x, ... as the last axis.
Outputs powers(const Call& call, Emit& onnx, bool increasing) {
  const ComplexMath math(onnx);
  const Parts x = math.complete(parts(call, onnx, "x"));
  const Shape& shape = call.result_shape();
  const std::int64_t axis = x.real.rank();
  Shape first = shape, rest = shape;
  first.back() = 1;
  rest.back() = shape.back() - 1;
  if (shape.back().is(0)) {
    const Value none = onnx.full(shape, math.number(x, 0));
    return {from_parts(onnx, none, none)};
  }
  const auto factors = [&](Value part, double start) {
    const Value one = onnx.full(first, math.number(x, start));
    if (shape.back().is(1)) return one;
    return onnx.concat({one, onnx.expand(onnx.unsqueeze(part, {axis}), rest)}, axis);
  };
  const auto product = [&](const onnx::Values& earlier, const onnx::Values& later) {
    const Parts p = math.mul({earlier[0], earlier[1]}, {later[0], later[1]});
    return onnx::Values{p.real, p.imaginary};
  };
  const onnx::Values found =
      prefix_scan(onnx, {factors(x.real, 1), factors(x.imaginary, 0)}, axis, product);
  return {joined(onnx, each_part(Parts{found[0], found[1]}, [&](Value part) {
                   constexpr std::int64_t kBeginning = std::numeric_limits<std::int64_t>::min();
                   return increasing ? part : onnx.slice(part, axis, -1, kBeginning, -1);
                 }))};
}

Outputs vander(const Call& call, Emit& onnx) { return powers(call, onnx, call.flag("increasing")); }
Outputs linalg_vander(const Call& call, Emit& onnx) { return powers(call, onnx, true); }

constexpr Row kRows[] = {
    {"aten::addbmm", addbmm}, {"aten::addmm", addmm},     {"aten::addmv", addmv},
    {"aten::addr", addr},     {"aten::baddbmm", baddbmm}, {"aten::linalg_vander", linalg_vander},
    {"aten::vander", vander}, {"aten::vdot", vdot},
};

}  // namespace

std::span<const Row> complex_product_rows() { return kRows; }

}  // namespace sardonyx::aten
