#include "onnx/emit/type_substitutes.h"

#include <algorithm>
#include <string>

#include "onnx/gen/op.h"
#include "onnx/operators/traits.h"

namespace sardonyx::onnx {

using enum base::DType;

namespace {

// What NonZero asks of any type, exactly.
constexpr DType kTruthValue[] = {kBool};
constexpr std::span<const DType> kTruthOf = kTruthValue;

// uint64 as int64: right modulo 2^64, and for what only moves elements.
bool is_modular(Op op) {
  if (has_trait(op, Trait::kRearranges)) return true;
  switch (op) {
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
    case Op::kMatMul:
    case Op::kCumSum:
    case Op::kReduceSum:
    case Op::kReduceProd:
    case Op::kSum:
    case Op::kEqual:
    case Op::kWhere:
    case Op::kBitwiseAnd:
    case Op::kBitwiseOr:
    case Op::kBitwiseXor:
    case Op::kBitwiseNot:
    case Op::kScatterElements:
    case Op::kScatterND:
    case Op::kPad:
    case Op::kTrilu:
    case Op::kNonZero:
    case Op::kOneHot:
      return true;
    default:
      return false;
  }
}

bool may_stand_in(Op op, const Binding& binding, DType stand_in) {
  if (op == Op::kBitCast) return false;  // other bits
  // An operator that takes no integers at all means something else for them.
  if (!base::is_floating(binding.dtype) && base::is_floating(stand_in))
    return (binding.allowed & dtype_bit(binding.dtype)) != 0;
  return binding.dtype != kUInt64 || is_modular(op);
}

}  // namespace

std::span<const DType> stand_ins(DType dtype) {
  static constexpr DType kSmallFloat[] = {kFloat32, kFloat64};
  static constexpr DType kSingle[] = {kFloat64};
  static constexpr DType kDouble[] = {kFloat32};
  static constexpr DType kTruth[] = {kUInt8, kInt32, kInt64, kFloat32};
  static constexpr DType kSmallSigned[] = {kInt32, kInt64, kFloat32, kFloat64};
  static constexpr DType kSmallUnsigned[] = {kInt32, kUInt32, kUInt64, kInt64, kFloat32, kFloat64};
  static constexpr DType kInt[] = {kInt64, kFloat64};
  static constexpr DType kUnsigned[] = {kInt64, kUInt64, kFloat64};
  static constexpr DType kLong[] = {kFloat64};
  static constexpr DType kUnsignedLong[] = {kInt64};
  switch (dtype) {
    case kFloat32:
      return kSingle;
    case kFloat64:
      return kDouble;
    case kBool:
      return kTruth;
    case kInt32:
      return kInt;
    case kUInt32:
      return kUnsigned;
    case kInt64:
      return kLong;
    case kUInt64:
      return kUnsignedLong;
    default:
      if (base::is_floating(dtype)) return kSmallFloat;
      if (!base::is_integer(dtype)) return {};
      return base::is_signed(dtype) ? std::span<const DType>(kSmallSigned)
                                    : std::span<const DType>(kSmallUnsigned);
  }
}

bool lossy(DType from, DType to) {
  return (from == kFloat64 && to == kFloat32) || (from == kInt64 && to == kFloat64);
}

Bindings bind(const OperatorVersion& version, std::span<const Value> inputs) {
  Bindings bindings;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Formal* formal = version.input(i);
    if (formal == nullptr || !inputs[i] || formal->type_parameter.empty()) continue;
    if (inputs[i]->type_kind != TypeKind::kTensor || inputs[i].dtype() == kUndefined) continue;
    if (formal->option == FormalOption::kVariadic && formal->type_parameter == "V") continue;
    if (bindings.find(formal->type_parameter) != nullptr) continue;
    if (bindings.count < bindings.items.size())
      bindings.items[bindings.count++] = {formal->type_parameter, formal->dtypes, inputs[i].dtype(),
                                          inputs[i].dtype()};
  }
  return bindings;
}

std::optional<int> fit(Op op, Bindings& bindings,
                       const std::function<DTypeSet(const Binding&)>& taken) {
  int distance = 0;
  for (Binding& binding : bindings.all()) {
    const DTypeSet dtypes = taken(binding);
    binding.computed = binding.dtype;
    if ((dtypes & dtype_bit(binding.dtype)) != 0) continue;
    const auto choices = op == Op::kNonZero ? kTruthOf : stand_ins(binding.dtype);
    const auto chosen = std::ranges::find_if(choices, [&](DType choice) {
      return (dtypes & dtype_bit(choice)) != 0 && may_stand_in(op, binding, choice);
    });
    if (chosen == choices.end()) return std::nullopt;
    binding.computed = *chosen;
    distance += static_cast<int>(chosen - choices.begin()) + 1;
    if (lossy(binding.dtype, *chosen)) distance += 16;
  }
  return distance;
}

Values computed_inputs(Emit& onnx, const OperatorVersion& version, std::span<const Value> inputs,
                       Bindings& chosen) {
  Values casted(inputs.begin(), inputs.end());
  for (std::size_t i = 0; i < casted.size(); ++i) {
    const Formal* formal = version.input(i);
    const Binding* binding = formal == nullptr ? nullptr : chosen.find(formal->type_parameter);
    // A wrong mixture of types stays for inference to refuse.
    if (casted[i] && binding != nullptr && casted[i].dtype() == binding->dtype)
      casted[i] = onnx.cast(casted[i], binding->computed);
  }
  return casted;
}

void cast_back(Emit& onnx, const OperatorVersion& version, Values& values, Bindings& chosen) {
  for (std::size_t o = 0; o < values.size(); ++o) {
    const Formal* formal = version.output(o);
    const Binding* binding = formal == nullptr ? nullptr : chosen.find(formal->type_parameter);
    if (binding == nullptr || values[o]->type_kind != TypeKind::kTensor) continue;
    if (Node* node = values[o]->producer;
        node != nullptr && node->metadata.empty() && lossy(binding->dtype, binding->computed))
      node->metadata.emplace_back("sardonyx.computed_in",
                                  std::string(base::dtype_name(binding->computed)));
    if (values[o].dtype() == binding->computed) values[o] = onnx.cast(values[o], binding->dtype);
  }
}

}  // namespace sardonyx::onnx
