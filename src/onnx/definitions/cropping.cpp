// Images cut or padded around their centre.
#include <algorithm>
#include <numeric>

#include "onnx/definitions/images.h"

namespace sardonyx::onnx {

// Opset 18. Of an odd number of elements too many or too few, one more is at the end.
std::optional<Values> spelled_out_center_crop_pad(const Composite& call) {
  Emit& onnx = call.onnx;
  const Value x = call.input(0);
  if (!call.input(1) || !x.has_rank() || x.dtype() == DType::kString) return std::nullopt;
  std::vector<std::int64_t> axes = call.integers("axes");
  if (axes.empty()) {
    axes.resize(static_cast<std::size_t>(x.rank()));
    std::iota(axes.begin(), axes.end(), 0);
  }
  const auto is_axis = [&](std::int64_t axis) { return axis >= -x.rank() && axis < x.rank(); };
  if (!std::ranges::all_of(axes, is_axis)) return std::nullopt;
  const Value wanted = onnx.cast(call.input(1), DType::kInt64);
  Values given;
  for (const std::int64_t axis : axes) given.push_back(onnx.dim_of(x, axis));
  const Value sizes = onnx.concat(given, 0), two = onnx.int_scalar(2);
  const Value kept = onnx.min({sizes, wanted});
  const Value start = onnx.div(onnx.sub(sizes, kept), two);
  const Value cut = onnx.Operators::slice(x, start, onnx.add(start, kept), onnx.ints(axes));
  const Value missing = onnx.sub(wanted, kept), before = onnx.div(missing, two);
  const Value pads = onnx.concat({before, onnx.sub(missing, before)}, 0);
  return Values{onnx.pad(cut, pads, onnx.zero(x.dtype()), onnx.ints(axes))};
}

}  // namespace sardonyx::onnx
