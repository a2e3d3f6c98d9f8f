// Python numbers, lists and strings as constants and attributes of ONNX.
#include <fmt/format.h>

#include <utility>

#include "base/diagnostic.h"
#include "graph_building.h"
#include "onnx/operators/operator.h"

namespace sardonyx::bindings {
namespace nb = nanobind;

using onnx::Attribute;
using onnx::AttributeKind;

namespace {

std::string class_name(nb::handle object) { return nb::inst_name(object).c_str(); }

bool is_list(nb::handle object) {
  return PyList_Check(object.ptr()) || PyTuple_Check(object.ptr());
}
bool is_bool(nb::handle object) { return PyBool_Check(object.ptr()); }
bool is_integer(nb::handle object) { return PyLong_Check(object.ptr()) || is_bool(object); }
bool is_number(nb::handle object) { return PyFloat_Check(object.ptr()) || is_integer(object); }
bool is_text(nb::handle object) {
  return PyUnicode_Check(object.ptr()) || PyBytes_Check(object.ptr());
}

std::int64_t integer(nb::handle object) {
  const long long value = PyLong_AsLongLong(object.ptr());
  if (value == -1 && PyErr_Occurred()) nb::raise_python_error();
  return value;
}

double number(nb::handle object) {
  const double value = PyFloat_AsDouble(object.ptr());
  if (value == -1.0 && PyErr_Occurred()) nb::raise_python_error();
  return value;
}

std::string text(nb::handle object) {
  if (PyBytes_Check(object.ptr())) {
    return {PyBytes_AsString(object.ptr()), static_cast<std::size_t>(PyBytes_Size(object.ptr()))};
  }
  return nb::cast<nb::str>(object).c_str();
}

template <class T, class Read>
std::vector<T> each(nb::handle list, const Read& read) {
  std::vector<T> values;
  for (const nb::handle item : nb::iter(list)) values.push_back(static_cast<T>(read(item)));
  return values;
}

bool all(nb::handle list, bool (*is)(nb::handle)) {
  for (const nb::handle item : nb::iter(list)) {
    if (!is(item)) return false;
  }
  return true;
}

base::DType natural_dtype(nb::handle object) {
  if (is_list(object)) {
    base::DType found = base::DType::kInt64;
    bool first = true;
    for (const nb::handle item : nb::iter(object)) {
      const base::DType own = natural_dtype(item);
      if (first || own == base::DType::kFloat32) found = own;
      first = false;
    }
    return found;
  }
  if (is_bool(object)) return base::DType::kBool;
  return is_integer(object) ? base::DType::kInt64 : base::DType::kFloat32;
}

void store(base::DType dtype, nb::handle object, std::byte* at) {
  if (base::is_floating(dtype)) return onnx::store_real(dtype, number(object), at);
  if (PyFloat_Check(object.ptr())) {
    base::fail("SX1305", fmt::format("{} is no {}", number(object), base::dtype_name(dtype)),
               "cast the other operand, or write an integer");
  }
  onnx::store_int(dtype, integer(object), at);
}

[[noreturn]] void no_attribute(const std::string& name, nb::handle value) {
  base::fail("SX1305", fmt::format("attribute '{}' is a {}", name, class_name(value)),
             "attributes are ints, floats, bools, strings, lists of those, and tensors");
}

// The Tensor that sardonyx._translate.constants makes of tensors and arrays.
bool is_tensor(nb::handle object) { return nb::hasattr(object, "onnx_dtype"); }

onnx::Tensor tensor_of(nb::handle object) {
  const auto dtype = static_cast<base::DType>(nb::cast<int>(object.attr("onnx_dtype")));
  std::vector<std::int64_t> dims;
  for (const nb::handle dim : nb::iter(object.attr("dims"))) dims.push_back(integer(dim));
  const nb::bytes data = nb::cast<nb::bytes>(object.attr("data"));
  return onnx::Tensor::of_bytes(dtype, std::move(dims),
                                {reinterpret_cast<const std::byte*>(data.c_str()), data.size()});
}

Attribute::Data list_data(const std::string& name, nb::handle value, AttributeKind kind) {
  if (kind == AttributeKind::kFloats && all(value, is_number)) return each<float>(value, number);
  if (all(value, is_integer)) return each<std::int64_t>(value, integer);
  if (all(value, is_number)) return each<float>(value, number);
  if (all(value, is_text)) return each<std::string>(value, text);
  no_attribute(name, value);
}

Attribute::Data data_of(const std::string& name, nb::handle value, AttributeKind kind) {
  if (const Body* body = nullptr; nb::try_cast(value, body) && body) return body->graph;
  if (is_list(value)) return list_data(name, value, kind);
  if (is_tensor(value)) return std::make_shared<const onnx::Tensor>(tensor_of(value));
  if (is_text(value)) return text(value);
  if (!is_number(value)) no_attribute(name, value);
  if (kind == AttributeKind::kFloats) return std::vector<float>{static_cast<float>(number(value))};
  if (kind == AttributeKind::kFloat || PyFloat_Check(value.ptr())) {
    return static_cast<float>(number(value));
  }
  if (kind == AttributeKind::kInts) return std::vector<std::int64_t>{integer(value)};
  return integer(value);
}

AttributeKind kind_of(const Attribute::Data& data) {
  if (std::holds_alternative<std::int64_t>(data)) return AttributeKind::kInt;
  if (std::holds_alternative<float>(data)) return AttributeKind::kFloat;
  if (std::holds_alternative<std::string>(data)) return AttributeKind::kString;
  if (std::holds_alternative<onnx::Graph*>(data)) return AttributeKind::kGraph;
  if (std::holds_alternative<std::vector<std::int64_t>>(data)) return AttributeKind::kInts;
  if (std::holds_alternative<std::vector<float>>(data)) return AttributeKind::kFloats;
  if (std::holds_alternative<std::vector<std::string>>(data)) return AttributeKind::kStrings;
  return AttributeKind::kTensor;
}

}  // namespace

onnx::Value literal(onnx::Emit& onnx, nb::handle object, base::DType dtype) {
  if (is_tensor(object)) return onnx.constant(tensor_of(object));
  const bool list = is_list(object);
  if (!(list ? all(object, is_number) : is_number(object))) {
    base::fail(
        "SX1305",
        fmt::format("a {} stands where a value of the graph is expected", class_name(object)),
        "translators take and give values of the graph, numbers and tensors");
  }
  if (dtype == base::DType::kUndefined) dtype = natural_dtype(object);
  const std::size_t count = list ? nb::len(object) : 1;
  const auto width = static_cast<std::size_t>(base::byte_size(dtype, 1));
  std::vector<std::byte> bytes(count * width);
  if (list) {
    std::size_t i = 0;
    for (const nb::handle item : nb::iter(object)) store(dtype, item, &bytes[width * i++]);
  } else {
    store(dtype, object, bytes.data());
  }
  std::vector<std::int64_t> dims;
  if (list) dims.push_back(static_cast<std::int64_t>(count));
  return onnx.constant(onnx::Tensor::of_bytes(dtype, std::move(dims), bytes));
}

Attribute attribute_of(const std::string& name, nb::handle value,
                       const onnx::AttributeFormal* formal) {
  const AttributeKind wanted = formal ? formal->kind : AttributeKind::kOther;
  Attribute attribute{name, data_of(name, value, wanted), {}};
  const bool empty_list = is_list(value) && nb::len(value) == 0;
  if (formal && wanted != AttributeKind::kOther && kind_of(attribute.data) != wanted &&
      !empty_list) {
    base::fail("SX1305", fmt::format("attribute '{}' cannot be a {}", name, class_name(value)));
  }
  return attribute;
}

}  // namespace sardonyx::bindings
