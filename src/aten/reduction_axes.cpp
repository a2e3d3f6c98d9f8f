#include "aten/reduction_axes.h"

#include <numeric>

namespace sardonyx::aten {

std::vector<std::int64_t> reduction_axes(const Call& call, Value x, std::string_view name) {
  std::vector<std::int64_t> axes;
  const auto& schema = *call.captured().schema;
  if (schema.find(name) && call.has(name)) axes = call.axes(name, x.rank());
  if (x.rank() == 0) return {};
  if (axes.empty()) {
    axes.resize(static_cast<std::size_t>(x.rank()));
    std::iota(axes.begin(), axes.end(), 0);
  }
  return axes;
}

bool keeps_dims(const Call& call) {
  return call.captured().schema->find("keepdim") && call.flag("keepdim");
}

Expr reduced_count(Value x, const std::vector<std::int64_t>& axes) {
  Expr count = 1;
  for (const std::int64_t axis : axes) count = count * x.dim(axis);
  return count;
}

}  // namespace sardonyx::aten
