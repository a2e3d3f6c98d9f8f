#include "translators.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <utility>

#include "aten/complex/value.h"
#include "base/diagnostic.h"

namespace sardonyx::bindings {
namespace nb = nanobind;

namespace {

using aten::Call;
using program::Argument;

nb::object expression(const Call& call, onnx::Emit& onnx, symbolic::Expr expr,
                      const std::shared_ptr<Building>& building) {
  if (!expr.known()) call.refuse("an argument is a number that nothing tells");
  if (expr.is_constant()) return nb::cast(expr.value());
  if (expr.kind() == symbolic::Kind::kReal) return nb::cast(expr.real());
  if (expr.is_boolean()) return to_python(onnx.condition(expr), building);
  if (expr.is_float()) return to_python(onnx.real_size(expr, base::DType::kFloat32), building);
  return to_python(onnx.size(expr), building);
}

// An int of a type of its own, which other integers do not have.
nb::object element_number(base::DType dtype) {
  return nb::module_::import_("sardonyx._base.element_types")
      .attr("ElementNumber")(static_cast<int>(dtype));
}

// Tensors and symbolic numbers as values of the graph, everything else as Python has it; data types
// as ONNX's numbers.
class Arguments {
 public:
  Arguments(const Call& call, onnx::Emit& onnx, const std::shared_ptr<Building>& building)
      : call_(call), onnx_(onnx), building_(building) {}

  nb::object of(const std::string& name, const Argument& argument) const {
    if (argument.is_none()) return nb::none();
    if (program::Value* const* value = argument.get<program::Value*>()) {
      const auto found = call_.environment().find(*value);
      if (found != call_.environment().end()) return to_python(found->second, building_);
      if (*value && (*value)->expr.known())
        return expression(call_, onnx_, (*value)->expr, building_);
      call_.refuse("argument '" + name + "' is no value of the model");
    }
    if (const bool* flag = argument.get<bool>()) return nb::cast(*flag);
    if (const auto* expr = argument.get<symbolic::Expr>())
      return expression(call_, onnx_, *expr, building_);
    if (const double* real = argument.get<double>()) return nb::cast(*real);
    if (const auto* text = argument.get<std::string>()) return nb::str(text->c_str(), text->size());
    if (const auto* dtype = argument.get<base::DType>()) return element_number(*dtype);
    if (const auto* enumerator = argument.get<program::Enumerator>())
      return nb::str(enumerator->name.c_str());
    if (const auto* number = argument.get<std::complex<double>>())
      return nb::steal(PyComplex_FromDoubles(number->real(), number->imag()));
    if (const auto* list = argument.get<program::List>()) {
      nb::list items;
      for (const Argument& item : *list) items.append(of(name, item));
      return items;
    }
    call_.refuse("argument '" + name + "' is nothing that a translator can be given");
  }

  // (name, value, by keyword only, has a default, the default) for each parameter.
  nb::list all() const {
    nb::list result;
    const program::Schema& schema = *call_.captured().schema;
    for (std::size_t i = 0; i < schema.parameters.size(); ++i) {
      const program::Parameter& parameter = schema.parameters[i];
      const bool has_default = parameter.default_value.has_value();
      result.append(nb::make_tuple(
          parameter.name, of(parameter.name, call_.captured().arguments[i]), parameter.keyword_only,
          has_default,
          has_default ? of(parameter.name, *parameter.default_value) : nb::object(nb::none())));
    }
    return result;
  }

 private:
  const Call& call_;
  onnx::Emit& onnx_;
  const std::shared_ptr<Building>& building_;
};

// What the program says of each output: (data type, whether it is complex), None where unused.
nb::list outputs_of(const Call& call) {
  nb::list result;
  for (std::size_t i = 0; i < call.output_count(); ++i) {
    if (!call.uses_output(i)) {
      result.append(nb::none());
      continue;
    }
    nb::list dims;
    for (const symbolic::Expr dim : call.result_shape(i)) {
      dims.append(dim.known() && dim.is_constant() ? nb::cast(dim.value())
                                                   : nb::object(nb::none()));
    }
    result.append(nb::make_tuple(static_cast<int>(call.result_dtype(i)), dims));
  }
  return result;
}

[[noreturn]] void failed(const Call& call, const nb::python_error& error) {
  const std::string type = nb::str(error.type().attr("__name__")).c_str();
  const std::string message = nb::str(error.value()).c_str();
  std::string where;
  nb::object last = nb::borrow(error.traceback());
  while (last.is_valid() && !last.is_none()) {
    const nb::object next = last.attr("tb_next");
    if (next.is_none()) {
      where = fmt::format("raised at {}:{}",
                          nb::str(last.attr("tb_frame").attr("f_code").attr("co_filename")).c_str(),
                          nb::cast<int>(last.attr("tb_lineno")));
    }
    last = next;
  }
  base::fail("SX1305", fmt::format("the translator of {} failed: {}: {}", call.op(), type, message),
             where);
}

// While it lives, nodes can be added.
class Running {
 public:
  Running(Building& building, onnx::Emit& onnx) : building_(building), before_(building.onnx) {
    building.onnx = &onnx;
  }
  ~Running() { building_.onnx = before_; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  Building& building_;
  onnx::Emit* before_;
};

aten::Outputs values_of(const Call& call, onnx::Emit& onnx, nb::handle result,
                        const Building& building) {
  aten::Outputs values;
  for (const nb::handle item : nb::iter(result)) {
    const std::size_t i = values.size();
    const base::DType dtype =
        i < call.output_count() ? call.result_dtype(i) : base::DType::kUndefined;
    onnx::Value value = from_python(item, building);
    if (!value && !item.is_none()) value = literal(onnx, item, dtype);
    if (value && base::is_complex(dtype)) value = aten::as_complex(onnx, value);
    values.push_back(value);
  }
  return values;
}

aten::Outputs run(nb::handle function, const Call& call, onnx::Emit& onnx,
                  const std::shared_ptr<Building>& building) {
  const nb::gil_scoped_acquire acquired;
  const Running running(*building, onnx);
  try {
    const nb::list arguments = Arguments(call, onnx, building).all();
    const nb::object result =
        function(Emitter{building}, nb::str(call.op().c_str()), arguments, outputs_of(call));
    return values_of(call, onnx, result, *building);
  } catch (const nb::python_error& error) {
    failed(call, error);
  }
}

}  // namespace

PythonTranslators::PythonTranslators(const nb::dict& plain, const nb::dict& complex)
    : building_(std::make_shared<Building>()) {
  fill(plain_, plain);
  fill(complex_, complex);
}

PythonTranslators::~PythonTranslators() { building_->open = false; }

void PythonTranslators::fill(Table& table, const nb::dict& functions) {
  for (const auto& [name, function] : functions) {
    // Borrowed: the dict holds it.
    table[nb::str(name).c_str()] = [this, held = nb::handle(function)](const Call& call,
                                                                       onnx::Emit& onnx) {
      return run(held, call, onnx, building_);
    };
  }
}

const aten::CustomTranslator* PythonTranslators::find(const program::Call& call) const {
  const Table& table = program::any_complex(call) ? complex_ : plain_;
  auto found = table.find(call.schema->qualified());
  if (found == table.end()) found = table.find(call.schema->name);
  return found == table.end() ? nullptr : &found->second;
}

}  // namespace sardonyx::bindings
