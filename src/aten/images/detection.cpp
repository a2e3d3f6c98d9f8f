// torchvision's operators on boxes and regions of interest.
#include <cmath>
#include <limits>

#include "aten/elementwise/operands.h"
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

// The largest float32 that is not above the number: a float32 is above the one where it is above
// the other.
double rounded_down(double number) {
  const auto rounded = static_cast<float>(number);
  if (static_cast<double>(rounded) <= number) return rounded;
  return std::nextafter(rounded, -std::numeric_limits<float>::infinity());
}

Outputs nms(const Call& call, Emit& onnx) {
  const Value boxes = onnx.cast(call.tensor("dets"), DType::kFloat32);
  const Value scores = onnx.cast(call.tensor("scores"), DType::kFloat32);
  const Value threshold = onnx.scalar(rounded_down(call.number("iou_threshold")), DType::kFloat32);
  const Value selected = onnx.non_max_suppression(
      onnx.unsqueeze(boxes, {0}), onnx.unsqueeze(scores, {0, 1}),
      onnx.int_scalar(std::numeric_limits<std::int64_t>::max()), threshold);
  return {onnx.select(selected, 1, 2)};  // batch, class, box
}

// Rows of [image in the batch, x1, y1, x2, y2].
struct Regions {
  Value image;  // int64 [R]
  Value boxes;  // [R, 4]
};

Regions regions_of(const Call& call, Emit& onnx) {
  const Value rois = call.tensor("rois");
  return {onnx.cast(onnx.select(rois, 1, 0), DType::kInt64), onnx.slice(rois, 1, 1, 5)};
}

Value aligned(const Call& call, Emit& onnx, bool half_pixel) {
  const auto [image, boxes] = regions_of(call, onnx);
  return onnx.roi_align(
      call.tensor("input"), boxes, image,
      {.coordinate_transformation_mode = half_pixel ? "half_pixel" : "output_half_pixel",
       .output_height = call.integer("pooled_height"),
       .output_width = call.integer("pooled_width"),
       .sampling_ratio = std::max<std::int64_t>(call.integer("sampling_ratio"), 0),
       .spatial_scale = static_cast<float>(call.number("spatial_scale"))});
}

Outputs roi_align(const Call& call, Emit& onnx) {
  return {aligned(call, onnx, call.flag("aligned"))};
}

Outputs roi_pool(const Call& call, Emit& onnx) {
  if (call.uses_output(1)) {
    call.refuse("the places of roi_pool's maxima", "use the pooled values only");
  }
  const std::int64_t height = call.integer("pooled_height"), width = call.integer("pooled_width");
  return {onnx.max_roi_pool(call.tensor("input"), call.tensor("rois"),
                            {.pooled_shape = {height, width},
                             .spatial_scale = static_cast<float>(call.number("spatial_scale"))}),
          {}};
}

// Which channel of the input each element of the result reads.
Value channel_mapping(const Call& call, Emit& onnx) {
  if (!call.uses_output(1)) return {};
  const Shape& shape = call.result_shape(1);
  const Shape one(shape.begin() + 1, shape.end());
  const Value channels = onnx.cast(onnx.range(symbolic::product(one)), DType::kInt32);
  return onnx.expand(onnx.reshape(channels, one), shape);
}

// Each cell of a region reads a channel of its own: of all channels pooled in all cells, those
// where channel and cell agree.
Outputs ps_roi_align(const Call& call, Emit& onnx) {
  const Shape& result = call.result_shape();
  const std::int64_t cells = call.integer("pooled_height") * call.integer("pooled_width");
  const Value all = onnx.reshape(aligned(call, onnx, true), {result[0], result[1], cells * cells});
  std::vector<std::int64_t> diagonal;
  for (std::int64_t i = 0; i < cells; ++i) diagonal.push_back(i * cells + i);
  const Value own = onnx.gather(all, onnx.ints(diagonal), {.axis = 2});
  return {onnx.reshape(own, result), channel_mapping(call, onnx)};
}

// C's round(): halves away from zero.
Value rounded_away(Emit& onnx, Value x) {
  const Value half = onnx.scalar(0.5, x.dtype());
  return onnx.mul(onnx.sign(x), onnx.floor(onnx.add(onnx.abs(x), half)));
}

// The elements of an axis in each cell of each region: whether inside [R, cells, size], and how
// many [R, cells].
struct CellMembers {
  Value inside, count;
};

CellMembers members_of(Emit& onnx, Value from, Value to, std::int64_t cells, Expr size) {
  const DType dtype = from.dtype();
  const Value one = onnx.one(dtype), zero = onnx.zero(dtype);
  const Value start = onnx.unsqueeze(from, {1});
  const Value length = onnx.max({onnx.sub(onnx.unsqueeze(to, {1}), start), one});
  const Value step = onnx.div(length, onnx.scalar(static_cast<double>(cells), dtype));
  const Value cell = onnx.cast(onnx.range(cells), dtype);
  // The last element is never read: so it is in torchvision.
  const Value last = onnx.real_size(size - 1, dtype);
  const auto held = [&](Value place) { return onnx.clip(onnx.add(place, start), zero, last); };
  const Value low = held(onnx.floor(onnx.mul(cell, step)));
  const Value high = held(onnx.ceil(onnx.mul(onnx.add(cell, one), step)));
  const Value element = onnx.cast(onnx.range(size), dtype);
  const Value inside = onnx.and_(onnx.greater_or_equal(element, onnx.unsqueeze(low, {2})),
                                 onnx.less(element, onnx.unsqueeze(high, {2})));
  return {onnx.cast(inside, dtype), onnx.max({onnx.sub(high, low), zero})};
}

Outputs ps_roi_pool(const Call& call, Emit& onnx) {
  const Value x = call.tensor("input");
  const auto [image, boxes] = regions_of(call, onnx);
  const Value scale = onnx.scalar(call.number("spatial_scale"), x.dtype());
  const Value corners = rounded_away(onnx, onnx.mul(boxes, scale));
  const auto corner = [&](int i) { return onnx.select(corners, 1, i); };
  const std::int64_t height = call.integer("pooled_height"), width = call.integer("pooled_width");
  const CellMembers columns = members_of(onnx, corner(0), corner(2), width, x.dim(3));
  const CellMembers rows = members_of(onnx, corner(1), corner(3), height, x.dim(2));
  // [R, C, height, width, H, W], each cell with its own channels.
  const Shape& result = call.result_shape();
  const Value own = onnx.reshape(onnx.gather(x, image, {.axis = 0}),
                                 {result[0], result[1], height, width, x.dim(2), x.dim(3)});
  const Value across = onnx.matmul(own, onnx.unsqueeze(columns.inside, {1, 2, 5}));
  const Value sum =
      onnx.squeeze(onnx.matmul(onnx.unsqueeze(rows.inside, {1, 3, 4}), across), {4, 5});
  const Value area =
      onnx.mul(onnx.unsqueeze(rows.count, {1, 3}), onnx.unsqueeze(columns.count, {1, 2}));
  const Value mean = onnx.div(sum, onnx.max({area, onnx.one(x.dtype())}));
  return {onnx.reshape(mean, result), channel_mapping(call, onnx)};
}

constexpr Row kRows[] = {
    {"torchvision::nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor", nms},
    {"torchvision::ps_roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt "
     "pooled_height, SymInt pooled_width, int sampling_ratio) -> (Tensor, Tensor)",
     ps_roi_align},
    {"torchvision::ps_roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt "
     "pooled_height, SymInt pooled_width) -> (Tensor, Tensor)",
     ps_roi_pool},
    {"torchvision::roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, "
     "SymInt pooled_width, int sampling_ratio, bool aligned) -> Tensor",
     roi_align},
    {"torchvision::roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, "
     "SymInt pooled_width) -> (Tensor, Tensor)",
     roi_pool},
};

}  // namespace

std::span<const Row> detection_rows() { return kRows; }

}  // namespace sardonyx::aten
