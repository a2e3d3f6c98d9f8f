// Casts round operators that have no kernel for the types they are given.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/diagnostic.h"
#include "onnx/definitions/definitions.h"
#include "onnx/emit/emit_state.h"
#include "onnx/gen/op.h"
#include "targets/kernels/double_forms.h"
#include "targets/lowering.h"

namespace sardonyx::targets {

using onnx::dtype_bit;
using onnx::find_attribute;
using onnx::Formal;
using onnx::FormalOption;
using onnx::Node;
using onnx::Operator;
using onnx::OperatorVersion;
using onnx::Tensor;
using onnx::TypeKind;

namespace {

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

using enum base::DType;

// Where a type has no kernel: the types that hold its values, nearest first. Integers that wrap
// round do so again when they are cast back.
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

// What NonZero asks of any type, exactly.
constexpr DType kTruthValue[] = {kBool};
constexpr std::span<const DType> kTruthOf = kTruthValue;

// uint64 as int64: right modulo 2^64, and for what only moves elements.
bool modular(Op op) {
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
    case Op::kGather:
    case Op::kGatherElements:
    case Op::kGatherND:
    case Op::kScatterElements:
    case Op::kScatterND:
    case Op::kPad:
    case Op::kTrilu:
    case Op::kTile:
    case Op::kCompress:
    case Op::kNonZero:
    case Op::kOneHot:
    case Op::kIdentity:
    case Op::kReverseSequence:
    case Op::kDepthToSpace:
    case Op::kSpaceToDepth:
      return true;
    default:
      return false;
  }
}

bool may_stand_in(Op op, const Binding& binding, DType stand_in) {
  // An operator that takes no integers at all means something else for them.
  if (!base::is_floating(binding.dtype) && base::is_floating(stand_in))
    return (binding.allowed & dtype_bit(binding.dtype)) != 0;
  return binding.dtype != kUInt64 || modular(op);
}

bool lossy(DType from, DType to) {
  return (from == kFloat64 && to == kFloat32) || (from == kInt64 && to == kFloat64);
}

// Functions without a kernel are expanded by the runtime, except those newer than it knows.
bool expanded(Op op) { return op != Op::kSwish && op != Op::kSwiGLU; }

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

// The types that one kernel, or the schema alone, takes for a parameter. ONNX Runtime casts float16
// itself where it has the operator in float32.
DTypeSet taken(const Binding& binding, std::span<const KernelType> kernel, bool schema_only) {
  if (schema_only) return binding.allowed;
  DTypeSet dtypes = binding.allowed;
  for (const KernelType& type : kernel)
    if (type.parameter == binding.parameter) dtypes &= type.dtypes;
  if ((dtypes & dtype_bit(kFloat32)) != 0) dtypes |= dtype_bit(kFloat16) & binding.allowed;
  return dtypes;
}

// Chooses what each parameter is computed in; how far that is from what it is, nothing if there is
// no way.
std::optional<int> fit(Op op, Bindings& bindings, std::span<const KernelType> kernel,
                       bool schema_only) {
  int distance = 0;
  for (Binding& binding : bindings.all()) {
    const DTypeSet dtypes = taken(binding, kernel, schema_only);
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

// Throws where the standard takes the types but no kernel does, near or far.
void refuse_types(const Target& target, const Operator& op, Bindings& bindings) {
  std::string types;
  for (const Binding& binding : bindings.all()) {
    if ((binding.allowed & dtype_bit(binding.dtype)) == 0) return;
    types += fmt::format("{}{}", types.empty() ? "" : ", ", base::dtype_name(binding.dtype));
  }
  base::fail("SX1505", fmt::format("{} has no kernel of {} for {}", target.title, op.name, types),
             "cast to another type in the program, or convert for the standard alone");
}

// The attribute that says what type the output has; empty for operators without one.
std::string_view output_type_attribute(Op op) {
  switch (op) {
    case Op::kEyeLike:
    case Op::kRandomNormal:
    case Op::kRandomNormalLike:
    case Op::kRandomUniform:
    case Op::kRandomUniformLike:
    case Op::kBernoulli:
    case Op::kMultinomial:
      return "dtype";
    case Op::kBlackmanWindow:
    case Op::kHammingWindow:
    case Op::kHannWindow:
    case Op::kMelWeightMatrix:
      return "output_datatype";
    case Op::kConstantOfShape:
      return "value";
    default:
      return {};
  }
}

// What the attribute says, or what holds without it where that is the first input's type.
DType output_type(const Attribute* attribute, std::span<const Value> inputs, Op op) {
  if (attribute != nullptr) {
    if (const auto* dtype = std::get_if<DType>(&attribute->data)) return *dtype;
    if (const auto* number = std::get_if<std::int64_t>(&attribute->data))
      return static_cast<DType>(*number);
    return std::get<std::shared_ptr<const Tensor>>(attribute->data)->dtype;
  }
  const bool like = op == Op::kEyeLike || op == Op::kRandomNormalLike ||
                    op == Op::kRandomUniformLike || op == Op::kBernoulli;
  return like ? inputs[0].dtype() : kUndefined;
}

// Throws for an operator that the runtime knows in older opsets only.
[[noreturn]] void refuse_opset(const Target& target, const Operator& op, std::int64_t opset) {
  std::string help = "convert for the standard alone";
  for (std::int64_t older = opset - 1; older > 0; --older) {
    const OperatorVersion* version = op.at(older);
    if (version == nullptr) break;
    if (!std::ranges::any_of(target.kernels_of(op.id),
                             [&](const Kernel& k) { return k.serves(version->since); }))
      continue;
    help = fmt::format("convert with opset_version={}, or for the standard alone", older);
    break;
  }
  base::fail("SX1505",
             fmt::format("{} has no kernel of {} in opset {}", target.title, op.name, opset), help);
}

// The same element, in another type.
Attribute::Data in_type(const Attribute* attribute, DType dtype) {
  const auto* tensor =
      attribute == nullptr ? nullptr : std::get_if<std::shared_ptr<const Tensor>>(&attribute->data);
  if (tensor == nullptr) return dtype;
  const double value = (*tensor)->reals().value().at(0);
  return std::make_shared<const Tensor>(Tensor::filled(dtype, {1}, value));
}

// The types that kernels of this version give the output, by its type parameter; 0 without any.
DTypeSet served_types(std::span<const Kernel> kernels, const OperatorVersion& version) {
  DTypeSet served = 0;
  for (const Kernel& kernel : kernels)
    for (const KernelType& type : types_of(kernel))
      if (kernel.serves(version.since) && type.parameter == version.output(0)->type_parameter)
        served |= type.dtypes;
  return served;
}

// What an attribute asks of the output, where no kernel gives that.
struct OutputType {
  std::string_view attribute;
  DType wanted = kUndefined;
  DTypeSet taken = 0;

  bool served() const {
    return attribute.empty() || wanted == kUndefined || (taken & dtype_bit(wanted)) != 0;
  }
};

OutputType output_type_of(const Target& target, const Operator& op, const OperatorVersion& version,
                          std::span<const Value> inputs, std::span<const Attribute> attributes) {
  OutputType type{.attribute = output_type_attribute(op.id)};
  if (type.attribute.empty()) return type;
  type.wanted = output_type(find_attribute(attributes, type.attribute), inputs, op.id);
  type.taken = version.output(0)->dtypes;
  const DTypeSet served = served_types(target.kernels_of(op.id), version);
  if (served != 0) type.taken &= served;
  return type;
}

bool lacks_opset(const Target& target, const Operator& op, const OperatorVersion& version) {
  const std::span<const Kernel> kernels = target.kernels_of(op.id);
  return !kernels.empty() && std::ranges::none_of(kernels, [&](const Kernel& kernel) {
    return kernel.serves(version.since);
  });
}

// How an operator gets by with the kernels that there are.
struct Plan {
  enum class Way : std::uint8_t { kAsItIs, kSpelledOut, kInOtherTypes, kNot } way = Way::kAsItIs;
  Bindings bindings;         // what to compute in
  bool is_stand_in = false;  // for lack of a definition they serve
};

Plan plan_for(const Target& target, const Operator& op, const OperatorVersion& version,
              std::span<const Value> inputs) {
  using enum Plan::Way;
  Plan plan{.bindings = bind(version, inputs)};
  Bindings bindings = plan.bindings;
  if (bindings.count == 0) return plan;
  std::optional<int> best;
  bool served = false;
  for (const Kernel& kernel : target.kernels_of(op.id)) {
    if (!kernel.serves(version.since)) continue;
    served = true;
    const auto distance = fit(op.id, bindings, types_of(kernel), false);
    if (!distance || (best && *distance >= *best)) continue;
    best = distance;
    plan.bindings = bindings;
    if (*best == 0) return plan;
  }
  if (!served) {
    best = fit(op.id, bindings, {}, true);
    plan.bindings = bindings;
    // A function that the runtime expands is sure to run in float32 only.
    const bool single =
        expanded(op.id) && std::ranges::all_of(bindings.all(), [](const Binding& b) {
          return !base::is_floating(b.dtype) || b.dtype == kFloat32 || b.dtype == kFloat16;
        });
    if (!target.kernels.empty() && (!single || lacks_opset(target, op, version))) {
      plan.way = kSpelledOut;
      plan.is_stand_in = best.value_or(0) > 0;
      return plan;
    }
    if (best == 0) return plan;
  }
  plan.way = best ? kInOtherTypes : kNot;
  return plan;
}

Values computed_inputs(Lowering& onnx, const OperatorVersion& version,
                       std::span<const Value> inputs, Bindings& chosen) {
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

void cast_back(Lowering& onnx, const OperatorVersion& version, Values& values, Bindings& chosen) {
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

}  // namespace

bool Lowering::has_kernel(const Operator& op, const OperatorVersion& version,
                          std::span<const Value> inputs,
                          const std::vector<Attribute>& attributes) const {
  return output_type_of(target_, op, version, inputs, attributes).served() &&
         plan_for(target_, op, version, inputs).way == Plan::Way::kAsItIs;
}

std::optional<Values> Lowering::with_output_type(const Operator& op, const OperatorVersion& version,
                                                 std::span<const Value> inputs,
                                                 const std::vector<Attribute>& attributes) {
  const OutputType type = output_type_of(target_, op, version, inputs, attributes);
  if (!type.attribute.empty() && lacks_opset(target_, op, version))
    refuse_opset(target_, op, opset());
  if (type.served()) return std::nullopt;
  for (const DType choice : stand_ins(type.wanted)) {
    if ((type.taken & dtype_bit(choice)) == 0) continue;
    std::vector<Attribute> changed;
    for (const Attribute& other : attributes)
      if (other.name != type.attribute) changed.push_back(other);
    changed.push_back({std::string(type.attribute),
                       in_type(find_attribute(attributes, type.attribute), choice),
                       {}});
    return Values{cast(build(op, inputs, std::move(changed), 1).front(), type.wanted)};
  }
  return std::nullopt;
}

std::optional<Values> Lowering::with_kernel_types(const Operator& op,
                                                  const OperatorVersion& version,
                                                  std::span<const Value> inputs,
                                                  const std::vector<Attribute>& attributes,
                                                  std::size_t outputs) {
  Plan plan = plan_for(target_, op, version, inputs);
  if (plan.way == Plan::Way::kAsItIs) return std::nullopt;
  if (plan.way == Plan::Way::kSpelledOut) {
    if (auto values = onnx::spelled_out({*this, inputs, attributes, outputs}, op)) return values;
    if (lacks_opset(target_, op, version)) refuse_opset(target_, op, opset());
    if (!plan.is_stand_in) return std::nullopt;
  }
  if (plan.way == Plan::Way::kNot) {
    if (!target_.kernels_of(op.id).empty()) refuse_types(target_, op, plan.bindings);
    return std::nullopt;  // inference says what the schema has against it
  }
  const bool loses = std::ranges::any_of(
      plan.bindings.all(), [](const Binding& b) { return lossy(b.dtype, b.computed); });
  if (loses && outputs == 1)
    if (const Value exact = in_double(*this, op, inputs, attributes)) return Values{exact};
  Values values =
      emit_node(op, computed_inputs(*this, version, inputs, plan.bindings), attributes, outputs);
  cast_back(*this, version, values, plan.bindings);
  return values;
}

}  // namespace sardonyx::targets
