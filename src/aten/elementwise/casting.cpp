// Conversions of type, and the operators that give back what they were given: copies, devices
// and layouts make no difference to a graph of ONNX.
#include "aten/families.h"

namespace sardonyx::aten {
namespace {

// The result's type says everything: device, layout and memory format have no meaning in ONNX.
Outputs to(const Call& call, Emit& onnx) {
  return {onnx.cast(call.tensor("self"), call.result_dtype())};
}

Outputs same(const Call& call, Emit& /*onnx*/) { return {call.tensor("self")}; }

constexpr Row kRows[] = {
    {"aten::_cast_Byte(Tensor self, bool non_blocking=False) -> Tensor", to},
    {"aten::_cast_Char(Tensor self, bool non_blocking=False) -> Tensor", to},
    {"aten::_cast_Double(Tensor self, bool non_blocking=False) -> Tensor", to},
    {"aten::_cast_Float(Tensor self, bool non_blocking=False) -> Tensor", to},
    {"aten::_cast_Half(Tensor self, bool non_blocking=False) -> Tensor", to},
    {"aten::_cast_Int(Tensor self, bool non_blocking=False) -> Tensor", to},
    {"aten::_cast_Long(Tensor self, bool non_blocking=False) -> Tensor", to},
    {"aten::_cast_Short(Tensor self, bool non_blocking=False) -> Tensor", to},
    {"aten::_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None, bool non_blocking=False, MemoryFormat? "
     "memory_format=None) -> Tensor",
     to},
    {"aten::alias(Tensor(a) self) -> Tensor(a)", same},
    {"aten::alias_copy(Tensor self) -> Tensor", same},
    {"aten::clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", same},
    {"aten::conj(Tensor(a) self) -> Tensor(a)", same},
    {"aten::conj_physical(Tensor self) -> Tensor", same},
    {"aten::contiguous(Tensor(a) self, *, MemoryFormat memory_format=0) -> Tensor(a)", same},
    {"aten::cpu(Tensor(a) self) -> Tensor(b|a)", same},
    {"aten::cuda(Tensor(a) self) -> Tensor(b|a)", same},
    {"aten::data(Tensor self) -> Tensor", same},
    {"aten::detach(Tensor(a) self) -> Tensor(a)", same},
    {"aten::detach_copy(Tensor self) -> Tensor", same},
    {"aten::lift(Tensor self) -> Tensor", same},
    {"aten::lift_fresh(Tensor(a) self) -> Tensor(a)", same},
    {"aten::lift_fresh_copy(Tensor self) -> Tensor", same},
    {"aten::pin_memory(Tensor(a) self, Device? device=None) -> Tensor(a)", same},
    {"aten::positive(Tensor(a) self) -> Tensor(a)", same},
    {"aten::resolve_conj(Tensor(a) self) -> Tensor(a)", same},
    {"aten::resolve_neg(Tensor(a) self) -> Tensor(a)", same},
    {"aten::to.device(Tensor(a) self, Device device, ScalarType dtype, bool non_blocking=False, "
     "bool "
     "copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
     to},
    {"aten::to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, "
     "MemoryFormat? memory_format=None) -> Tensor(a)",
     to},
    {"aten::to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, "
     "Device? "
     "device=None, bool? pin_memory=None, bool non_blocking=False, bool copy=False, MemoryFormat? "
     "memory_format=None) -> Tensor(a)",
     to},
    {"aten::to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, "
     "MemoryFormat? memory_format=None) -> Tensor(a)",
     to},
    {"aten::to.prim_Device(Tensor(a) self, Device? device, int? dtype=None, bool "
     "non_blocking=False, bool copy=False) -> Tensor(b|a)",
     to},
    {"aten::to.prim_dtype(Tensor(a) self, int? dtype=None, bool non_blocking=False, bool "
     "copy=False) -> Tensor(b|a)",
     to},
    {"aten::to.prim_other(Tensor(a) self, bool non_blocking=False, bool copy=False) -> Tensor(b|a)",
     to},
    {"aten::type_as(Tensor self, Tensor other) -> Tensor", to},
    {"aten::real(Tensor(a) self) -> Tensor(a)", same},
};

}  // namespace

std::span<const Row> casting_rows() { return kRows; }

}  // namespace sardonyx::aten
