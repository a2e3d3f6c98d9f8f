// The bits of a tensor read as another type: view(dtype). Elements are little-endian in memory.
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

DType unsigned_of(int bits) {
  return bits == 8    ? DType::kUInt8
         : bits == 16 ? DType::kUInt16
         : bits == 32 ? DType::kUInt32
                      : DType::kUInt64;
}

// The same bits in a type of the same width. Casts between integers keep them, and truth values
// are stored as 0 and 1; for floating types it takes BitCast.
Value same_width(Emit& onnx, Value x, DType to) {
  const auto whole = [](DType dtype) { return base::is_integer(dtype) || dtype == DType::kBool; };
  if (x.dtype() == to || (whole(x.dtype()) && whole(to))) return onnx.cast(x, to);
  return onnx.bit_cast(x, {.to = to});
}

Value shifted(Emit& onnx, Value x, int places, std::string_view direction) {
  if (places == 0) return x;
  return onnx.bit_shift(x, onnx.int_scalar(places, DType::kUInt64), {.direction = direction});
}

// Each element in parts of `width` bits, the low ones first: they become the last axis.
Value in_parts(const Call& call, Emit& onnx, Value x, int bits, int width) {
  const Value wide = onnx.cast(same_width(onnx, x, unsigned_of(bits)), DType::kUInt64);
  std::vector<Value> parts;
  for (int places = 0; places < bits; places += width) {
    const Value part = onnx.cast(shifted(onnx, wide, places, "RIGHT"), unsigned_of(width));
    parts.push_back(onnx.unsqueeze(part, {-1}));
  }
  return onnx.reshape(onnx.concat(parts, -1), call.result_shape());
}

// As many elements of the last axis as fill `width` bits in one, the first ones lowest.
Value put_together(const Call& call, Emit& onnx, Value x, int bits, int width) {
  Shape rows = call.result_shape();
  rows.emplace_back(width / bits);
  const Value narrow = same_width(onnx, x, unsigned_of(bits));
  const Value wide = onnx.reshape(onnx.cast(narrow, DType::kUInt64), rows);
  Value sum;
  for (int i = 0; i < width / bits; ++i) {
    const Value part = shifted(onnx, onnx.select(wide, -1, i), i * bits, "LEFT");
    sum = sum ? onnx.add(sum, part) : part;
  }
  return onnx.cast(sum, unsigned_of(width));
}

Outputs view_dtype(const Call& call, Emit& onnx) {
  const Value self = call.tensor("self");
  const DType to = call.result_dtype();
  const int from_bits = base::bit_width(self.dtype()), to_bits = base::bit_width(to);
  if (from_bits == to_bits) return {same_width(onnx, self, to)};
  if (from_bits < 8 || to_bits < 8) {
    call.refuse("types of less than a byte viewed as another type", "unpack them by arithmetic");
  }
  const Value bits = from_bits > to_bits ? in_parts(call, onnx, self, from_bits, to_bits)
                                         : put_together(call, onnx, self, from_bits, to_bits);
  return {same_width(onnx, bits, to)};
}

constexpr Row kRows[] = {
    {"aten::view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)", view_dtype},
    {"aten::view_copy.dtype(Tensor self, ScalarType dtype) -> Tensor", view_dtype},
};

}  // namespace

std::span<const Row> bit_views_rows() { return kRows; }

}  // namespace sardonyx::aten
