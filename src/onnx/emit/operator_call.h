// How the generated methods hand their arguments to Operators::build.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnx/gen/operators.h"

namespace sardonyx::onnx {

// Collects inputs and the attributes that are given, in the order of the schema.
struct OperatorCall {
  std::vector<Value> inputs;
  std::vector<Attribute> attributes;

  void add(Value input) { inputs.push_back(input); }
  void add(std::span<const Value> variadic) {
    inputs.insert(inputs.end(), variadic.begin(), variadic.end());
  }

  void add(std::string_view name, std::optional<std::int64_t> value) {
    if (value) put(name, *value);
  }
  void add(std::string_view name, std::optional<float> value) {
    if (value) put(name, *value);
  }
  void add(std::string_view name, std::optional<std::string_view> value) {
    if (value) put(name, std::string(*value));
  }
  void add(std::string_view name, std::optional<DType> value) {
    if (value) put(name, *value);
  }
  void add(std::string_view name, const Ints& value) {
    if (value.given()) put(name, value.values());
  }
  void add(std::string_view name, const std::vector<float>& value) {
    if (!value.empty()) put(name, value);
  }
  void add(std::string_view name, const std::vector<std::string>& value) {
    if (!value.empty()) put(name, value);
  }
  void add(std::string_view name, const std::optional<Tensor>& value) {
    if (value) put(name, std::make_shared<const Tensor>(*value));
  }
  void add(std::string_view name, Graph* value) {
    if (value != nullptr) put(name, value);
  }

  Values emit(Operators& operators, Op op, std::size_t outputs) {
    return operators.build(operator_of(op), inputs, std::move(attributes), outputs);
  }

 private:
  void put(std::string_view name, Attribute::Data data) {
    attributes.push_back({std::string(name), std::move(data), {}});
  }
};

}  // namespace sardonyx::onnx
