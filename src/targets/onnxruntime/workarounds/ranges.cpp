// Ranges that ONNX Runtime's optimizer takes for slices.
#include "onnx/graph/ir.h"
#include "onnx/infer/inference.h"
#include "targets/lowering.h"
#include "targets/onnxruntime/tables.h"

namespace sardonyx::targets {
namespace {

// Of a 0-d value; true where it is not known.
bool may_be_negative(const onnx::ValueInfo* value) {
  const auto known = onnx::contents_of(value);
  return !known || known->size() != 1 || !(*known)[0].known() ||
         symbolic::range((*known)[0]).low < 0;
}

bool reads_from_below_zero(const Use& use) {
  const onnx::Node* range = use.input(1)->producer;
  return range != nullptr && range->is("Range") &&
         (may_be_negative(range->input(0)) || may_be_negative(range->input(2)));
}

// Before: Gather(x, Range(start, limit, delta))
// After:  Gather(x, start + Range(0, limit - start, delta))
std::optional<Values> counted_from_zero(const Use& use, const Rule& rule) {
  Lowering& onnx = use.onnx;
  const onnx::Node* range = use.input(1)->producer;
  const Value start = range->input(0), limit = range->input(1), delta = range->input(2);
  const Value steps = onnx.range(onnx.zero(start.dtype()), onnx.sub(limit, start), delta);
  return onnx.without(rule, use, std::vector{use.input(0), onnx.add(start, steps)},
                      {use.attributes.begin(), use.attributes.end()});
}

constexpr Rule kRows[] = {
    {.name = "range-from-below-zero",
     .op = Op::kGather,
     .reason = Reason::kRewrites,
     .when = reads_from_below_zero,
     .how = counted_from_zero,
     .why = "what a Range gathers becomes a Slice, which counts ends below zero from the back",
     .since = "1.31"},
};

}  // namespace

Rules range_rules() { return kRows; }

}  // namespace sardonyx::targets
