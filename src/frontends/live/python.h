// The Python C API as the live walk uses it: attributes by interned name, classes looked up once.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "symbolic/expr.h"

namespace sardonyx::live {

namespace nb = nanobind;

// Attribute names, interned so that a look-up compares pointers: the field, then the Python name.
#define SARDONYX_NAMES(X)                   \
  X(_expr, "_expr")                         \
  X(args, "_args")                          \
  X(constants, "constants")                 \
  X(dtype, "dtype")                         \
  X(expr, "expr")                           \
  X(forward_arg_names, "forward_arg_names") \
  X(graph, "graph")                         \
  X(graph_module, "graph_module")           \
  X(graph_signature, "graph_signature")     \
  X(in_spec, "in_spec")                     \
  X(input_specs, "input_specs")             \
  X(kind, "kind")                           \
  X(kwargs, "_kwargs")                      \
  X(layout, "layout")                       \
  X(lower, "lower")                         \
  X(meta, "meta")                           \
  X(module_call_graph, "module_call_graph") \
  X(module_name, "__module__")              \
  X(name, "name")                           \
  X(name_of_function, "__name__")           \
  X(nn_module_stack, "nn_module_stack")     \
  X(node, "node")                           \
  X(nodes, "nodes")                         \
  X(op, "op")                               \
  X(out_spec, "out_spec")                   \
  X(output_specs, "output_specs")           \
  X(owning_module, "owning_module")         \
  X(persistent, "persistent")               \
  X(qualname, "__qualname__")               \
  X(range_constraints, "range_constraints") \
  X(schema, "_schema")                      \
  X(shape, "shape")                         \
  X(signature, "signature")                 \
  X(stack_trace, "stack_trace")             \
  X(state_dict, "state_dict")               \
  X(stride, "stride")                       \
  X(target, "target")                       \
  X(upper, "upper")                         \
  X(users, "users")                         \
  X(val, "val")

struct Names {
  Names();

#define SARDONYX_FIELD(field, name) PyObject* field;
  SARDONYX_NAMES(SARDONYX_FIELD)
#undef SARDONYX_FIELD
};
const Names& names();

// The classes that the walk tells apart.
struct Classes {
  Classes();

  PyObject *tensor, *parameter, *buffer, *fake_tensor, *sym_int, *sym_float, *sym_bool, *fx_node,
      *graph_module, *op_overload, *higher_order, *dtype, *device, *layout, *memory_format,
      *getitem;
};
const Classes& classes();

inline bool is_a(nb::handle object, PyObject* type) {
  if (reinterpret_cast<PyObject*>(Py_TYPE(object.ptr())) == type) return true;
  const int result = PyObject_IsInstance(object.ptr(), type);
  if (result < 0) nb::raise_python_error();
  return result == 1;
}

inline nb::object get(nb::handle object, PyObject* name) {
  PyObject* value = PyObject_GetAttr(object.ptr(), name);
  if (!value) nb::raise_python_error();
  return nb::steal<nb::object>(value);
}

// The entry of a dictionary, borrowed; null when there is none.
inline nb::handle entry(nb::handle dictionary, PyObject* key) {
  PyObject* value = PyDict_GetItemWithError(dictionary.ptr(), key);
  if (!value && PyErr_Occurred()) nb::raise_python_error();
  return value;
}

// The text of a str object, valid as long as the object is.
inline std::string_view text(nb::handle object) {
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(object.ptr(), &size);
  if (!data) nb::raise_python_error();
  return {data, static_cast<std::size_t>(size)};
}

// Of an int that fits 64 bits; otherwise an OverflowError.
inline std::int64_t integer(nb::handle object) {
  const long long value = PyLong_AsLongLong(object.ptr());
  if (value == -1 && PyErr_Occurred()) nb::raise_python_error();
  return value;
}

// Unknown beyond 64 bits, where assertions about products of sizes reach.
inline symbolic::Expr integer_expression(nb::handle object) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
  if (overflow != 0) return {};
  if (value == -1 && PyErr_Occurred()) nb::raise_python_error();
  return symbolic::Expr(static_cast<std::int64_t>(value));
}

// Passes every item of an iterable to `visit`. Not nanobind's iterators: those ask once more after
// the end, where PyTorch's iterator over the nodes of a graph starts again.
template <class Visit>
void each(nb::handle iterable, const Visit& visit) {
  const nb::object iterator = nb::steal(PyObject_GetIter(iterable.ptr()));
  if (!iterator.is_valid()) nb::raise_python_error();
  while (PyObject* item = PyIter_Next(iterator.ptr())) visit(nb::steal(item));
  if (PyErr_Occurred()) nb::raise_python_error();
}

// Calls a method without arguments.
inline nb::object call(nb::handle object, PyObject* method) {
  PyObject* const self = object.ptr();  // CallMethodNoArgs is no part of the stable ABI
  PyObject* value = PyObject_VectorcallMethod(method, &self, 1, nullptr);
  if (!value) nb::raise_python_error();
  return nb::steal<nb::object>(value);
}

// str(object)
std::string str_of(nb::handle object);
// Whether an attribute of the object is true.
bool flag_of(nb::handle object, const char* attribute);
// The type's name, for messages: "torch.sparse.FloatTensor".
std::string type_text(nb::handle object);

}  // namespace sardonyx::live
