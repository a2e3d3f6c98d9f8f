#include "frontends/torchscript/interpreter/inputs.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <span>

#include "base/diagnostic.h"
#include "frontends/torchscript/archive/input_types.h"
#include "frontends/torchscript/recording/quantized.h"
#include "program/ir/strides.h"

namespace sardonyx::torchscript {

using Kind = AbstractValue::Kind;
using base::DType;
using program::Value;
using program::ValueKind;
using symbolic::Expr;

namespace {

constexpr std::int64_t kMaxElements = std::int64_t{1} << 62;

std::optional<std::int64_t> integer(std::string_view text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  return read.ec == std::errc() && read.ptr == end && !text.empty() ? std::optional(number)
                                                                    : std::nullopt;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

using Sizes = std::vector<Expr>;

// The strides of a tensor of this shape that lies in memory as the example does: each is the
// product of a smaller one and its size, times a number where there are gaps.
Sizes laid_out(const Sizes& shape, std::span<const std::int64_t> sizes,
               std::span<const std::int64_t> strides) {
  std::vector<std::size_t> order(std::min({shape.size(), sizes.size(), strides.size()}));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::less<>(), [&](std::size_t axis) { return strides[axis]; });
  Sizes made(strides.begin(), strides.end());
  std::int64_t number = 1;
  Expr size = 1;
  for (const std::size_t axis : order) {
    if (strides[axis] == 0) continue;
    if (strides[axis] % number == 0) made[axis] = size * (strides[axis] / number);
    if (sizes[axis] < 1 || strides[axis] > kMaxElements / sizes[axis]) return {};
    number = strides[axis] * sizes[axis];
    size = made[axis] * shape[axis];
  }
  return made;
}

class Inputs {
 public:
  Inputs(Archive& archive, const ReadOptions& options, program::Program& program)
      : archive_(archive), program_(program), options_(options) {
    for (const std::string& text : options.inputs) {
      NamedInputType choice = parse_input_type(text);
      choices_[choice.name] = std::move(choice.type);
    }
    for (const std::string& text : options.dynamic) {
      const std::size_t colon = text.find(':');
      if (colon == text.npos) refuse_input("'" + text + "' names no dimensions");
      for (const std::string_view dim : split(std::string_view(text).substr(colon + 1), ','))
        dynamic_[text.substr(0, colon)].push_back(integer(dim).value_or(INT64_MAX));
    }
  }

  std::vector<AbstractValue> make() {
    const Class* type = archive_.class_of(archive_.root().held->type);
    const Function* forward = type ? type->method(options_.method) : nullptr;
    if (!forward || forward->parameters.empty())
      base::fail("SX1120", "the archive's module has no " + options_.method + "()");
    std::vector<AbstractValue> made;
    for (std::size_t i = 1; i < forward->parameters.size(); ++i) {
      const Function::Parameter& parameter = forward->parameters[i];
      const std::string name =
          i <= options_.names.size() ? options_.names[i - 1] : name_of(parameter);
      made.push_back(input(name, parameter, i - 1));
      program_.parameter_names.push_back(name);
    }
    for (const auto& [name, choice] : choices_)
      if (!used_.contains(name)) refuse_input("forward() has no parameter '" + name + "'");
    for (const auto& [name, dims] : dynamic_)
      if (!used_.contains(name)) refuse_input("forward() has no parameter '" + name + "'");
    return made;
  }

 private:
  // Archives have a 0 behind names that mean something to them: "ops0".
  std::string name_of(const Function::Parameter& parameter) const {
    constexpr std::string_view kTaken[] = {"CONSTANTS", "annotate", "fork", "getattr",
                                           "inf",       "nan",      "ops",  "uninitialized"};
    const std::string& name = parameter.name;
    const std::string written = name.substr(0, name.size() - (name.ends_with('0') ? 1 : 0));
    const bool is_taken = std::ranges::find(kTaken, written) != std::end(kTaken);
    return is_taken && (choices_.contains(written) || dynamic_.contains(written)) ? written : name;
  }

  AbstractValue input(const std::string& name, const Function::Parameter& parameter,
                      std::size_t position) {
    used_.emplace(name, true);
    const auto chosen = choices_.find(name);
    if (chosen != choices_.end()) return of_choice(name, chosen->second);
    const std::vector<AbstractValue>& traced = archive_.traced_inputs();
    if (position < traced.size()) return of_example(name, traced[position]);
    if (parameter.standard) return of_default(parameter);
    refuse_input("nothing says what the input '" + name + "' is");
  }

  AbstractValue of_default(const Function::Parameter& parameter) {
    const Expression& value = *parameter.standard;
    add_constant();
    switch (value.kind) {
      case Expression::Kind::kNone:
        return {};
      case Expression::Kind::kTrue:
      case Expression::Kind::kFalse:
        return AbstractValue::of_bool(value.kind == Expression::Kind::kTrue);
      case Expression::Kind::kInteger:
        return AbstractValue::of_int(value.integer);
      case Expression::Kind::kReal:
        return AbstractValue::of_real(value.real);
      case Expression::Kind::kString:
        return AbstractValue::of_text(value.text);
      default:
        refuse_input("nothing says what the input '" + parameter.name + "' is");
    }
  }

  AbstractValue of_choice(const std::string& name, const InputType& choice) {
    switch (choice.kind) {
      case InputType::Kind::kConstant:
        return constant(choice.element);
      case InputType::Kind::kWeight:
        return default_tensor(name, choice.element);
      case InputType::Kind::kText:
        add_constant();
        return AbstractValue::of_text(choice.element);
      case InputType::Kind::kInt:
        return number(name, ValueKind::kInt);
      case InputType::Kind::kFloat:
        return number(name, ValueKind::kFloat);
      case InputType::Kind::kDouble: {
        AbstractValue real = tensor(name, DType::kFloat64, {});
        real.kind = Kind::kFloat;
        return real;
      }
      case InputType::Kind::kBool: {
        AbstractValue truth = tensor(name, DType::kBool, {});
        truth.kind = Kind::kBool;
        return truth;
      }
      case InputType::Kind::kTensor:
        return tensor_of_choice(name, choice);
      default:
        return container_of_choice(name, choice);
    }
  }

  // Of a parameter that is left out: a weight of the model.
  AbstractValue default_tensor(const std::string& name, const std::string& weight) {
    if (!options_.weight) refuse_input("nothing says what the input '" + name + "' is");
    add_constant();
    AbstractValue made;
    made.kind = Kind::kStored;
    made.stored = std::make_shared<StoredTensor>();
    made.stored->name = weight;
    return made;
  }

  // A quantized tensor, of PyTorch's type "quint8": its integers, their scale and zero point.
  static std::optional<DType> integers_of_quantized(const std::string& element) {
    if (element == "quint8") return DType::kUInt8;
    if (element == "qint8") return DType::kInt8;
    if (element == "qint32") return DType::kInt32;
    return std::nullopt;
  }

  AbstractValue tensor_of_choice(const std::string& name, const InputType& choice) {
    if (const auto integers = integers_of_quantized(choice.element)) {
      AbstractValue values = tensor(name, *integers, shape_of(choice));
      const bool is_wide = choice.has_wide_parts;
      AbstractValue scale =
          tensor(name + "_scale", is_wide ? DType::kFloat64 : DType::kFloat32, {});
      AbstractValue zero_point =
          tensor(name + "_zero_point", is_wide ? DType::kInt64 : *integers, {});
      return quantized_value(std::move(values), std::move(scale), std::move(zero_point));
    }
    const auto dtype = base::dtype_from_name(choice.element);
    if (!dtype) refuse_input("'" + choice.element + "' is no element type");
    std::vector<Expr> shape = shape_of(choice);
    if (choice.example_strides.empty()) return tensor(name, *dtype, std::move(shape));
    const Sizes strides =
        laid_out(shape, numbers(choice.example_sizes), numbers(choice.example_strides));
    return tensor(name, *dtype, std::move(shape), strides);
  }

  Sizes shape_of(const InputType& choice) const {
    Sizes shape;
    for (std::size_t i = 0; i < choice.dims.size(); ++i) {
      const std::string& dim = choice.dims[i];
      const auto size = choice.dim_is_quoted[i] ? std::nullopt : integer(dim);
      if (size ? *size < 0 : dim.empty()) refuse_input("'" + dim + "' is no size");
      shape.push_back(size ? Expr(*size) : program_.pool->symbol(dim));
    }
    return shape;
  }

  static std::vector<std::int64_t> numbers(const std::vector<std::string>& texts) {
    std::vector<std::int64_t> made;
    for (const std::string& text : texts) {
      const auto number = integer(text);
      if (!number || *number < 0) refuse_input("'" + text + "' is no size");
      made.push_back(*number);
    }
    return made;
  }

  AbstractValue container_of_choice(const std::string& name, const InputType& choice) {
    const bool is_dict = choice.kind == InputType::Kind::kDict;
    AbstractValue made =
        AbstractValue::of_items(is_dict                                  ? Kind::kDict
                                : choice.kind == InputType::Kind::kTuple ? Kind::kTuple
                                                                         : Kind::kList,
                                {});
    made.held->names = choice.names;
    for (std::size_t i = 0; i < choice.items.size(); ++i) {
      const std::string part = is_dict                ? choice.keys[i].element
                               : choice.names.empty() ? std::to_string(i)
                                                      : choice.names.at(i);
      if (is_dict) {
        const InputType& key = choice.keys[i];
        made.held->items.push_back(key.kind == InputType::Kind::kText
                                       ? AbstractValue::of_text(key.element)
                                       : literal(key.element));
      }
      made.held->items.push_back(of_choice(name + "_" + part, choice.items[i]));
    }
    return made;
  }

  // It has a place among the inputs, and none in the model.
  void add_constant() { program_.inputs.push_back({program::InputKind::kUser, nullptr, {}, true}); }

  AbstractValue constant(const std::string& text) {
    add_constant();
    return literal(text);
  }

  static AbstractValue literal(const std::string& text) {
    if (text == "None") return {};
    if (text == "True" || text == "False") return AbstractValue::of_bool(text == "True");
    if (const auto number = integer(text)) return AbstractValue::of_int(*number);
    char* end = nullptr;
    const double real = std::strtod(text.c_str(), &end);
    if (!text.empty() && *end == '\0') return AbstractValue::of_real(real);
    return AbstractValue::of_text(text);
  }

  AbstractValue of_example(const std::string& name, const AbstractValue& example) {
    if (example.stored) {
      std::vector<Expr> shape(example.stored->shape.begin(), example.stored->shape.end());
      for (const std::int64_t dim : dynamic_[name]) {
        const auto rank = static_cast<std::int64_t>(shape.size());
        if (dim < -rank || dim >= rank) refuse_input("'" + name + "' has no such dimension");
        const std::int64_t axis = dim < 0 ? dim + rank : dim;
        shape[static_cast<std::size_t>(axis)] =
            program_.pool->symbol(name + "_dim_" + std::to_string(axis));
      }
      const Sizes strides = laid_out(shape, example.stored->shape, example.stored->strides);
      return tensor(name, example.stored->dtype, std::move(shape), strides);
    }
    if (example.kind == Kind::kTuple || example.kind == Kind::kList || example.kind == Kind::kDict)
      return container(name, example);
    add_constant();
    return example;
  }

  AbstractValue container(const std::string& name, const AbstractValue& example) {
    AbstractValue made = AbstractValue::of_items(example.kind, {});
    const bool is_dict = example.kind == Kind::kDict;
    for (std::size_t i = 0; i < example.held->items.size(); ++i) {
      const AbstractValue& item = example.held->items[i];
      made.held->items.push_back(
          is_dict && i % 2 == 0 ? item : of_example(name + "_" + std::to_string(i), item));
    }
    return made;
  }

  AbstractValue tensor(const std::string& name, DType dtype, Sizes shape, Sizes strides = {}) {
    Value* value = add(name);
    value->dtype = dtype;
    value->shape = std::move(shape);
    value->strides = std::move(strides);
    program::drop_contiguous_strides(*value);
    return AbstractValue::of_tensor(value);
  }

  AbstractValue number(const std::string& name, ValueKind kind) {
    Value* value = add(name);
    value->kind = kind;
    AbstractValue made;
    if (kind == ValueKind::kInt) {
      value->expr = program_.pool->symbol(name_apart_from_dims(name));
      program_.pool->constrain(value->expr, symbolic::Range());
      made.kind = Kind::kInt;
    } else {
      value->expr = program_.pool->real_symbol(name_apart_from_dims(name));
      made.kind = Kind::kFloat;
    }
    made.expr = value->expr;
    return made;
  }

  // A number is not the size of a dimension that happens to have its name.
  std::string name_apart_from_dims(std::string name) const {
    while (std::ranges::any_of(choices_,
                               [&](const auto& choice) { return has_dim(choice.second, name); }))
      name += "_value";
    return name;
  }

  static bool has_dim(const InputType& type, const std::string& name) {
    return std::ranges::find(type.dims, name) != type.dims.end() ||
           std::ranges::any_of(type.items,
                               [&](const InputType& item) { return has_dim(item, name); });
  }

  Value* add(const std::string& name) {
    Value* value = program_.add_value();
    value->name = name;
    program_.inputs.push_back({program::InputKind::kUser, value, {}, true});
    return value;
  }

  Archive& archive_;
  program::Program& program_;
  const ReadOptions& options_;
  std::map<std::string, InputType> choices_;
  std::map<std::string, std::vector<std::int64_t>> dynamic_;
  std::map<std::string, bool> used_;
};

}  // namespace

std::vector<AbstractValue> make_inputs(Archive& archive, const ReadOptions& options,
                                       program::Program& program) {
  return Inputs(archive, options, program).make();
}

}  // namespace sardonyx::torchscript
