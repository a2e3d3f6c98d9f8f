// Types that stand in for those which an operator does not take.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "onnx/emit/emit.h"
#include "onnx/operators/operator.h"

namespace sardonyx::onnx {

// A type parameter of the operator, the dtype that this call gives it and the one to compute in.
struct Binding {
  std::string_view parameter;
  DTypeSet allowed = 0;  // by the schema
  DType dtype = DType::kUndefined;
  DType computed = DType::kUndefined;
};

struct Bindings {
  std::array<Binding, 8> items;
  std::size_t count = 0;

  std::span<Binding> all() { return std::span(items).first(count); }
  Binding* find(std::string_view parameter) {
    for (Binding& binding : all())
      if (binding.parameter == parameter) return &binding;
    return nullptr;
  }
};

// The type parameters of these inputs, computed in the types that they have.
Bindings bind(const OperatorVersion& version, std::span<const Value> inputs);

// Where a type is not taken: the types that hold its values, nearest first. Integers that wrap
// round do so again when they are cast back.
std::span<const DType> stand_ins(DType dtype);

// Whether a number may come back as another one.
bool lossy(DType from, DType to);

// Chooses what each parameter is computed in, of the types that `taken` says for it; how far that
// is from what it is, nothing if there is no way.
std::optional<int> fit(Op op, Bindings& bindings,
                       const std::function<DTypeSet(const Binding&)>& taken);

// The inputs in the chosen types, and the outputs in those that they stand for.
Values computed_inputs(Emit& onnx, const OperatorVersion& version, std::span<const Value> inputs,
                       Bindings& chosen);
void cast_back(Emit& onnx, const OperatorVersion& version, Values& values, Bindings& chosen);

}  // namespace sardonyx::onnx
