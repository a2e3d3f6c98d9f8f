// Images read at places and put together from patches in ONNX Runtime's CPU provider.
#include "onnx/definitions/images.h"
#include "targets/lowering.h"
#include "targets/onnxruntime/tables.h"

namespace sardonyx::targets {
namespace {

std::optional<Values> grid_sample(const Use& use, const Rule&) {
  return onnx::spelled_out_grid_sample({use.onnx, use.inputs, use.attributes});
}

std::optional<Values> col2im(const Use& use, const Rule&) {
  return onnx::spelled_out_col2im({use.onnx, use.inputs, use.attributes});
}

constexpr DTypeSet kDoubles = onnx::dtype_bit(base::DType::kFloat64);

constexpr Rule kRows[] = {
    {.name = "grid-sample-of-doubles",
     .op = Op::kGridSample,
     .reason = Reason::kLacks,
     .types = kDoubles,
     .last = 19,
     .how = grid_sample,
     .why = "there is no GridSample of float64 before opset 20",
     .since = "1.31"},
    {.name = "patches-of-doubles",
     .op = Op::kCol2Im,
     .reason = Reason::kLacks,
     .types = kDoubles,
     .how = col2im,
     .why = "there is no Col2Im of float64",
     .since = "1.31"},
};

}  // namespace

Rules sampling_rules() { return kRows; }

}  // namespace sardonyx::targets
