// The types that calls of operators give, by the inference of captures without types: for the test
// that compares it with PyTorch's meta kernels.
#include <nanobind/stl/complex.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <complex>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "bindings.h"
#include "program/inference/infer_result_types.h"
#include "program/schema/coerce.h"

namespace sardonyx::bindings {
namespace nb = nanobind;
using namespace nb::literals;

namespace {

using program::Argument;
using Sizes = std::vector<std::int64_t>;

// A tensor as Python gives it: its element type, sizes and strides.
using Tensor = std::tuple<std::string, Sizes, Sizes>;
// A result: sizes that are not known are missing; without strides it is contiguous.
using Result = std::tuple<std::string, std::vector<std::optional<std::int64_t>>, Sizes>;

std::vector<symbolic::Expr> constants(const Sizes& sizes) { return {sizes.begin(), sizes.end()}; }

std::optional<std::int64_t> number(const symbolic::Expr& size) {
  if (!size.known() || !size.is_constant()) return std::nullopt;
  return size.value();
}

// The arguments of one call, and the tensors among them.
class Arguments {
 public:
  Argument of(nb::handle object) {
    if (object.is_none()) return {};
    if (nb::isinstance<nb::bool_>(object)) return nb::cast<bool>(object);
    if (nb::isinstance<nb::int_>(object)) return symbolic::Expr(nb::cast<std::int64_t>(object));
    if (nb::isinstance<nb::float_>(object)) return nb::cast<double>(object);
    if (nb::isinstance<nb::str>(object)) return nb::cast<std::string>(object);
    if (nb::isinstance<nb::tuple>(object)) return tensor(nb::cast<Tensor>(object));
    if (PyComplex_Check(object.ptr())) return nb::cast<std::complex<double>>(object);
    if (!nb::isinstance<nb::list>(object)) return enumerator(nb::str(object).c_str());
    program::List list;
    for (const nb::handle item : nb::iter(object)) list.push_back(of(item));
    return list;
  }

 private:
  // "torch.float32", "torch.channels_last", "cpu".
  static Argument enumerator(std::string name) {
    constexpr std::string_view kPrefix = "torch.";
    if (name.starts_with(kPrefix)) name.erase(0, kPrefix.size());
    return program::Enumerator{std::move(name)};
  }

  Argument tensor(const Tensor& given) {
    const auto& [dtype, sizes, strides] = given;
    program::Value& value = values_.emplace_back();
    value.dtype = base::dtype_from_name(dtype).value_or(base::DType::kUndefined);
    value.shape = constants(sizes);
    value.strides = constants(strides);
    return &value;
  }

  std::deque<program::Value> values_;
};

std::vector<Argument> bound(const program::Schema& schema, const nb::list& args,
                            const nb::dict& kwargs, Arguments& arguments) {
  std::vector<Argument> result;
  for (std::size_t i = 0; i < schema.parameters.size(); ++i) {
    const program::Parameter& parameter = schema.parameters[i];
    Argument argument;
    if (i < args.size()) {
      argument = arguments.of(args[i]);
    } else if (kwargs.contains(parameter.name.c_str())) {
      argument = arguments.of(kwargs[parameter.name.c_str()]);
    } else if (parameter.default_value) {
      argument = *parameter.default_value;
    }
    if (const std::string problem = program::coerce(parameter.type, argument); !problem.empty())
      base::fail("SX1208", schema.qualified() + ": " + parameter.name + ": " + problem);
    result.push_back(std::move(argument));
  }
  return result;
}

// None where there is no rule for the operator.
std::optional<std::vector<Result>> result_types(const std::string& op, const nb::list& args,
                                                const nb::dict& kwargs) {
  const program::Schema* schema = program::find_schema(op);
  if (schema == nullptr) return std::nullopt;
  Arguments arguments;
  symbolic::Pool pool;
  const auto types =
      program::infer_result_types(*schema, bound(*schema, args, kwargs, arguments), pool);
  if (!types) return std::nullopt;
  std::vector<Result> results;
  for (const program::TensorType& type : *types) {
    Result& result = results.emplace_back(std::string(base::dtype_name(type.dtype)),
                                          std::vector<std::optional<std::int64_t>>(), Sizes());
    for (const symbolic::Expr& size : type.shape) std::get<1>(result).push_back(number(size));
    for (const symbolic::Expr& step : type.strides)
      std::get<2>(result).push_back(number(step).value_or(-1));
  }
  return results;
}

}  // namespace

void bind_result_types(nb::module_& module) {
  module.def("result_types", &result_types, "op"_a, "args"_a, "kwargs"_a,
             "The (dtype, sizes, strides) of what an operator gives; None without a rule.");
}

}  // namespace sardonyx::bindings
