// Operators that make tensors out of shapes and numbers.
#include <algorithm>
#include <array>
#include <cmath>

#include "onnx/fold/folders.h"

namespace sardonyx::onnx::folding {
namespace {

// A large result is better made by the runtime than carried in the file.
constexpr std::int64_t kMaxMade = 4096;

Result shape(const Operands& o) {
  const Tensor* x = o.at(0);
  if (x == nullptr) return {};
  const auto rank = static_cast<std::int64_t>(x->dims.size());
  const auto clamp = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const std::int64_t start = clamp(o.node.int_or("start", 0));
  const std::int64_t end = std::max(start, clamp(o.node.int_or("end", rank)));
  const Dims part(x->dims.begin() + start, x->dims.begin() + end);
  return {{Tensor::of_ints(part, {end - start})}};
}

Result size(const Operands& o) {
  if (o.at(0) == nullptr) return {};
  return {{Tensor::of_int(o.at(0)->element_count())}};
}

Result constant_of_shape(const Operands& o) {
  const auto dims = o.at(0) != nullptr ? o.at(0)->ints() : std::nullopt;
  if (!dims) return {};
  const auto count = o.count(*dims);
  if (!count || *count > kMaxMade) return {};
  const Attribute* value = o.node.find("value");
  if (value == nullptr) return {{Tensor::filled(DType::kFloat32, *dims, 0)}};
  const auto* tensor = std::get_if<std::shared_ptr<const Tensor>>(&value->data);
  if (tensor == nullptr || base::bit_width((*tensor)->dtype) < 8) return {};
  return {
      {gathered(**tensor, *dims, std::vector<std::int64_t>(static_cast<std::size_t>(*count), 0))}};
}

// Start, limit and delta, in one type.
std::optional<std::array<const Tensor*, 3>> range_operands(const Operands& o) {
  const std::array found = {o.at(0), o.at(1), o.at(2)};
  for (const Tensor* each : found)
    if (each == nullptr || each->element_count() != 1 || each->dtype != found[0]->dtype) return {};
  return found;
}

// How many elements there are, from what they are in real numbers; nothing for too many.
std::optional<std::int64_t> steps_of(double steps) {
  if (!(steps <= static_cast<double>(kMaxMade))) return std::nullopt;
  return std::max<std::int64_t>(static_cast<std::int64_t>(std::ceil(std::max(steps, 0.0))), 0);
}

Result range_of_ints(const std::array<const Tensor*, 3>& operands) {
  const DType dtype = operands[0]->dtype;
  const std::int64_t start = operands[0]->ints()->front(), limit = operands[1]->ints()->front(),
                     delta = operands[2]->ints()->front();
  if (delta == 0) return {};
  const auto count = steps_of((static_cast<double>(limit) - static_cast<double>(start)) /
                              static_cast<double>(delta));
  if (!count) return {};
  const std::int64_t width = base::bit_width(dtype) / 8;
  std::vector<std::byte> bytes(static_cast<std::size_t>(*count * width));
  for (std::int64_t i = 0; i < *count; ++i)
    store_int(dtype, start + i * delta, bytes.data() + i * width);
  return {{Tensor::of_bytes(dtype, {*count}, bytes)}};
}

// Only where neither the elements nor their number are rounded: where they are, kernels differ.
Result range_of_reals(const std::array<const Tensor*, 3>& operands) {
  const DType dtype = operands[0]->dtype;
  const double start = operands[0]->reals()->front(), limit = operands[1]->reals()->front(),
               delta = operands[2]->reals()->front();
  const auto is_exact = [dtype](double number) {
    std::byte bytes[8] = {};
    store_real(dtype, number, bytes);
    return load_real(dtype, bytes) == number;
  };
  const double span = limit - start, steps = span / delta;
  if (!std::isfinite(steps) || start + span != limit || !is_exact(span)) return {};
  // A quotient that is close to a whole number may be rounded to it, or away from it.
  const double whole = std::round(steps);
  if (whole * delta != span && std::abs(steps - whole) < 1e-2) return {};
  const auto count = steps_of(steps);
  if (!count) return {};
  const std::int64_t width = base::bit_width(dtype) / 8;
  std::vector<std::byte> bytes(static_cast<std::size_t>(*count * width));
  for (std::int64_t i = 0; i < *count; ++i) {
    const double step = static_cast<double>(i) * delta, element = start + step;
    if (!is_exact(step) || !is_exact(element) || element - start != step) return {};
    store_real(dtype, element, bytes.data() + i * width);
  }
  return {{Tensor::of_bytes(dtype, {*count}, bytes)}};
}

Result range(const Operands& o) {
  const auto operands = range_operands(o);
  if (!operands) return {};
  const DType dtype = (*operands)[0]->dtype;
  if (base::is_integer(dtype) && base::bit_width(dtype) >= 8) return range_of_ints(*operands);
  const bool is_real = dtype == DType::kFloat64 || dtype == DType::kFloat32 ||
                       dtype == DType::kFloat16 || dtype == DType::kBFloat16;
  return is_real ? range_of_reals(*operands) : Result();
}

constexpr Entry kEntries[] = {
    {"ConstantOfShape", constant_of_shape},
    {"Range", range},
    {"Shape", shape},
    {"Size", size},
};

}  // namespace

std::span<const Entry> creation_folders() { return kEntries; }

}  // namespace sardonyx::onnx::folding
