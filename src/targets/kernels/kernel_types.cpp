// Casts round operators that have no kernel for the types they are given.
#include <fmt/format.h>

#include <algorithm>

#include "base/diagnostic.h"
#include "onnx/definitions/definitions.h"
#include "onnx/emit/emit_state.h"
#include "onnx/emit/type_substitutes.h"
#include "onnx/gen/op.h"
#include "targets/kernels/double_forms.h"
#include "targets/lowering.h"

namespace sardonyx::targets {

using onnx::Binding;
using onnx::Bindings;
using onnx::dtype_bit;
using onnx::find_attribute;
using onnx::Operator;
using onnx::OperatorVersion;
using onnx::stand_ins;
using onnx::Tensor;

namespace {

using enum base::DType;

// Functions without a kernel are expanded by the runtime, except those newer than it knows.
bool expanded(Op op) { return op != Op::kSwish && op != Op::kSwiGLU; }

// The types that one kernel takes for a parameter. On the CPU, ONNX Runtime casts float16 itself
// where it has the operator in float32.
DTypeSet taken(const Binding& binding, std::span<const KernelType> kernel, bool casts_float16) {
  DTypeSet dtypes = binding.allowed;
  for (const KernelType& type : kernel)
    if (type.parameter == binding.parameter) dtypes &= type.dtypes;
  if (casts_float16 && (dtypes & dtype_bit(kFloat32)) != 0)
    dtypes |= dtype_bit(kFloat16) & binding.allowed;
  return dtypes;
}

// Operators whose definitions are of so many nodes that copies to the CPU and back are quicker.
bool stays_on_cpu(Op op) {
  switch (op) {
    case Op::kBitShift:
    case Op::kBitwiseAnd:
    case Op::kBitwiseNot:
    case Op::kBitwiseOr:
    case Op::kBitwiseXor:
    case Op::kBlackmanWindow:
    case Op::kCol2Im:
    case Op::kCumProd:
    case Op::kDFT:
    case Op::kDeformConv:
    case Op::kGridSample:
    case Op::kHammingWindow:
    case Op::kHannWindow:
    case Op::kGRU:
    case Op::kLSTM:
    case Op::kRNN:
    case Op::kRange:
      return true;
    default:
      return false;
  }
}

// What the kernels of one provider do for an operator.
struct Fit {
  bool served = false;          // by a kernel of this version
  std::optional<int> distance;  // of the types that the best kernel takes; 0: as they are
  Bindings bindings;            // in these types
  bool is_on_cpu = false;       // beside an accelerator, which has no kernel at all

  bool is_exact() const { return distance == 0; }
  bool loses() {
    return std::ranges::any_of(bindings.all(),
                               [](const Binding& b) { return onnx::lossy(b.dtype, b.computed); });
  }
};

Fit fit_to(std::span<const Kernel> kernels, bool casts_float16, Op op,
           const OperatorVersion& version, Bindings bindings) {
  Fit best{.distance = {}, .bindings = bindings};
  for (const Kernel& kernel : kernels) {
    if (!kernel.serves(version.since)) continue;
    best.served = true;
    const auto distance = onnx::fit(
        op, bindings, [&](const Binding& b) { return taken(b, types_of(kernel), casts_float16); });
    if (!distance || (best.distance && *distance >= *best.distance)) continue;
    best.distance = distance;
    best.bindings = bindings;
    if (best.is_exact()) break;
  }
  return best;
}

// The better fit: of the target's own kernels, or of the CPU's next to them. The
// accelerator computes in other types where these hold every number; the CPU does what is left.
Fit best_fit(const Target& target, Op op, const OperatorVersion& version, const Bindings& bindings,
             std::int64_t opset) {
  const bool casts_float16 = !target.is_accelerated() && target.expands_functions;
  Fit own = fit_to(target.kernels_of(op, opset), casts_float16, op, version, bindings);
  if (!target.is_accelerated() || (own.distance && !own.loses())) return own;
  Fit cpu = fit_to(target.cpu_kernels_of(op, opset), true, op, version, bindings);
  if (!cpu.distance || (own.distance && cpu.loses())) return own.served ? own : cpu;
  cpu.is_on_cpu = !own.served;
  return cpu;
}

// Throws where the standard takes the types but no kernel does, near or far.
void refuse_types(const Target& target, const Operator& op, Bindings& bindings) {
  std::string types;
  for (const Binding& binding : bindings.all()) {
    if ((binding.allowed & dtype_bit(binding.dtype)) == 0) return;
    types += fmt::format("{}{}", types.empty() ? "" : ", ", base::dtype_name(binding.dtype));
  }
  const bool is_half = types == base::dtype_name(kBFloat16);
  base::fail("SX1505", fmt::format("{} has no kernel of {} for {}", target.title, op.name, types),
             is_half ? "compute in float16 or float32, or convert for the standard alone"
                     : "cast to another type in the program, or convert for the standard alone");
}

// Throws for an operator that the runtime does not have at all.
[[noreturn]] void refuse_operator(const Target& target, const Operator& op) {
  base::fail("SX1505", fmt::format("{} has no kernel of {}", target.title, op.name),
             "compute it outside of the model, or convert for another runtime or the standard");
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
    if (!std::ranges::any_of(target.kernels_of(op.id, older),
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
                          std::span<const Value> inputs, std::span<const Attribute> attributes,
                          std::int64_t opset) {
  OutputType type{.attribute = output_type_attribute(op.id)};
  if (type.attribute.empty()) return type;
  type.wanted = output_type(find_attribute(attributes, type.attribute), inputs, op.id);
  type.taken = version.output(0)->dtypes;
  const DTypeSet served = served_types(target.kernels_of(op.id, opset), version) |
                          served_types(target.cpu_kernels_of(op.id, opset), version);
  if (served != 0) type.taken &= served;
  return type;
}

bool lacks_opset(const Target& target, const Operator& op, const OperatorVersion& version,
                 std::int64_t opset) {
  const auto serves = [&](const Kernel& kernel) { return kernel.serves(version.since); };
  const std::span<const Kernel> own = target.kernels_of(op.id, opset),
                                cpu = target.cpu_kernels_of(op.id, opset);
  return !(own.empty() && cpu.empty()) && std::ranges::none_of(own, serves) &&
         std::ranges::none_of(cpu, serves);
}

// How an operator gets by with the kernels that there are.
struct Plan {
  enum class Way : std::uint8_t { kAsItIs, kSpelledOut, kInOtherTypes, kNot } way = Way::kAsItIs;
  Bindings bindings;         // what to compute in
  bool is_stand_in = false;  // for lack of a definition they serve
};

Plan plan_for(const Target& target, const Operator& op, const OperatorVersion& version,
              std::span<const Value> inputs, std::int64_t opset) {
  using enum Plan::Way;
  Plan plan{.bindings = onnx::bind(version, inputs)};
  Bindings bindings = plan.bindings;
  if (bindings.count == 0) return plan;
  const Fit fit = best_fit(target, op.id, version, bindings, opset);
  plan.bindings = fit.bindings;
  if (fit.is_on_cpu && !stays_on_cpu(op.id)) {
    plan.way = kSpelledOut;
    plan.is_stand_in = !fit.is_exact();
    return plan;
  }
  if (fit.is_exact()) return plan;
  std::optional<int> best = fit.distance;
  if (!fit.served) {
    best = onnx::fit(op.id, bindings, [](const Binding& b) { return b.allowed; });
    plan.bindings = bindings;
    // A function that the runtime expands is sure to run in float32 only.
    const bool single =
        target.expands_functions && expanded(op.id) &&
        std::ranges::all_of(bindings.all(), [](const Binding& b) {
          return !base::is_floating(b.dtype) || b.dtype == kFloat32 || b.dtype == kFloat16;
        });
    if (!target.releases.empty() && (!single || lacks_opset(target, op, version, opset))) {
      plan.way = kSpelledOut;
      plan.is_stand_in = best.value_or(0) > 0;
      return plan;
    }
    if (best == 0) return plan;
  }
  // What is cast to have a kernel for Cast would be cast itself, without end.
  plan.way = best && op.id != onnx::Op::kCast ? kInOtherTypes : kNot;
  return plan;
}

}  // namespace

bool Lowering::has_kernel(const Operator& op, const OperatorVersion& version,
                          std::span<const Value> inputs,
                          const std::vector<Attribute>& attributes) const {
  return output_type_of(target_, op, version, inputs, attributes, opset()).served() &&
         plan_for(target_, op, version, inputs, opset()).way == Plan::Way::kAsItIs;
}

std::optional<Values> Lowering::with_output_type(const Operator& op, const OperatorVersion& version,
                                                 std::span<const Value> inputs,
                                                 const std::vector<Attribute>& attributes) {
  const OutputType type = output_type_of(target_, op, version, inputs, attributes, opset());
  if (!type.attribute.empty() && lacks_opset(target_, op, version, opset()))
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
  Plan plan = plan_for(target_, op, version, inputs, opset());
  if (plan.way == Plan::Way::kAsItIs) return std::nullopt;
  if (plan.way == Plan::Way::kSpelledOut) {
    if (auto values = onnx::spelled_out({*this, inputs, attributes, outputs}, op)) return values;
    if (lacks_opset(target_, op, version, opset())) refuse_opset(target_, op, opset());
    if (!target_.expands_functions && target_.kernels_of(op.id, opset()).empty())
      refuse_operator(target_, op);
    if (!plan.is_stand_in) return std::nullopt;
  }
  if (plan.way == Plan::Way::kNot) {
    if (!target_.kernels_of(op.id, opset()).empty()) refuse_types(target_, op, plan.bindings);
    return std::nullopt;  // inference says what the schema has against it
  }
  const bool loses = std::ranges::any_of(
      plan.bindings.all(), [](const Binding& b) { return onnx::lossy(b.dtype, b.computed); });
  if (loses && outputs == 1)
    if (const Value exact = in_double(*this, op, inputs, attributes)) return Values{exact};
  if (loses)
    if (auto values = onnx::spelled_out({*this, inputs, attributes, outputs}, op)) return values;
  Values values = emit_node(op, onnx::computed_inputs(*this, version, inputs, plan.bindings),
                            attributes, outputs);
  onnx::cast_back(*this, version, values, plan.bindings);
  return values;
}

}  // namespace sardonyx::targets
