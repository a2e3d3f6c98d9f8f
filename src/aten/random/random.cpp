// Random numbers. The distributions are PyTorch's, the numbers are not: the runtime draws its own,
// from its own seed.
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "aten/elementwise/operands.h"
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

// The type drawn in; the half types and integers are cast from float32.
DType drawn_type(DType dtype) {
  return dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
}

// The RandomXLike operators take their size from a tensor, which may be symbolic. Those without
// inputs would need it as an attribute.
Value size_carrier(const Call& call, Emit& onnx, DType dtype) {
  return onnx.full(call.result_shape(), onnx.zero(dtype));
}

Value uniform_numbers(const Call& call, Emit& onnx, DType dtype) {
  const Value carrier = size_carrier(call, onnx, dtype);
  return onnx.random_uniform_like(carrier, {.dtype = dtype, .high = 1, .low = 0});
}

Value normal_numbers(const Call& call, Emit& onnx, DType dtype) {
  const Value carrier = size_carrier(call, onnx, dtype);
  return onnx.random_normal_like(carrier, {.dtype = dtype, .mean = 0, .scale = 1});
}

Outputs rand(const Call& call, Emit& onnx) {
  return {cast_to_result(onnx, call, uniform_numbers(call, onnx, drawn_type(call.result_dtype())))};
}

Outputs randn(const Call& call, Emit& onnx) {
  return {cast_to_result(onnx, call, normal_numbers(call, onnx, drawn_type(call.result_dtype())))};
}

// mean + std * N(0, 1); both may be tensors.
Outputs normal(const Call& call, Emit& onnx) {
  const DType dtype = drawn_type(call.result_dtype());
  const auto parameter = [&](std::string_view name) {
    return call.argument(name).get<program::Value*>() ? onnx.cast(call.tensor(name), dtype)
                                                      : onnx.scalar(call.number(name), dtype);
  };
  const Value scaled = onnx.mul(normal_numbers(call, onnx, dtype), parameter("std"));
  return {cast_to_result(onnx, call, onnx.add(scaled, parameter("mean")))};
}

Outputs log_normal(const Call& call, Emit& onnx) { return {onnx.exp(normal(call, onnx).front())}; }

Outputs uniform(const Call& call, Emit& onnx) {
  const DType dtype = drawn_type(call.result_dtype());
  const double low = call.number("from"), high = call.number("to");
  const Value numbers =
      onnx.mul(uniform_numbers(call, onnx, dtype), onnx.scalar(high - low, dtype));
  return {cast_to_result(onnx, call, onnx.add(numbers, onnx.scalar(low, dtype)))};
}

// low + floor(U * (high - low)) in double; U < 1.
Outputs randint(const Call& call, Emit& onnx) {
  const DType dtype = DType::kFloat64;
  const auto bound = [&](std::string_view name) {
    if (call.argument(name).get<program::Value*>()) return onnx.cast(call.tensor(name), dtype);
    return onnx.cast(onnx.size(call.size(name)), dtype);
  };
  const bool from_low = call.captured().schema->find("low").has_value();
  const Value low = from_low ? bound("low") : onnx.zero(dtype);
  const Value span = onnx.sub(bound("high"), low);
  const Value steps = onnx.floor(onnx.mul(uniform_numbers(call, onnx, dtype), span));
  return {cast_to_result(onnx, call, onnx.add(steps, low))};
}

// Whole numbers in [from, to); without `to` up to the largest that the type counts to exactly.
Outputs random(const Call& call, Emit& onnx) {
  const DType dtype = call.result_dtype();
  const auto& schema = *call.captured().schema;
  const double low = schema.find("from") ? call.number("from") : 0;
  double high = 0;
  if (schema.find("to") && call.has("to")) {
    high = call.number("to");
  } else {
    const int digits = dtype == DType::kFloat64    ? 53
                       : dtype == DType::kFloat32  ? 24
                       : dtype == DType::kFloat16  ? 11
                       : dtype == DType::kBFloat16 ? 8
                       : dtype == DType::kBool
                           ? 1
                           : base::bit_width(dtype) - (base::is_signed(dtype) ? 1 : 0);
    // Float types include their bound.
    high = std::ldexp(1.0, digits) + (base::is_floating(dtype) ? 1 : 0);
  }
  // A uniform double has 53 bits to offer.
  const DType wide = DType::kFloat64;
  const Value drawn = onnx.mul(uniform_numbers(call, onnx, wide), onnx.scalar(high - low, wide));
  const Value whole = onnx.add(onnx.floor(drawn), onnx.scalar(low, wide));
  return {cast_to_result(onnx, call, whole)};
}

// The order of random keys.
Outputs randperm(const Call& call, Emit& onnx) {
  const Value keys = uniform_numbers(call, onnx, DType::kFloat32);
  const auto [values, order] =
      onnx.topk(keys, onnx.sizes({call.result_shape().front()}), {.axis = 0});
  return {cast_to_result(onnx, call, order)};
}

// 1 where a uniform number is below the probability.
Outputs bernoulli(const Call& call, Emit& onnx) {
  const bool own = !call.captured().schema->find("p").has_value();
  const Value probability = [&] {
    if (own) return onnx.cast(call.tensor("self"), DType::kFloat32);
    if (call.argument("p").get<program::Value*>()) {
      return onnx.cast(call.tensor("p"), DType::kFloat32);
    }
    return onnx.scalar(call.number("p"), DType::kFloat32);
  }();
  const Value drawn = onnx.less(uniform_numbers(call, onnx, DType::kFloat32), probability);
  return {cast_to_result(onnx, call, drawn)};
}

// -log(1 - U), which is above 0 and finite.
Value exponential_numbers(const Call& call, Emit& onnx, DType dtype) {
  const Value rest = onnx.sub(onnx.one(dtype), uniform_numbers(call, onnx, dtype));
  return onnx.neg(onnx.log(rest));
}

Outputs exponential(const Call& call, Emit& onnx) {
  const DType dtype = drawn_type(call.result_dtype());
  const Value rate = onnx.scalar(call.number("lambd"), dtype);
  return {cast_to_result(onnx, call, onnx.div(exponential_numbers(call, onnx, dtype), rate))};
}

Outputs geometric(const Call& call, Emit& onnx) {
  const DType dtype = DType::kFloat64;
  const double p = call.number("p");
  const Value trials = onnx.div(exponential_numbers(call, onnx, dtype),
                                onnx.neg(onnx.log(onnx.scalar(1 - p, dtype))));
  const Value whole = onnx.max({onnx.ceil(trials), onnx.one(dtype)});
  return {cast_to_result(onnx, call, whole)};
}

// median + sigma * tan(pi * (U - 1/2))
Outputs cauchy(const Call& call, Emit& onnx) {
  const DType dtype = drawn_type(call.result_dtype());
  const auto number = [&](double value) { return onnx.scalar(value, dtype); };
  const Value centered = onnx.sub(uniform_numbers(call, onnx, dtype), number(0.5));
  const Value tangent = onnx.tan(onnx.mul(centered, number(std::numbers::pi)));
  const Value scaled = onnx.mul(tangent, number(call.number("sigma")));
  return {cast_to_result(onnx, call, onnx.add(scaled, number(call.number("median"))))};
}

// Draws with replacement are ONNX's Multinomial on logarithms. Without, the `n` largest of
// log(p) + Gumbel noise are such a draw.
Outputs multinomial(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const Value p = onnx.cast(self.rank() == 1 ? onnx.unsqueeze(self, {0}) : self, DType::kFloat32);
  Value drawn;
  if (call.flag("replacement")) {
    const std::int64_t count = call.integer("num_samples");
    drawn = onnx.multinomial(onnx.log(p), {.dtype = DType::kInt64, .sample_size = count});
  } else {
    const Value uniform = onnx.random_uniform_like(p, {.dtype = DType::kFloat32});
    const Value wait = onnx.neg(onnx.log(onnx.sub(onnx.one(DType::kFloat32), uniform)));
    const Value tiny =
        onnx.scalar(static_cast<double>(std::numeric_limits<float>::min()), DType::kFloat32);
    const Value rate = onnx.div(p, onnx.max({wait, tiny}));
    drawn = onnx.topk(rate, onnx.sizes({call.size("num_samples")}), {.axis = -1})[1];
  }
  return {self.rank() == 1 ? onnx.squeeze(drawn, {0}) : drawn};
}

constexpr Row kRows[] = {
    {"aten::rand.generator(SymInt[] size, *, Generator? generator, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     rand},
    {"aten::rand_like.generator(Tensor self, *, Generator? generator, ScalarType? dtype=None, "
     "Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? "
     "memory_format=None) -> Tensor",
     rand},
    {"aten::randint.generator(SymInt high, SymInt[] size, *, Generator? generator, ScalarType? "
     "dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     randint},
    {"aten::randint.low_generator(SymInt low, SymInt high, SymInt[] size, *, Generator? generator, "
     "ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
     "Tensor",
     randint},
    {"aten::randint_like.Tensor_generator(Tensor self, Tensor high, *, Generator? generator, "
     "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, "
     "MemoryFormat? memory_format=None) -> Tensor",
     randint},
    {"aten::randint_like.generator(Tensor self, SymInt high, *, Generator? generator, ScalarType? "
     "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? "
     "memory_format=None) -> Tensor",
     randint},
    {"aten::randint_like.low_generator_dtype(Tensor self, SymInt low, SymInt high, *, Generator? "
     "generator, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
     "pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
     randint},
    {"aten::randn.generator(SymInt[] size, *, Generator? generator, ScalarType? dtype=None, "
     "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     randn},
    {"aten::randn_like.generator(Tensor self, *, Generator? generator, ScalarType? dtype=None, "
     "Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? "
     "memory_format=None) -> Tensor",
     randn},
    {"aten::random(Tensor self, *, Generator? generator=None) -> Tensor", random},
    {"aten::random.from(Tensor self, int from, int? to, *, Generator? generator=None) -> Tensor",
     random},
    {"aten::random.to(Tensor self, int to, *, Generator? generator=None) -> Tensor", random},
    {"aten::randperm.generator(SymInt n, *, Generator? generator, ScalarType? dtype=4, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     randperm},
    {"aten::bernoulli(Tensor self, *, Generator? generator=None) -> Tensor", bernoulli},
    {"aten::bernoulli.Tensor(Tensor self, Tensor p, *, Generator? generator=None) -> Tensor",
     bernoulli},
    {"aten::bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor", bernoulli},
    {"aten::cauchy(Tensor self, float median=0., float sigma=1., *, Generator? generator=None) -> "
     "Tensor",
     cauchy},
    {"aten::exponential(Tensor self, float lambd=1., *, Generator? generator=None) -> Tensor",
     exponential},
    {"aten::geometric(Tensor self, float p, *, Generator? generator=None) -> Tensor", geometric},
    {"aten::log_normal(Tensor self, float mean=1., float std=2., *, Generator? generator=None) -> "
     "Tensor",
     log_normal},
    {"aten::multinomial(Tensor self, SymInt num_samples, bool replacement=False, *, Generator? "
     "generator=None) -> Tensor",
     multinomial},
    {"aten::normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor",
     normal},
    {"aten::normal.Tensor_float(Tensor mean, float std=1., *, Generator? generator=None) -> Tensor",
     normal},
    {"aten::normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor",
     normal},
    {"aten::normal.float_float(float mean, float std, SymInt[] size, *, Generator? generator=None, "
     "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
     "Tensor",
     normal},
    {"aten::normal_functional(Tensor self, float mean=0., float std=1., *, Generator? "
     "generator=None) -> Tensor",
     normal},
    {"aten::rand(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None) -> Tensor",
     rand},
    {"aten::rand_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
     rand},
    {"aten::randint(SymInt high, SymInt[] size, *, ScalarType? dtype=4, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None) -> Tensor",
     randint},
    {"aten::randint.low(SymInt low, SymInt high, SymInt[] size, *, ScalarType? dtype=4, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
     randint},
    {"aten::randint_like(Tensor self, SymInt high, *, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
     randint},
    {"aten::randint_like.Tensor(Tensor self, Tensor high, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) "
     "-> Tensor",
     randint},
    {"aten::randint_like.low_dtype(Tensor self, SymInt low, SymInt high, *, ScalarType? "
     "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? "
     "memory_format=None) -> Tensor",
     randint},
    {"aten::randn(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None) -> Tensor",
     randn},
    {"aten::randn_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
     randn},
    {"aten::randperm(SymInt n, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, "
     "bool? pin_memory=None) -> Tensor",
     randperm},
    {"aten::uniform(Tensor self, float from=0., float to=1., *, Generator? generator=None) -> "
     "Tensor",
     uniform},
};

}  // namespace

std::span<const Row> random_rows() { return kRows; }

}  // namespace sardonyx::aten
