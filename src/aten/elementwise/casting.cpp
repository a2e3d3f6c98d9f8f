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
    {"aten::_cast_Byte(Tensor self, bool non_blocking=False) -> Tensor", 13, to},
    {"aten::_cast_Char(Tensor self, bool non_blocking=False) -> Tensor", 13, to},
    {"aten::_cast_Double(Tensor self, bool non_blocking=False) -> Tensor", 13, to},
    {"aten::_cast_Float(Tensor self, bool non_blocking=False) -> Tensor", 13, to},
    {"aten::_cast_Half(Tensor self, bool non_blocking=False) -> Tensor", 13, to},
    {"aten::_cast_Int(Tensor self, bool non_blocking=False) -> Tensor", 13, to},
    {"aten::_cast_Long(Tensor self, bool non_blocking=False) -> Tensor", 13, to},
    {"aten::_cast_Short(Tensor self, bool non_blocking=False) -> Tensor", 13, to},
    {"aten::_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None, bool non_blocking=False, MemoryFormat? "
     "memory_format=None) -> Tensor",
     13, to},
    {"aten::alias(Tensor(a) self) -> Tensor(a)", 13, same},
    {"aten::alias_copy(Tensor self) -> Tensor", 13, same},
    {"aten::clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", 13, same},
    {"aten::conj(Tensor(a) self) -> Tensor(a)", 13, same},
    {"aten::conj_physical(Tensor self) -> Tensor", 13, same},
    {"aten::contiguous(Tensor(a) self, *, MemoryFormat memory_format=0) -> Tensor(a)", 13, same},
    {"aten::cpu(Tensor(a) self) -> Tensor(b|a)", 13, same},
    {"aten::cuda(Tensor(a) self) -> Tensor(b|a)", 13, same},
    {"aten::data(Tensor self) -> Tensor", 13, same},
    {"aten::detach(Tensor(a) self) -> Tensor(a)", 13, same},
    {"aten::detach_copy(Tensor self) -> Tensor", 13, same},
    {"aten::lift(Tensor self) -> Tensor", 13, same},
    {"aten::lift_fresh(Tensor(a) self) -> Tensor(a)", 13, same},
    {"aten::lift_fresh_copy(Tensor self) -> Tensor", 13, same},
    {"aten::pin_memory(Tensor(a) self, Device? device=None) -> Tensor(a)", 13, same},
    {"aten::positive(Tensor(a) self) -> Tensor(a)", 13, same},
    {"aten::resolve_conj(Tensor(a) self) -> Tensor(a)", 13, same},
    {"aten::resolve_neg(Tensor(a) self) -> Tensor(a)", 13, same},
    {"aten::to.device(Tensor(a) self, Device device, ScalarType dtype, bool non_blocking=False, "
     "bool "
     "copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
     13, to},
    {"aten::to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, "
     "MemoryFormat? memory_format=None) -> Tensor(a)",
     13, to},
    {"aten::to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, "
     "Device? "
     "device=None, bool? pin_memory=None, bool non_blocking=False, bool copy=False, MemoryFormat? "
     "memory_format=None) -> Tensor(a)",
     13, to},
    {"aten::to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, "
     "MemoryFormat? memory_format=None) -> Tensor(a)",
     13, to},
    {"aten::to.prim_Device(Tensor(a) self, Device? device, int? dtype=None, bool "
     "non_blocking=False, bool copy=False) -> Tensor(b|a)",
     13, to},
    {"aten::to.prim_dtype(Tensor(a) self, int? dtype=None, bool non_blocking=False, bool "
     "copy=False) -> Tensor(b|a)",
     13, to},
    {"aten::to.prim_other(Tensor(a) self, bool non_blocking=False, bool copy=False) -> Tensor(b|a)",
     13, to},
    {"aten::type_as(Tensor self, Tensor other) -> Tensor", 13, to},
    {"aten::real(Tensor(a) self) -> Tensor(a)", 13, same},
};

}  // namespace

std::span<const Row> casting_rows() { return kRows; }

}  // namespace sardonyx::aten
