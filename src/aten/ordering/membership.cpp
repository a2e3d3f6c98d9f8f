// Where values stand among sorted ones, and whether they are among others: searchsorted, bucketize,
// isin.
#include "aten/elementwise/operands.h"
#include "aten/families.h"
#include "aten/ordering/ordering.h"

namespace sardonyx::aten {
namespace {

bool is_tensor(const Call& call, std::string_view name) {
  return call.argument(name).get<program::Value*>() != nullptr;
}

// Two operands, tensors or numbers, in their common type.
Pair in_common_type(const Call& call, Emit& onnx, std::string_view a, std::string_view b) {
  ResultType type;
  for (const std::string_view name : {a, b}) {
    if (is_tensor(call, name)) {
      type.add(call.tensor(name));
    } else {
      type.add(call.scalar(name));
    }
  }
  return {operand(call, onnx, a, type.dtype()), operand(call, onnx, b, type.dtype())};
}

Value places(const Call& call, Emit& onnx, Value sorted, Value values, bool right) {
  const Value found = insertion_points(onnx, sorted, values, right);
  return onnx.cast(found, call.flag("out_int32") ? DType::kInt32 : DType::kInt64);
}

Outputs searchsorted(const Call& call, Emit& onnx) {
  const Pair pair = in_common_type(call, onnx, "sorted_sequence", "self");
  Value sorted = pair.left;
  if (call.has("sorter")) {
    sorted =
        onnx.gather_elements(sorted, onnx.cast(call.tensor("sorter"), DType::kInt64), {.axis = -1});
  }
  const bool right = call.has("side") ? call.text("side") == "right" : call.flag("right");
  return {places(call, onnx, sorted, pair.right, right)};
}

Outputs bucketize(const Call& call, Emit& onnx) {
  const Pair pair = in_common_type(call, onnx, "boundaries", "self");
  return {places(call, onnx, pair.left, pair.right, call.flag("right"))};
}

// Each element against each test element.
Outputs member(const Call& call, Emit& onnx, std::string_view elements, std::string_view tests) {
  const Pair pair = in_common_type(call, onnx, elements, tests);
  const std::vector<std::int64_t> last = {pair.left.rank()};
  const Value equal = onnx.equal(onnx.unsqueeze(pair.left, last), onnx.flatten_to_1d(pair.right));
  // A sum, not a maximum: that of no test elements has an answer.
  const Value hits = onnx.reduce("ReduceSum", onnx.cast(equal, DType::kInt32), last, false);
  const Value found = onnx.greater(hits, onnx.zero(DType::kInt32));
  return {call.flag("invert") ? onnx.not_(found) : found};
}

Outputs isin(const Call& call, Emit& onnx) {
  return member(call, onnx, "elements", "test_elements");
}
Outputs isin_scalar(const Call& call, Emit& onnx) {
  return member(call, onnx, "elements", "test_element");
}
Outputs scalar_isin(const Call& call, Emit& onnx) {
  return member(call, onnx, "element", "test_elements");
}

constexpr Row kRows[] = {
    {"aten::bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, bool "
     "right=False) -> Tensor",
     bucketize},
    {"aten::bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool "
     "right=False) -> Tensor",
     bucketize},
    {"aten::isin.Scalar_Tensor(Scalar element, Tensor test_elements, *, bool assume_unique=False, "
     "bool invert=False) -> Tensor",
     scalar_isin},
    {"aten::isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, bool assume_unique=False, "
     "bool invert=False) -> Tensor",
     isin_scalar},
    {"aten::isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool assume_unique=False, "
     "bool invert=False) -> Tensor",
     isin},
    {"aten::searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool "
     "right=False, str? side=None, Tensor? sorter=None) -> Tensor",
     searchsorted},
    {"aten::searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool "
     "right=False, str? side=None, Tensor? sorter=None) -> Tensor",
     searchsorted},
};

}  // namespace

std::span<const Row> membership_rows() { return kRows; }

}  // namespace sardonyx::aten
