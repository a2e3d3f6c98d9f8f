// Arguments of nodes: Python objects as the program's own.
#include <complex>
#include <utility>

#include "frontends/live/python.h"
#include "frontends/live/tensors.h"
#include "frontends/live/walker.h"

namespace sardonyx::live {

using program::Argument;
using program::List;

Argument Walker::argument(nb::handle object) {
  PyObject* const held = object.ptr();
  const Classes& known = classes();
  if (reinterpret_cast<PyObject*>(Py_TYPE(held)) == known.fx_node) return node_argument(object);
  if (object.is_none()) return {};
  if (PyBool_Check(held)) return held == Py_True;
  if (PyLong_Check(held)) return integer_expression(object);
  if (PyFloat_Check(held)) return PyFloat_AsDouble(held);
  if (PyTuple_Check(held) || PyList_Check(held)) return list(object);
  if (PyUnicode_Check(held)) return std::string(text(object));
  if (is_a(object, known.dtype)) return dtype_of(object);
  if (is_a(object, known.device)) return program::Enumerator{str_of(object)};
  if (is_a(object, known.layout) || is_a(object, known.memory_format)) {
    return program::Enumerator{str_of(object).substr(sizeof("torch.") - 1)};
  }
  if (is_a(object, known.sym_int) || is_a(object, known.sym_float) ||
      is_a(object, known.sym_bool)) {
    return sizes_.of(object);
  }
  if (PyComplex_Check(held)) {
    return std::complex<double>(PyComplex_RealAsDouble(held), PyComplex_ImagAsDouble(held));
  }
  if (PyDict_Check(held)) return program::Opaque{"a dictionary"};
  if (is_a(object, known.op_overload) || is_a(object, known.higher_order)) {
    return program::Opaque{targets_.name(object)};
  }
  return program::Opaque{str_of(object)};
}

List Walker::list(nb::handle sequence) {
  List items;
  items.reserve(nb::len(sequence));
  if (PyTuple_Check(sequence.ptr())) {
    const Py_ssize_t count = NB_TUPLE_GET_SIZE(sequence.ptr());
    for (Py_ssize_t i = 0; i < count; ++i) {
      items.push_back(argument(NB_TUPLE_GET_ITEM(sequence.ptr(), i)));
    }
    return items;
  }
  const Py_ssize_t count = NB_LIST_GET_SIZE(sequence.ptr());
  for (Py_ssize_t i = 0; i < count; ++i) {
    items.push_back(argument(NB_LIST_GET_ITEM(sequence.ptr(), i)));
  }
  return items;
}

Argument Walker::node_argument(nb::handle node) {
  if (const auto found = nodes_.find(node.ptr()); found != nodes_.end()) {
    if (program::Value* const* value = found->second.get<program::Value*>()) {
      return reference(*value);
    }
    return found->second;
  }
  const nb::object op = get(node, names().op);
  if (text(op) == "get_attr") return attribute(node);
  base::fail("SX1223", "the program reads node " + str_of(node) + " before it is computed");
}

// A body of control flow, or a tensor that export left on the module instead of lifting it.
Argument Walker::attribute(nb::handle get_attr) {
  const nb::object target = get(get_attr, names().target);
  nb::object held = get(get(get_attr, names().graph), names().owning_module);
  const std::string name(text(target));
  for (std::size_t start = 0; start <= name.size();) {
    const std::size_t end = std::min(name.find('.', start), name.size());
    held = held.attr(name.substr(start, end - start).c_str());
    start = end + 1;
  }
  if (is_a(held, classes().graph_module)) return graph(held, name);
  if (!is_a(held, classes().tensor)) return program::Opaque{str_of(held)};

  // A constant of the main graph from here on.
  program::Value* made = value(name, held);
  made->weight = weights_.add(name, held);
  lifted_.push_back(made);
  nodes_[get_attr.ptr()] = made;
  return made;
}

}  // namespace sardonyx::live
