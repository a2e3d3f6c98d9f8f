// The nodes of a graph module, in order.
#include <utility>

#include "frontends/live/python.h"
#include "frontends/live/tensors.h"
#include "frontends/live/walker.h"
#include "program/ir/compared_sizes.h"
#include "program/ir/strides.h"

namespace sardonyx::live {

using program::Argument;
using program::List;
using program::Value;
using program::ValueKind;

namespace {

bool is_sequence(nb::handle object) {
  return PyTuple_Check(object.ptr()) || PyList_Check(object.ptr());
}

bool is_plain(nb::handle object) {
  PyObject* const held = object.ptr();
  return object.is_none() || PyLong_Check(held) || PyFloat_Check(held) || PyUnicode_Check(held);
}

bool is_tensor(nb::handle object) {
  return Py_TYPE(object.ptr()) == reinterpret_cast<PyTypeObject*>(classes().fake_tensor) ||
         is_a(object, classes().tensor);
}

// The first node that takes element `index` out of `producer`; invalid when none does.
nb::handle taking(nb::handle producer, nb::handle index) {
  const nb::object users = get(producer, names().users);
  PyObject *user = nullptr, *ignored = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(users.ptr(), &position, &user, &ignored)) {
    if (!get(user, names().target).is(classes().getitem)) continue;
    const nb::object arguments = get(user, names().args);
    const nb::object wanted = nb::borrow(NB_TUPLE_GET_ITEM(arguments.ptr(), 1));
    const int equal = PyObject_RichCompareBool(wanted.ptr(), index.ptr(), Py_EQ);
    if (equal < 0) nb::raise_python_error();
    if (equal != 0) return user;
  }
  return {};
}

}  // namespace

Walker::Walker(program::Program& program, const LeastSizes& least_sizes)
    : program_(program),
      least_sizes_(least_sizes),
      sizes_(*program.pool),
      sources_(program),
      targets_(program),
      weights_(program) {}

program::Graph* Walker::graph(nb::handle graph_module, std::string name) {
  std::vector<program::Element> outer = std::exchange(elements_, {});
  program::Graph* graph = program_.add_graph();
  graph->name = std::move(name);
  if (!program_.graph) program_.graph = graph;
  placeholders_.clear();
  // A list, because PyTorch's iterator starts again after its end, where nanobind asks once more.
  const nb::list nodes(get(get(graph_module, names().graph), names().nodes));
  std::vector<nb::object> own_placeholders;
  each(nodes, [&](const nb::object& node) {
    const nb::object op = get(node, names().op);
    const std::string_view kind = text(op);
    if (kind == "call_function") {
      call_function(node, *graph);
    } else if (kind == "placeholder") {
      placeholder(node, *graph);
      own_placeholders.push_back(node);
    } else if (kind == "output") {
      output(node, *graph);
    } else if (kind != "get_attr") {  // whose value is read where it is used
      base::fail("SX1223", "the program's graph holds a " + std::string(kind) + " node",
                 "only programs that torch.export made can be converted");
    }
  });
  placeholders_ = std::move(own_placeholders);
  program::drop_unread(*graph, std::exchange(elements_, std::move(outer)));
  return graph;
}

namespace {

// Sparse weights of coordinates are made dense where their bytes are asked for; other layouts have
// no strides, which torch.export's values would have to say.
void check_layout(std::string_view name, nb::handle value) {
  if (!nb::hasattr(value, names().layout)) return;
  const std::string layout = str_of(get(value, names().layout));
  if (layout == "torch.strided" || layout == "torch.sparse_coo") return;
  base::fail("SX1221", "'" + std::string(name) + "' is a tensor of layout " + layout,
             "make it dense before export, by to_dense()");
}

}  // namespace

void Walker::placeholder(nb::handle node, program::Graph& graph) {
  const nb::handle meta_value = entry(get(node, names().meta), names().val);
  const nb::object name = get(node, names().name);
  // A constant of the example (None, a number, a string) is no input.
  const bool is_constant = !meta_value.is_valid() || is_plain(meta_value);
  if (!is_constant) check_layout(text(name), meta_value);
  Value* made = is_constant ? nullptr : value(std::string(text(name)), meta_value);
  nodes_[node.ptr()] =
      made ? Argument(made) : argument(meta_value.is_valid() ? meta_value : nb::none());
  if (!made) {
    // Positions count in the inputs of a body; those of the main graph are in the signature.
    if (&graph != program_.graph) graph.inputs.push_back(nullptr);
    return;
  }
  made->index = static_cast<std::uint32_t>(graph.inputs.size());
  graph.inputs.push_back(made);
}

void Walker::call_function(nb::handle node, program::Graph& graph) {
  const nb::object target = get(node, names().target);
  if (target.is(classes().getitem)) return get_item(node);

  std::vector<Argument> positional;
  const nb::object arguments = get(node, names().args);
  const Py_ssize_t count = NB_TUPLE_GET_SIZE(arguments.ptr());
  positional.reserve(static_cast<std::size_t>(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    positional.push_back(argument(NB_TUPLE_GET_ITEM(arguments.ptr(), i)));
  }
  std::vector<program::NamedArgument> named;
  const nb::object keywords = get(node, names().kwargs);
  PyObject *key = nullptr, *item = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(keywords.ptr(), &position, &key, &item)) {
    named.push_back({std::string(text(key)), argument(item)});
  }

  program::Call* call = program_.add_call();
  const nb::object name = get(node, names().name);
  call->name = text(name);
  const nb::object meta = get(node, names().meta);
  call->source = sources_.of(meta);
  targets_.bind(target, std::move(positional), std::move(named), *call);
  const nb::handle meta_value = entry(meta, names().val);
  nodes_[node.ptr()] = results(node, meta_value.is_valid() ? meta_value : nb::none(), *call);
  graph.calls.push_back(call);
}

void Walker::get_item(nb::handle node) {
  const nb::object arguments = get(node, names().args);
  const nb::handle producer = NB_TUPLE_GET_ITEM(arguments.ptr(), 0);
  const nb::handle index = NB_TUPLE_GET_ITEM(arguments.ptr(), 1);
  const auto found = nodes_.find(producer.ptr());
  const List* elements = found == nodes_.end() ? nullptr : found->second.get<List>();
  if (elements && PyLong_Check(index.ptr())) {
    const std::int64_t size = static_cast<std::int64_t>(elements->size());
    std::int64_t position = integer(index);
    if (position < 0) position += size;
    if (position >= 0 && position < size) {
      Argument element = (*elements)[static_cast<std::size_t>(position)];
      nodes_[node.ptr()] = std::move(element);
      return;
    }
  }
  base::fail("SX1223", "the program's node " + str_of(node) + " takes element " + str_of(index) +
                           " of " + str_of(producer) + ", which has none");
}

void Walker::output(nb::handle node, program::Graph& graph) {
  const nb::object arguments = get(node, names().args);
  const nb::handle returned = NB_TUPLE_GET_ITEM(arguments.ptr(), 0);
  if (is_sequence(returned)) {
    graph.outputs = list(returned);
  } else {
    graph.outputs.push_back(argument(returned));
  }
}

Argument Walker::results(nb::handle node, nb::handle meta_value, program::Call& call) {
  const nb::object name = get(node, names().name);
  if (!is_sequence(meta_value)) return result(std::string(text(name)), meta_value, call);

  List elements;
  Py_ssize_t position = 0;
  each(meta_value, [&](const nb::object& item) {
    const nb::int_ index(position++);
    elements.push_back(element(node, index, item, std::string(text(name)), call));
  });
  return elements;
}

Argument Walker::element(nb::handle producer, nb::handle index, nb::handle meta_value,
                         std::string name, program::Call& call) {
  const nb::handle user = taking(producer, index);
  if (is_sequence(meta_value)) {
    if (user.is_valid()) return results(user, meta_value, call);
    // Nothing reads this list.
    for (std::size_t i = 0; i < nb::len(meta_value); ++i) call.outputs.push_back(nullptr);
    return List();
  }
  if (user.is_valid()) {
    const nb::object own = get(user, names().name);
    name = text(own);
  } else {
    name += "_unused_" + std::to_string(integer(index));
  }
  if (meta_value.is_none()) {
    call.outputs.push_back(nullptr);
    return {};
  }
  elements_.push_back({&call, call.outputs.size()});
  return result(std::move(name), meta_value, call);
}

Argument Walker::result(std::string name, nb::handle meta_value, program::Call& call) {
  Value* made = value(std::move(name), meta_value);
  if (!made) return {};
  program::restore_comparison(call, *program_.pool, *made);
  program::restore_extremum(call, *program_.pool, *made);
  program::check_quotient(call, *program_.pool, *made);
  made->producer = &call;
  made->index = static_cast<std::uint32_t>(call.outputs.size());
  call.outputs.push_back(made);
  return reference(made);
}

// Null where the captured value is None.
Value* Walker::value(std::string name, nb::handle meta_value) {
  if (!meta_value.is_valid() || meta_value.is_none()) return nullptr;
  Value* made = program_.add_value();
  made->name = std::move(name);
  const Classes& known = classes();
  if (is_tensor(meta_value)) {
    made->dtype = dtype_of(get(meta_value, names().dtype));
    sizes_.all_of(get(meta_value, names().shape), made->shape);
    sizes_.all_of(call(meta_value, names().stride), made->strides);
    program::drop_contiguous_strides(*made);
    return made;
  }
  if (PyBool_Check(meta_value.ptr()) || is_a(meta_value, known.sym_bool)) {
    made->kind = ValueKind::kBool;
  } else if (PyLong_Check(meta_value.ptr()) || is_a(meta_value, known.sym_int)) {
    made->kind = ValueKind::kInt;
  } else if (PyFloat_Check(meta_value.ptr()) || is_a(meta_value, known.sym_float)) {
    made->kind = ValueKind::kFloat;
  } else {
    made->kind = ValueKind::kObject;
    return made;
  }
  made->expr = sizes_.of(meta_value);
  return made;
}

Argument reference(Value* value) {
  if (value->expr.known() && value->kind != ValueKind::kTensor) return value->expr;
  return value;
}

}  // namespace sardonyx::live
