#include "graph_building.h"

#include <fmt/format.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/diagnostic.h"
#include "bindings.h"
#include "onnx/operators/operator.h"
#include "proto/reader/function.h"
#include "sizes.h"

namespace sardonyx::bindings {
namespace nb = nanobind;
using namespace nb::literals;

onnx::Emit& Building::emit() const {
  if (!onnx) throw nb::value_error("nodes are added while a translator runs, and none does");
  return *onnx;
}

onnx::Value BuildingValue::checked() const {
  if (!building->open) throw nb::value_error("the conversion that this value belongs to is over");
  return value;
}

nb::object to_python(onnx::Value value, const std::shared_ptr<Building>& building) {
  return value ? nb::cast(BuildingValue{value, building}) : nb::none();
}

onnx::Value from_python(nb::handle object, const Building& building) {
  if (object.is_none()) return {};
  const BuildingValue* held = nullptr;
  if (nb::try_cast(object, held) && held) {
    if (held->building.get() != &building) {
      base::fail("SX1305", "a value of another conversion stands in this one");
    }
    return held->checked();
  }
  return {};
}

namespace {

bool is_value(nb::handle object) { return nb::isinstance<BuildingValue>(object); }

// The type that a number has among the other inputs: that of one with the same type parameter.
base::DType dtype_among(const onnx::OperatorVersion* version, std::size_t index,
                        const onnx::Values& inputs) {
  const onnx::Formal* own = version ? version->input(index) : nullptr;
  if (!own) return base::DType::kUndefined;
  for (std::size_t i = 0; i < inputs.size() && !own->type_parameter.empty(); ++i) {
    const onnx::Formal* other = version->input(i);
    if (inputs[i] && other && other->type_parameter == own->type_parameter) {
      return inputs[i].dtype();
    }
  }
  // A type of its own, where there is but one.
  for (int number = 1; number <= static_cast<int>(base::kLastDType); ++number) {
    const auto dtype = static_cast<base::DType>(number);
    if (own->dtypes == onnx::dtype_bit(dtype)) return dtype;
  }
  return base::DType::kUndefined;
}

onnx::Values inputs_of(onnx::Emit& onnx, const Building& building,
                       const onnx::OperatorVersion* version, nb::handle given) {
  onnx::Values inputs;
  std::vector<nb::handle> objects;
  for (const nb::handle object : nb::iter(given)) {
    inputs.push_back(from_python(object, building));
    objects.push_back(object);
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (objects[i].is_none() || is_value(objects[i])) continue;
    inputs[i] = literal(onnx, objects[i], dtype_among(version, i, inputs));
  }
  return inputs;
}

nb::list node(const Emitter& self, const std::string& given_domain, const std::string& op_type,
              nb::handle inputs, const nb::dict& attributes, std::size_t outputs,
              std::optional<std::int64_t> version, const nb::dict& metadata) {
  onnx::Emit& onnx = self.building->emit();
  const std::string domain = given_domain == "ai.onnx" ? "" : given_domain;
  const onnx::Operator* op = domain.empty() ? onnx::find_operator(op_type) : nullptr;
  if (domain.empty() && !op) base::fail("SX1305", "ONNX has no operator " + op_type);
  const onnx::OperatorVersion* schema = op ? op->at(onnx.named_opset()) : nullptr;
  std::vector<onnx::Attribute> converted;
  for (const auto& [key, value] : attributes) {
    if (value.is_none()) continue;
    const std::string name = nb::str(key).c_str();
    converted.push_back(attribute_of(name, value, schema ? schema->attribute(name) : nullptr));
  }
  if (!domain.empty()) onnx.use_domain(domain, version);
  const onnx::Values values =
      onnx.node(domain, op_type, inputs_of(onnx, *self.building, schema, inputs),
                std::move(converted), outputs);
  nb::list result;
  for (const onnx::Value value : values) result.append(to_python(value, self.building));
  if (!values.empty() && values[0]->producer) {
    for (const auto& [key, value] : metadata) {
      values[0]->producer->metadata.emplace_back(nb::str(key).c_str(), nb::str(value).c_str());
    }
  }
  return result;
}

void add_function(const Emitter& self, const nb::bytes& message,
                  std::optional<std::int64_t> version) {
  onnx::Emit& onnx = self.building->emit();
  const onnx::Function& function =
      proto::add_function(onnx.model(), {message.c_str(), message.size()}, onnx.named_opset());
  onnx.use_domain(function.domain, version);
}

// Until end_body() nodes go into a graph below the present one.
Body begin_body(const Emitter& self, const std::string& name) {
  return {self.building->emit().begin_body(name), self.building};
}

// An input like `like`: of its type, without one of its axes where the body gets slices of it.
nb::object body_input(const Emitter& self, const std::string& name, nb::handle like,
                      std::optional<std::int64_t> without_axis) {
  onnx::Emit& onnx = self.building->emit();
  onnx::Value value = from_python(like, *self.building);
  if (!value) value = literal(onnx, like, base::DType::kUndefined);
  onnx::Value input = onnx.body_input(name, value.dtype(), {});
  input->has_rank = value.has_rank();
  if (!value.has_rank()) return to_python(input, self.building);
  input->shape = value.shape();
  if (!without_axis) return to_python(input, self.building);
  const auto rank = static_cast<std::int64_t>(input->shape.size());
  const std::int64_t axis = *without_axis < 0 ? *without_axis + rank : *without_axis;
  if (axis < 0 || axis >= rank) {
    base::fail("SX1305", fmt::format("there is no axis {} in what Scan goes along", *without_axis));
  }
  input->shape.erase(input->shape.begin() + axis);
  return to_python(input, self.building);
}

nb::object body_scalar(const Emitter& self, const std::string& name, int dtype) {
  const onnx::Value input =
      self.building->emit().body_input(name, static_cast<base::DType>(dtype), {});
  return to_python(input, self.building);
}

void end_body(const Emitter& self, nb::handle results) {
  onnx::Emit& onnx = self.building->emit();
  onnx::Values values;
  for (const nb::handle item : nb::iter(results)) {
    onnx::Value value = from_python(item, *self.building);
    values.push_back(value ? value : literal(onnx, item, base::DType::kUndefined));
  }
  onnx.end_body(values);
}

void set_type(const BuildingValue& self, std::optional<int> dtype, nb::handle shape) {
  const onnx::Value value = self.checked();
  if (value->constant) return;
  if (dtype) value->dtype = static_cast<base::DType>(*dtype);
  if (shape.is_none()) return;
  value->has_rank = true;
  value->shape.clear();
  for (const nb::handle dim : nb::iter(shape)) {
    value->shape.push_back(PyLong_Check(dim.ptr()) ? symbolic::Expr(nb::cast<std::int64_t>(dim))
                                                   : symbolic::Expr());
  }
}

nb::object shape_of(const BuildingValue& self) {
  const onnx::Value value = self.checked();
  if (!value.has_rank()) return nb::none();
  return sizes_of(value.shape());
}

nb::object elements_of(const BuildingValue& self) {
  const onnx::Value value = self.checked();
  const onnx::Tensor* tensor = value.constant();
  if (!tensor || tensor->missing) return nb::none();
  if (const auto ints = tensor->ints()) return nb::cast(*ints);
  if (const auto reals = tensor->reals()) return nb::cast(*reals);
  return nb::none();
}

// An attribute as Python has it; None of tensors, bodies and what is carried through.
nb::object python_of(const onnx::Attribute::Data& data) {
  return std::visit(
      [](const auto& held) -> nb::object {
        using Held = std::decay_t<decltype(held)>;
        constexpr bool is_plain =
            std::is_same_v<Held, std::int64_t> || std::is_same_v<Held, float> ||
            std::is_same_v<Held, std::string> || std::is_same_v<Held, std::vector<std::int64_t>> ||
            std::is_same_v<Held, std::vector<float>> ||
            std::is_same_v<Held, std::vector<std::string>>;
        if constexpr (is_plain) return nb::cast(held);
        if constexpr (std::is_same_v<Held, base::DType>) return nb::cast(static_cast<int>(held));
        return nb::none();
      },
      data);
}

// The node that a value comes of: domain, operator, inputs, outputs, attributes by name. None of
// inputs and constants.
nb::object producer_of(const BuildingValue& self) {
  const onnx::Node* node = self.checked()->producer;
  if (node == nullptr) return nb::none();
  nb::list inputs, outputs;
  for (onnx::ValueInfo* input : node->inputs) inputs.append(to_python(input, self.building));
  for (onnx::ValueInfo* output : node->outputs) outputs.append(to_python(output, self.building));
  nb::dict attributes;
  for (const onnx::Attribute& attribute : node->attributes)
    attributes[nb::cast(attribute.name)] = python_of(attribute.data);
  return nb::make_tuple(node->domain, node->op_type, inputs, outputs, attributes);
}

// What an operator of ONNX is at an opset: names of inputs, whether the last may repeat, how many
// outputs there must be, names of attributes. None where there is no such operator.
nb::object signature(const std::string& op_type, std::int64_t opset) {
  const onnx::Operator* op = onnx::find_operator(op_type);
  const onnx::OperatorVersion* version = op ? op->at(opset) : nullptr;
  if (!version) return nb::none();
  nb::list inputs, attributes;
  for (const onnx::Formal& formal : version->inputs) {
    inputs.append(nb::str(formal.name.data(), formal.name.size()));
  }
  for (const onnx::AttributeFormal& formal : version->attributes) {
    attributes.append(nb::str(formal.name.data(), formal.name.size()));
  }
  return nb::make_tuple(inputs, version->max_inputs == onnx::OperatorVersion::kMany,
                        version->min_outputs, attributes);
}

// `x + 1` adds a node.
nb::object arithmetic(const char* op_type, nb::handle left, nb::handle right) {
  const BuildingValue& self = nb::cast<const BuildingValue&>(is_value(left) ? left : right);
  const onnx::Values values = self.building->emit().node(
      "", op_type,
      inputs_of(self.building->emit(), *self.building,
                onnx::find_operator(op_type)->at(self.building->emit().named_opset()),
                nb::make_tuple(left, right)),
      {}, 1);
  return to_python(values.at(0), self.building);
}

void bind_arithmetic(nb::class_<BuildingValue>& value) {
  struct Operator {
    const char *method, *reflected, *op_type;
  };
  constexpr Operator kOperators[] = {
      {"__add__", "__radd__", "Add"},
      {"__sub__", "__rsub__", "Sub"},
      {"__mul__", "__rmul__", "Mul"},
      {"__truediv__", "__rtruediv__", "Div"},
      {"__matmul__", "__rmatmul__", "MatMul"},
      {"__pow__", "__rpow__", "Pow"},
      {"__lt__", nullptr, "Less"},
      {"__le__", nullptr, "LessOrEqual"},
      {"__gt__", nullptr, "Greater"},
      {"__ge__", nullptr, "GreaterOrEqual"},
      {"__and__", "__rand__", "And"},
      {"__or__", "__ror__", "Or"},
  };
  for (const Operator& op : kOperators) {
    const char* const type = op.op_type;
    value.def(op.method,
              [type](nb::handle self, nb::handle other) { return arithmetic(type, self, other); });
    if (!op.reflected) continue;
    value.def(op.reflected,
              [type](nb::handle self, nb::handle other) { return arithmetic(type, other, self); });
  }
  value.def("__neg__", [](const BuildingValue& self) {
    const onnx::Value operand = self.checked();
    return to_python(self.building->emit().node("", "Neg", {&operand, 1}, {}, 1).at(0),
                     self.building);
  });
}

}  // namespace

void bind_graph_building(nb::module_& module) {
  nb::class_<BuildingValue> graph_value(module, "Value",
                                        "A value of the ONNX graph that is being built.");
  bind_arithmetic(graph_value);
  graph_value.def_prop_ro("name", [](const BuildingValue& self) { return self.checked()->name; })
      .def_prop_ro(
          "dtype",
          [](const BuildingValue& self) { return static_cast<int>(self.checked().dtype()); })
      .def_prop_ro("shape", &shape_of)
      .def_prop_ro("is_complex",
                   [](const BuildingValue& self) { return self.checked().is_complex(); })
      .def_prop_ro("is_constant",
                   [](const BuildingValue& self) { return self.checked().is_constant(); })
      .def_prop_ro("elements", &elements_of)
      .def_prop_ro("producer", &producer_of)
      .def("set_type", &set_type, "dtype"_a.none(), "shape"_a.none())
      .def("__repr__", [](const BuildingValue& self) {
        return fmt::format("Value({}, {}, {})", self.checked()->name,
                           base::dtype_name(self.value.dtype()), nb::repr(shape_of(self)).c_str());
      });
  nb::class_<Body>(module, "Body", "The body of an If, Loop or Scan.");
  nb::class_<Emitter>(module, "Emitter", "Adds nodes to the graph that is being built.")
      .def_prop_ro("opset", [](const Emitter& self) { return self.building->emit().named_opset(); })
      .def("node", &node, "domain"_a, "op_type"_a, "inputs"_a, "attributes"_a, "outputs"_a,
           "version"_a.none(), "metadata"_a)
      .def(
          "constant",
          [](const Emitter& self, nb::handle value, std::optional<int> dtype) {
            return to_python(
                literal(self.building->emit(), value, static_cast<base::DType>(dtype.value_or(0))),
                self.building);
          },
          "value"_a, "dtype"_a.none())
      .def("begin_body", &begin_body, "name"_a)
      .def("body_input", &body_input, "name"_a, "like"_a, "without_axis"_a.none())
      .def("body_scalar", &body_scalar, "name"_a, "dtype"_a)
      .def("end_body", &end_body, "results"_a)
      .def("add_function", &add_function, "message"_a, "version"_a.none());
  module.def("signature", &signature, "op_type"_a, "opset"_a);
}

}  // namespace sardonyx::bindings
