#include "proto/reader/tensor_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "proto/wire/decoder.h"
#include "proto/wire/fields.h"

namespace sardonyx::proto {
namespace {

using base::DType;
using onnx::Tensor;

// A TensorProto as it is in the file.
struct Raw {
  std::vector<std::int64_t> dims;
  std::int64_t data_type = 0;
  std::string name;
  bool has_raw = false;
  bool is_external = false;
  bool is_segment = false;
  std::string_view raw;
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<std::int64_t> int32s, int64s, uint64s;
  std::vector<std::string> strings;
  ExternalEntry external;
  std::string further;
};

void read_external_entry(std::string_view message, ExternalEntry& external) {
  std::string_view key, value;
  for (Decoder in(message); in.next();) {
    if (in.field() == field::entry::kKey) key = in.text();
    if (in.field() == field::entry::kValue) value = in.text();
  }
  external.set(key, value);
}

void read_field(Decoder& in, Raw& raw) {
  namespace f = field::tensor;
  switch (in.field()) {
    case f::kDims:
      in.integers(raw.dims);
      break;
    case f::kDataType:
      raw.data_type = in.integer();
      break;
    case f::kSegment:
      raw.is_segment = true;
      break;
    case f::kFloatData:
      in.reals(raw.floats);
      break;
    case f::kInt32Data:
      in.integers(raw.int32s);
      break;
    case f::kStringData:
      raw.strings.emplace_back(in.text());
      break;
    case f::kInt64Data:
      in.integers(raw.int64s);
      break;
    case f::kName:
      raw.name = in.text();
      break;
    case f::kRawData:
      raw.raw = in.text();
      raw.has_raw = true;
      break;
    case f::kDoubleData:
      in.reals(raw.doubles);
      break;
    case f::kUint64Data:
      in.integers(raw.uint64s);
      break;
    case f::kExternalData:
      read_external_entry(in.text(), raw.external);
      break;
    case f::kDataLocation:
      raw.is_external = in.integer() == static_cast<std::int64_t>(kExternalLocation);
      break;
    default:
      raw.further += in.whole();
      break;
  }
}

[[noreturn]] void refuse(std::string message) { base::fail("SX1154", std::move(message)); }

// Elements of a tensor whose size in bits must fit into 63 bits, even with its zero dims left out
// (so that no product of some of its dims overflows either).
std::int64_t checked_count(const std::vector<std::int64_t>& dims) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max() / 128;
  std::int64_t count = 1;
  bool empty = false;
  for (const std::int64_t dim : dims) {
    if (dim < 0 || dim > kMax || (dim > 0 && count > kMax / dim))
      refuse(fmt::format("a tensor has the impossible shape [{}]", fmt::join(dims, ", ")));
    if (dim == 0) empty = true;
    count *= std::max<std::int64_t>(dim, 1);
  }
  return empty ? 0 : count;
}

void check_length(std::string_view what, std::int64_t found, std::int64_t expected) {
  if (found != expected)
    refuse(fmt::format("a tensor has {} {} instead of {}", found, what, expected));
}

// Owned data from numbers of another width: each element takes its lowest bytes.
template <typename Number>
Tensor narrowed(DType dtype, const Raw& raw, const std::vector<Number>& numbers, int bytes) {
  std::vector<std::byte> data(numbers.size() * static_cast<std::size_t>(bytes));
  std::byte* at = data.data();
  for (const Number& number : numbers) {
    std::memcpy(at, &number, static_cast<std::size_t>(bytes));
    at += bytes;
  }
  return Tensor::of_bytes(dtype, raw.dims, data);
}

// The fields that hold numbers one by one, for each element type.
Tensor from_typed_fields(DType dtype, const Raw& raw, std::int64_t count) {
  const auto check = [&](std::size_t found, std::int64_t expected) {
    check_length("numbers", static_cast<std::int64_t>(found), expected);
  };
  const int bits = base::bit_width(dtype);
  switch (dtype) {
    case DType::kFloat32:
    case DType::kComplex64:
      check(raw.floats.size(), count * (bits / 32));
      return narrowed(dtype, raw, raw.floats, 4);
    case DType::kFloat64:
    case DType::kComplex128:
      check(raw.doubles.size(), count * (bits / 64));
      return narrowed(dtype, raw, raw.doubles, 8);
    case DType::kInt64:
      check(raw.int64s.size(), count);
      return narrowed(dtype, raw, raw.int64s, 8);
    case DType::kUInt32:
    case DType::kUInt64:
      check(raw.uint64s.size(), count);
      return narrowed(dtype, raw, raw.uint64s, bits / 8);
    case DType::kFloat6E2M3:
    case DType::kFloat6E3M2: {
      check(raw.int32s.size(), count);  // one by one, where raw bytes have four in three
      std::vector<std::byte> packed(static_cast<std::size_t>(base::byte_size(dtype, count)));
      for (std::size_t i = 0; i < raw.int32s.size(); ++i)
        onnx::store_packed(packed.data(), static_cast<std::int64_t>(i), bits,
                           static_cast<std::uint32_t>(raw.int32s[i]));
      return Tensor::of_bytes(dtype, raw.dims, packed);
    }
    default:
      // Elements under eight bits come packed in bytes here too.
      check(raw.int32s.size(), bits < 8 ? base::byte_size(dtype, count) : count);
      return narrowed(dtype, raw, raw.int32s, std::max(bits / 8, 1));
  }
}

Tensor borrowed(DType dtype, std::vector<std::int64_t> dims, BorrowedBytes source) {
  Tensor tensor;
  tensor.dtype = dtype;
  tensor.dims = std::move(dims);
  tensor.data = source.bytes.empty() ? nullptr : source.bytes.data();
  tensor.owner = std::move(source.owner);
  return tensor;
}

Tensor strings(Raw& raw, std::int64_t count) {
  if (raw.has_raw || raw.is_external) refuse("a tensor of strings has its data in bytes");
  check_length("strings", static_cast<std::int64_t>(raw.strings.size()), count);
  Tensor tensor;
  tensor.dtype = DType::kString;
  tensor.dims = std::move(raw.dims);
  tensor.strings = std::move(raw.strings);
  return tensor;
}

Tensor data_of(Raw& raw, DataSource& source) {
  const DType dtype = dtype_of(raw.data_type);
  if (raw.is_segment) base::fail("SX1153", "a tensor is split into segments");
  if (dtype == DType::kUndefined) base::fail("SX1153", "a tensor has no element type");
  const std::int64_t count = checked_count(raw.dims);
  if (dtype == DType::kString) return strings(raw, count);

  const std::int64_t size = base::byte_size(dtype, count);
  if (raw.is_external && size > 0)
    return borrowed(dtype, raw.dims, source.external.find(raw.external, size));
  if (!raw.has_raw && !raw.is_external) return from_typed_fields(dtype, raw, count);
  check_length("bytes", static_cast<std::int64_t>(raw.raw.size()), size);
  return borrowed(dtype, raw.dims, {std::as_bytes(std::span(raw.raw)), source.owner});
}

}  // namespace

base::DType dtype_of(std::int64_t number) {
  if (number < 0 || number > static_cast<std::int64_t>(base::kLastDType))
    base::fail("SX1153", fmt::format("the element type {} is not supported", number));
  return static_cast<DType>(number);
}

NamedTensor read_tensor(std::string_view message, DataSource& source) {
  Raw raw;
  try {
    for (Decoder in(message); in.next();) read_field(in, raw);
    NamedTensor result;
    result.tensor = data_of(raw, source);
    result.name = std::move(raw.name);
    result.further = std::move(raw.further);
    return result;
  } catch (base::Error& error) {
    error.within(fmt::format("in the tensor '{}'", raw.name));
    throw;
  }
}

}  // namespace sardonyx::proto
