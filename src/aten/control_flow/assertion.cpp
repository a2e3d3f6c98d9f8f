// Checks that capture leaves in a program. They compute nothing; what they assert of sizes has been
// taken into the symbols' ranges by the front end.
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

Outputs nothing(const Call& /*call*/, Emit& /*onnx*/) { return {}; }

// The functional forms pass a token along, so that their order is kept.
Outputs token(const Call& call, Emit& onnx) {
  if (!call.uses_output(0)) return {};
  return {call.has("dep_token") ? call.tensor("dep_token")
                                : onnx.full(call.result_shape(), onnx.zero(call.result_dtype()))};
}

Outputs make_token(const Call& call, Emit& onnx) {
  if (!call.uses_output(0)) return {};
  return {onnx.full(call.result_shape(), onnx.zero(call.result_dtype()))};
}

constexpr Row kRows[] = {
    {"aten::_assert_async(Tensor self) -> ()", nothing},
    {"aten::_assert_async.msg(Tensor self, str assert_msg) -> ()", nothing},
    {"aten::_assert_scalar(Scalar self, str assert_msg) -> ()", nothing},
    {"aten::_assert_tensor_metadata(Tensor a, SymInt[]? size=None, SymInt[]? stride=None, "
     "ScalarType? dtype=None, *, Device? device=None, Layout? layout=None) -> ()",
     nothing},
    {"aten::_functional_assert_async.msg(Tensor self, str assert_msg, Tensor dep_token) -> Tensor",
     token},
    {"aten::_functional_assert_scalar(Scalar self, str assert_msg, Tensor dep_token) -> Tensor",
     token},
    {"aten::_functional_sym_constrain_range(Scalar size, int? min, int? max, Tensor dep_token) -> "
     "Tensor",
     token},
    {"aten::_functional_sym_constrain_range_for_size(Scalar size, int? min, int? max, Tensor "
     "dep_token) -> Tensor",
     token},
    {"aten::_make_dep_token(*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
     "bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
     make_token},
    {"aten::_print(str s) -> ()", nothing},
    {"aten::sym_constrain_range(Scalar size, *, int? min=None, int? max=None) -> ()", nothing},
    {"aten::sym_constrain_range_for_size(Scalar size, *, int? min=None, int? max=None) -> ()",
     nothing},
};

}  // namespace

std::span<const Row> assertion_rows() { return kRows; }

}  // namespace sardonyx::aten
