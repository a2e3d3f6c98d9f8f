// Casts round operators that have no kernel for the types they are given.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/diagnostic.h"
#include "onnx/emit/double_forms.h"
#include "onnx/emit/emit.h"
#include "onnx/emit/emit_state.h"
#include "onnx/operators/kernels.h"
#include "onnx/emit/opset_forms.h"
#include "onnx/gen/op.h"

namespace sardonyx::onnx {

std::span<const Kernel> kernels_of(Op op) {
  static const std::vector<std::span<const Kernel>> by_op = [] {
    std::vector<std::span<const Kernel>> table(operators().size());
    const std::span<const Kernel> all = cpu_kernels();
    for (std::size_t i = 0; i < all.size();) {
      std::size_t end = i;
      while (end < all.size() && all[end].op == all[i].op) ++end;
      table[static_cast<std::size_t>(all[i].op)] = all.subspan(i, end - i);
      i = end;
    }
    return table;
  }();
  return by_op[static_cast<std::size_t>(op)];
}

namespace {

// ONNX Runtime takes a kernel without a last version for the first one only: it cannot know what
// later versions will mean.
bool serves(const Kernel& kernel, int since) {
  if (since == kernel.first) return true;
  return kernel.last != Kernel::kOpen && kernel.first < since && since <= kernel.last;
}

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
void refuse_types(const Operator& op, Bindings& bindings) {
  std::string types;
  for (const Binding& binding : bindings.all()) {
    if ((binding.allowed & dtype_bit(binding.dtype)) == 0) return;
    types += fmt::format("{}{}", types.empty() ? "" : ", ", base::dtype_name(binding.dtype));
  }
  base::fail("SX1505",
             fmt::format("ONNX Runtime's CPU provider has no kernel of {} for {}", op.name, types),
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

// Throws for an operator that ONNX Runtime knows in older opsets only.
[[noreturn]] void refuse_opset(const Operator& op, std::int64_t opset) {
  std::string help = "convert for the standard alone";
  for (std::int64_t older = opset - 1; older > 0; --older) {
    const OperatorVersion* version = op.at(older);
    if (version == nullptr) break;
    if (!std::ranges::any_of(kernels_of(op.id),
                             [&](const Kernel& k) { return serves(k, version->since); }))
      continue;
    help = fmt::format("convert with opset_version={}, or for the standard alone", older);
    break;
  }
  base::fail(
      "SX1505",
      fmt::format("ONNX Runtime's CPU provider has no kernel of {} in opset {}", op.name, opset),
      help);
}

// The same element, in another type.
Attribute::Data in_type(const Attribute* attribute, DType dtype) {
  const auto* tensor =
      attribute == nullptr ? nullptr : std::get_if<std::shared_ptr<const Tensor>>(&attribute->data);
  if (tensor == nullptr) return dtype;
  const double value = (*tensor)->reals().value().at(0);
  return std::make_shared<const Tensor>(Tensor::filled(dtype, {1}, value));
}

}  // namespace

std::optional<Values> Emit::with_output_type(const Operator& op, const OperatorVersion& version,
                                             std::span<const Value> inputs,
                                             const std::vector<Attribute>& attributes) {
  const std::string_view name = output_type_attribute(op.id);
  if (name.empty()) return std::nullopt;
  const Attribute* attribute = find_attribute(attributes, name);
  const DType wanted = output_type(attribute, inputs, op.id);
  const Formal& output = *version.output(0);
  DTypeSet taken = output.dtypes;
  DTypeSet served = 0;
  for (const Kernel& kernel : kernels_of(op.id))
    for (const KernelType& type : types_of(kernel))
      if (serves(kernel, version.since) && type.parameter == output.type_parameter)
        served |= type.dtypes;
  if (options_.runtime == TargetRuntime::kOnnxRuntimeCpu) {
    if (served == 0 && !kernels_of(op.id).empty()) refuse_opset(op, opset());
    if (served != 0) taken &= served;
  }
  if (wanted == kUndefined || (taken & dtype_bit(wanted)) != 0) return std::nullopt;
  for (const DType choice : stand_ins(wanted)) {
    if ((taken & dtype_bit(choice)) == 0) continue;
    std::vector<Attribute> changed;
    for (const Attribute& other : attributes)
      if (other.name != name) changed.push_back(other);
    changed.push_back({std::string(name), in_type(attribute, choice), {}});
    return Values{cast(build(op, inputs, std::move(changed), 1).front(), wanted)};
  }
  return std::nullopt;
}

std::optional<Values> Emit::with_kernel_types(const Operator& op, const OperatorVersion& version,
                                              std::span<const Value> inputs,
                                              const std::vector<Attribute>& attributes,
                                              std::size_t outputs) {
  Bindings bindings = bind(version, inputs);
  if (bindings.count == 0) return std::nullopt;
  const std::span<const Kernel> kernels = kernels_of(op.id);
  std::optional<int> best;
  Bindings chosen = bindings;
  bool served = false;
  if (options_.runtime == TargetRuntime::kOnnxRuntimeCpu) {
    for (const Kernel& kernel : kernels) {
      if (!serves(kernel, version.since)) continue;
      served = true;
      const auto distance = fit(op.id, bindings, types_of(kernel), false);
      if (!distance || (best && *distance >= *best)) continue;
      best = distance;
      chosen = bindings;
      if (*best == 0) return std::nullopt;
    }
  }
  if (!served) {
    best = fit(op.id, bindings, {}, true);
    chosen = bindings;
    // A function that the runtime expands is sure to run in float32 only.
    const bool single =
        expanded(op.id) && std::ranges::all_of(bindings.all(), [](const Binding& b) {
          return !base::is_floating(b.dtype) || b.dtype == kFloat32 || b.dtype == kFloat16;
        });
    if (options_.runtime == TargetRuntime::kOnnxRuntimeCpu) {
      if (!single)
        if (auto values =
                spelled_out(*this, op, Values(inputs.begin(), inputs.end()), attributes, outputs))
          return values;
      if (!kernels.empty() && op.id != Op::kAttention) refuse_opset(op, opset());  // no function
    }
    if (best == 0) return std::nullopt;
  }
  if (!best) {
    if (served) refuse_types(op, bindings);
    return std::nullopt;  // inference says what the schema has against it
  }

  const bool loses = std::ranges::any_of(
      chosen.all(), [](const Binding& b) { return lossy(b.dtype, b.computed); });
  if (loses && outputs == 1)
    if (const Value exact = in_double(*this, op, inputs, attributes)) return Values{exact};

  Values casted(inputs.begin(), inputs.end());
  for (std::size_t i = 0; i < casted.size(); ++i) {
    const Formal* formal = version.input(i);
    const Binding* binding = formal == nullptr ? nullptr : chosen.find(formal->type_parameter);
    // A wrong mixture of types stays for inference to refuse.
    if (casted[i] && binding != nullptr && casted[i].dtype() == binding->dtype)
      casted[i] = cast(casted[i], binding->computed);
  }
  Values values = emit_node(op, casted, attributes, outputs);
  for (std::size_t o = 0; o < values.size(); ++o) {
    const Formal* formal = version.output(o);
    const Binding* binding = formal == nullptr ? nullptr : chosen.find(formal->type_parameter);
    if (binding == nullptr || values[o]->type_kind != TypeKind::kTensor) continue;
    if (Node* node = values[o]->producer;
        node != nullptr && node->metadata.empty() && lossy(binding->dtype, binding->computed))
      node->metadata.emplace_back("sardonyx.computed_in",
                                  std::string(base::dtype_name(binding->computed)));
    if (values[o].dtype() == binding->computed) values[o] = cast(values[o], binding->dtype);
  }
  return values;
}

}  // namespace sardonyx::onnx
