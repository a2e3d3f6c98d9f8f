#include "frontends/live/python.h"

namespace sardonyx::live {
namespace {

PyObject* intern(const char* name) {
  PyObject* interned = PyUnicode_InternFromString(name);
  if (!interned) nb::raise_python_error();
  return interned;
}

PyObject* look_up(const char* module, const char* name) {
  return nb::object(nb::module_::import_(module).attr(name)).release().ptr();
}

}  // namespace

Names::Names() {
#define SARDONYX_NAME(field, name) field = intern(name);
  SARDONYX_NAMES(SARDONYX_NAME)
#undef SARDONYX_NAME
  // `args` is a Python property over `_args` in the versions that have both.
  const nb::object type_of_node = nb::module_::import_("torch.fx").attr("Node");
  if (!nb::hasattr(type_of_node, "_args") || !nb::hasattr(type_of_node, "_kwargs")) {
    args = intern("args");
    kwargs = intern("kwargs");
  }
}

const Names& names() {
  static const Names* const kNames = new Names;  // outlives the interpreter's own teardown
  return *kNames;
}

Classes::Classes()
    : tensor(look_up("torch", "Tensor")),
      parameter(look_up("torch.nn", "Parameter")),
      buffer(look_up("torch.nn", "Buffer")),
      fake_tensor(look_up("torch._subclasses.fake_tensor", "FakeTensor")),
      sym_int(look_up("torch", "SymInt")),
      sym_float(look_up("torch", "SymFloat")),
      sym_bool(look_up("torch", "SymBool")),
      fx_node(look_up("torch.fx", "Node")),
      graph_module(look_up("torch.fx", "GraphModule")),
      op_overload(look_up("torch._ops", "OpOverload")),
      higher_order(look_up("torch._ops", "HigherOrderOperator")),
      dtype(look_up("torch", "dtype")),
      device(look_up("torch", "device")),
      layout(look_up("torch", "layout")),
      memory_format(look_up("torch", "memory_format")),
      getitem(look_up("_operator", "getitem")) {}

const Classes& classes() {
  static const Classes* const kClasses = new Classes;
  return *kClasses;
}

std::string str_of(nb::handle object) {
  const nb::object written = nb::steal(PyObject_Str(object.ptr()));
  if (!written.is_valid()) nb::raise_python_error();
  return std::string(text(written));
}

std::string type_text(nb::handle object) {
  const nb::object type = nb::borrow(reinterpret_cast<PyObject*>(Py_TYPE(object.ptr())));
  return str_of(type.attr("__module__")) + "." + str_of(type.attr("__qualname__"));
}

bool flag_of(nb::handle object, const char* attribute) {
  return PyObject_IsTrue(nb::object(object.attr(attribute)).ptr()) == 1;
}

}  // namespace sardonyx::live
