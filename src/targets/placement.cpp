#include "targets/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "onnx/operators/operator.h"

namespace sardonyx::targets {
namespace {

using onnx::Formal;
using onnx::Node;
using onnx::OperatorVersion;
using onnx::ValueInfo;

constexpr std::int64_t kOldestChoice = 20;

bool serves(std::span<const Kernel> kernels, const OperatorVersion& version) {
  return std::ranges::any_of(kernels, [&](const Kernel& k) { return k.serves(version.since); });
}

// Whether the kernel has the type of a value in the place of the formal.
bool takes(const Kernel& kernel, const Formal* formal, const ValueInfo* value) {
  if (formal == nullptr || value == nullptr || value->type_kind != onnx::TypeKind::kTensor ||
      value->dtype == base::DType::kUndefined)
    return true;
  return std::ranges::all_of(types_of(kernel), [&](const KernelType& type) {
    return type.parameter != formal->type_parameter ||
           (type.dtypes & onnx::dtype_bit(value->dtype)) != 0;
  });
}

bool takes(const Kernel& kernel, const OperatorVersion& version, const Node* node) {
  for (std::size_t i = 0; i < node->inputs.size(); ++i)
    if (!takes(kernel, version.input(i), node->inputs[i])) return false;
  for (std::size_t i = 0; i < node->outputs.size(); ++i)
    if (!takes(kernel, version.output(i), node->outputs[i])) return false;
  return true;
}

std::string reason_for(const Target& target, const Node* node, std::string_view missing) {
  return fmt::format("runs on the CPU, between copies: {} has no kernel of {}{}", target.title,
                     node->op_type, missing);
}

// Why the accelerator does not run the node; empty where it does.
std::string reason_on_cpu(const Target& target, const Node* node, std::int64_t opset) {
  if (node->op == onnx::kUnknownOp) return {};
  const OperatorVersion* version = onnx::operator_of(node->op).at(opset);
  if (version == nullptr || !serves(target.cpu_kernels_of(node->op, opset), *version)) return {};
  const std::span<const Kernel> own = target.kernels_of(node->op, opset);
  if (own.empty()) return reason_for(target, node, "");
  if (!serves(own, *version))
    return reason_for(target, node, fmt::format(" in its form of opset {}", version->since));
  const bool is_taken = std::ranges::any_of(own, [&](const Kernel& kernel) {
    return kernel.serves(version->since) && takes(kernel, *version, node);
  });
  if (is_taken) return {};
  const ValueInfo* first = node->input(0) != nullptr ? node->input(0) : node->output();
  return reason_for(target, node, fmt::format(" for {}", base::dtype_name(first->dtype)));
}

template <class Visit>
void visit_nodes(const onnx::Graph& graph, const Visit& visit) {
  for (const Node* node = graph.first; node != nullptr; node = node->next) {
    visit(node);
    for (const onnx::Graph* body : onnx::bodies(node)) visit_nodes(*body, visit);
  }
}

// Whether the operator is quicker in another opset than in this one.
bool loses(const Target& target, onnx::Op op, std::int64_t opset) {
  const onnx::Operator& named = onnx::operator_of(op);
  const OperatorVersion* best = named.at(target.opset);
  const OperatorVersion* there = named.at(opset);
  if (there == nullptr)
    return best != nullptr && serves(target.kernels_of(op, target.opset), *best);
  const std::span<const Kernel> own = target.kernels_of(op, opset);
  return !own.empty() && !serves(own, *there);
}

}  // namespace

std::vector<OnCpu> nodes_on_cpu(const onnx::Model& model, const Target& target,
                                std::int64_t opset) {
  std::vector<OnCpu> found;
  if (!target.is_accelerated()) return found;
  visit_nodes(*model.graph, [&](const Node* node) {
    if (std::string reason = reason_on_cpu(target, node, opset); !reason.empty())
      found.push_back({node->name, std::move(reason)});
  });
  return found;
}

bool is_for_cpu_alone(const onnx::Model& model, const Target& target, std::int64_t opset) {
  if (!target.is_accelerated()) return false;
  bool is_any = false, is_each = true;
  visit_nodes(*model.graph, [&](const Node* node) {
    if (node->is(Op::kShape) || node->is(Op::kConstant) || node->is(Op::kIdentity)) return;
    is_any = true;
    is_each = is_each && !reason_on_cpu(target, node, opset).empty();
  });
  return is_any && is_each;
}

std::int64_t best_opset(const onnx::Model& model, const Target& target) {
  if (!target.is_accelerated()) return target.opset;
  std::int64_t best = target.opset, fewest = -1;
  for (std::int64_t opset = target.opset; opset >= kOldestChoice && fewest != 0; --opset) {
    std::int64_t count = 0;
    visit_nodes(*model.graph, [&](const Node* node) {
      if (node->op != onnx::kUnknownOp && loses(target, node->op, opset)) ++count;
    });
    if (fewest >= 0 && count >= fewest) continue;
    fewest = count;
    best = opset;
  }
  return best;
}

}  // namespace sardonyx::targets
