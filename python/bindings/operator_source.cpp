#include "operator_source.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <complex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "program/ir/program.h"

namespace sardonyx::bindings {
namespace nb = nanobind;

namespace {

using program::Argument;
using Sizes = std::span<const symbolic::Binding>;

// What Python cannot be given.
struct NoNumber {};

std::int64_t number(symbolic::Expr expr, Sizes sizes) {
  const auto value = symbolic::evaluate(expr, sizes);
  if (!value) throw NoNumber();
  return *value;
}

// Tensors as ("tensor", element type, sizes), data types as ("dtype", number); the rest as it is.
nb::object in_python(const Argument& argument, Sizes sizes) {
  if (argument.is_none()) return nb::none();
  if (const bool* flag = argument.get<bool>()) return nb::cast(*flag);
  if (const auto* expr = argument.get<symbolic::Expr>()) return nb::cast(number(*expr, sizes));
  if (const double* real = argument.get<double>()) return nb::cast(*real);
  if (const auto* text = argument.get<std::string>()) return nb::str(text->c_str(), text->size());
  if (const auto* dtype = argument.get<base::DType>())
    return nb::make_tuple("dtype", static_cast<int>(*dtype));
  if (const auto* complex = argument.get<std::complex<double>>())
    return nb::steal(PyComplex_FromDoubles(complex->real(), complex->imag()));
  if (const auto* list = argument.get<program::List>()) {
    nb::list items;
    for (const Argument& item : *list) items.append(in_python(item, sizes));
    return items;
  }
  if (const program::Value* tensor = program::tensor_of(argument)) {
    std::vector<std::int64_t> shape;
    for (const symbolic::Expr size : tensor->shape) shape.push_back(number(size, sizes));
    return nb::make_tuple("tensor", static_cast<int>(tensor->dtype), shape);
  }
  throw NoNumber();
}

}  // namespace

program::OperatorSource operator_source(nb::handle operators) {
  program::OperatorSource source;
  source.schemas = [operators](const std::string& op) {
    return nb::cast<std::vector<std::string>>(operators.attr("schemas")(op));
  };
  source.results = [operators](const program::Schema& schema,
                               const std::vector<Argument>& arguments,
                               Sizes sizes) -> std::optional<std::vector<program::SizedTensor>> {
    nb::list given;
    try {
      for (const Argument& argument : arguments) given.append(in_python(argument, sizes));
    } catch (const NoNumber&) {
      return std::nullopt;
    }
    const nb::object answer = operators.attr("results")(schema.qualified(), given);
    if (answer.is_none()) return std::nullopt;
    std::vector<program::SizedTensor> tensors;
    for (const nb::handle each : answer) {
      const auto [dtype, shape] = nb::cast<std::pair<int, std::vector<std::int64_t>>>(each);
      tensors.push_back({static_cast<base::DType>(dtype), shape});
    }
    return tensors;
  };
  return source;
}

}  // namespace sardonyx::bindings
