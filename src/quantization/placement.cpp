#include "quantization/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/diagnostic.h"
#include "precision/selection.h"
#include "quantization/ir_names.h"

namespace sardonyx::quantization {
namespace {

using targets::QuantizedRole;
using enum QuantizedRole;

bool is_activation(const ValueInfo* value) {
  return value != nullptr && value->constant == nullptr && value->dtype == base::DType::kFloat32 &&
         value->type_kind == onnx::TypeKind::kTensor && !value->is_disputed;
}

const ValueInfo* weight_of(const Node* node) {
  const ValueInfo* weight = node->input(1);
  const bool is_constant = weight != nullptr && weight->constant != nullptr &&
                           weight->producer == nullptr && !weight->is_pinned;
  return is_constant ? weight : nullptr;
}

bool is_product(QuantizedRole role) { return role == kWeighted || role == kWeightedToInteger; }

class Placing {
 public:
  Placing(onnx::Model& model, const targets::QuantizationTarget& target,
          const std::vector<std::string>& keep)
      : model_(model), target_(target), keep_(precision::patterns(keep)) {}

  Placement run() {
    find_products();
    precision::check_used(keep_);
    if (keep_what_float_reads()) {
      const auto kept = std::exchange(result_.kept, {});
      for (auto* set : {&members_, &wanted_}) set->clear();
      inputs_.clear();
      result_ = {};
      find_products();
      result_.kept = kept;
    }
    collect_values();
    return std::move(result_);
  }

 private:
  void find_products() {
    find_layers();
    find_wanted();
    find_members();
  }

  std::optional<QuantizedRole> role_of(const Node* node) const {
    if (node->op == onnx::kUnknownOp || !node->domain.empty()) return std::nullopt;
    const bool has_weight = weight_of(node) != nullptr;
    for (const targets::QuantizedOperator& each : target_.operators) {
      if (each.op != node->op) continue;
      if (is_product(each.role) && !has_weight) continue;
      if (each.role == kProduct && has_weight) continue;
      // Another mode gives elements that the input does not have.
      if (node->is(Op::kResize) && node->string_or("mode", "nearest") != "nearest") continue;
      return each.role;
    }
    return std::nullopt;
  }

  bool is_kept(const Node* node) {
    bool kept = false;
    for (precision::Pattern& pattern : keep_) {
      kept |= pattern.matches(node);
      for (const ValueInfo* input : node->inputs)
        if (input != nullptr && input->constant != nullptr && input->is_weight)
          kept |= pattern.matches(input);
    }
    return kept;
  }

  void find_layers() {
    for (Node* node = model_.graph->first; node != nullptr; node = node->next) {
      const auto role = role_of(node);
      const bool kept = is_kept(node);
      if (!role || kept_.contains(node)) continue;
      if (kept) {
        kept_.insert(node);
        result_.kept.push_back({node, "it is to be kept"});
        continue;
      }
      if (!is_product(*role)) continue;
      Layer layer{};
      if (std::string reason = obstacle(node, layer); !reason.empty()) {
        kept_.insert(node);
        result_.kept.push_back({node, std::move(reason)});
        continue;
      }
      members_.insert(node);
      inputs_.insert(layer.input);
      result_.layers.push_back(layer);
    }
  }

  // Why a product stays in float; empty where `layer` was filled in.
  std::string obstacle(Node* node, Layer& layer) const {
    ValueInfo* const weight = node->inputs[1];
    const onnx::Tensor& tensor = *weight->constant;
    const bool is_convolution = node->is(Op::kConv) || node->is(Op::kConvTranspose);
    if (!is_activation(node->input(0)) || tensor.dtype != base::DType::kFloat32)
      return "it is not of float32";
    if (tensor.missing || tensor.element_count() == 0) return "its weight has no data";
    if (node->is(Op::kGemm) && (node->int_or("transA", 0) != 0 || node->float_or("alpha", 1) != 1 ||
                                node->float_or("beta", 1) != 1))
      return "the product is scaled, or its first operand is transposed";
    if (!is_convolution && tensor.dims.size() != 2)
      return fmt::format("its weight has {} dims, not 2", tensor.dims.size());
    if (is_convolution && tensor.dims.size() < 3) return "its weight is malformed";
    const std::int64_t rank =
        node->inputs[0]->has_rank ? static_cast<std::int64_t>(node->inputs[0]->shape.size()) : -1;
    if (rank < 2) return "the rank of its input is unknown, or below 2";
    layer = {node, node->inputs[0], weight, nullptr, 1, is_convolution ? 1 : rank - 1};
    if (node->is(Op::kConv) || (node->is(Op::kGemm) && node->int_or("transB", 0) != 0))
      layer.axis = 0;
    ValueInfo* const bias = node->input(2);
    if (bias != nullptr && bias->constant != nullptr && bias->producer == nullptr &&
        bias->constant->dims.size() == 1 && !bias->constant->missing)
      layer.bias = bias;
    return {};
  }

  // What follows the node and becomes part of it: an activation that alone reads the result.
  const Node* fused_after(const Node* node) const {
    const ValueInfo* result = node->output();
    if (result == nullptr || result->uses.size() != 1 || !result->returns.empty()) return nullptr;
    const Node* reader = result->uses[0].node;
    const auto role = role_of(reader);
    const bool is = role == kActivation && result->uses[0].index == 0 && !kept_.contains(reader) &&
                    reader->graph == node->graph;
    return is ? reader : nullptr;
  }
  ValueInfo* result_of(const Node* node) const {
    const Node* fused = fused_after(node);
    return fused != nullptr ? fused->output() : node->output();
  }

  bool is_wanted(const ValueInfo* value) const {
    return std::ranges::any_of(value->uses, [&](const onnx::Use& use) {
      if (members_.contains(use.node)) return use.index == 0;
      return wanted_.contains(use.node);
    });
  }

  // Nodes whose result a product takes, maybe after others that could be quantized as well.
  void find_wanted() {
    for (Node* node = model_.graph->last; node != nullptr; node = node->previous) {
      if (node->output() == nullptr || kept_.contains(node)) continue;
      const auto role = role_of(node);
      if (role && is_wanted(result_of(node))) wanted_.insert(node);
    }
  }

  bool is_available(ValueInfo* value) const {
    if (!is_activation(value)) return false;
    if (inputs_.contains(value)) return true;
    const Node* producer = value->producer;
    if (producer == nullptr) return false;
    if (members_.contains(producer)) return fused_after(producer) == nullptr;
    if (role_of(producer) != kActivation || kept_.contains(producer)) return false;
    const ValueInfo* before = producer->input(0);
    const Node* fused_with = before == nullptr ? nullptr : before->producer;
    return fused_with != nullptr && members_.contains(fused_with) &&
           fused_after(fused_with) == producer;
  }

  void find_members() {
    for (Node* node = model_.graph->first; node != nullptr; node = node->next) {
      const auto role = role_of(node);
      if (!role || is_product(*role) || kept_.contains(node) || node->outputs.size() != 1) continue;
      if (role == kActivation) continue;
      const bool moves = role == kSameScale;
      std::size_t activations = 0;
      bool all = true;
      for (std::size_t i = 0; i < (moves ? 1 : node->inputs.size()); ++i) {
        ValueInfo* const input = node->inputs[i];
        if (input == nullptr) continue;
        ++activations;
        all &= role == kProduct ? is_activation(input) : is_available(input);
      }
      const bool is_member =
          all && activations != 0 && (role == kProduct || wanted_.contains(node));
      if (!is_member) continue;
      members_.insert(node);
      for (std::size_t i = 0; i < activations; ++i) inputs_.insert(node->inputs[i]);
    }
  }

  // Multiply-adds of a product for one element of the batch; 0 where another size is dynamic.
  static double work_of(const Layer& layer) {
    const ValueInfo* result = layer.node->outputs[0];
    if (!result->has_rank || layer.node->is(Op::kConvTranspose)) return 0;
    const std::vector<std::int64_t>& dims = layer.weight->constant->dims;
    auto work = static_cast<double>(layer.weight->constant->element_count()) /
                static_cast<double>(dims[static_cast<std::size_t>(layer.axis)]);
    for (std::size_t i = 1; i < result->shape.size(); ++i) {
      const auto size = result->shape[i].known() ? result->shape[i].constant() : std::nullopt;
      if (!size) return 0;
      work *= static_cast<double>(*size);
    }
    return work;
  }

  // A product that has an integer kernel only with a quantized result, whose result nothing takes
  // in integers: rounding it is noise for little time where it is a small part of the model, as
  // the patches of a vision transformer are. Whether there was one.
  bool keep_what_float_reads() {
    constexpr double kMaxShare = 0.03;
    // What a processor for integers leaves to another one costs more than its multiply-adds.
    if (!target_.has_cpu_kernels) return false;
    double all = 0;
    std::vector<std::pair<double, const Node*>> found;
    for (const Layer& layer : result_.layers) {
      const double work = work_of(layer);
      all += work;
      if (work > 0 && role_of(layer.node) == kWeightedToInteger &&
          !is_read_by_member(result_of(layer.node)))
        found.emplace_back(work, layer.node);
    }
    std::ranges::stable_sort(found, {}, [](const auto& each) { return each.first; });
    double sum = 0;
    for (const auto& [work, node] : found) {
      sum += work;
      if (sum > kMaxShare * all) break;
      kept_.insert(node);
      result_.kept.push_back(
          {node, fmt::format("its result is read in float, and it is {:.1f}% of the multiply-adds",
                             100 * work / all)});
    }
    return sum > 0 && kept_.contains(found.front().second);
  }

  bool is_read_by_member(const ValueInfo* value) const {
    return std::ranges::any_of(value->uses, [&](const onnx::Use& use) {
      return members_.contains(use.node) && inputs_.contains(value);
    });
  }

  void collect_values() {
    for (ValueInfo* input : model_.graph->inputs)
      if (inputs_.contains(input)) result_.values.push_back(input);
    for (Node* node = model_.graph->first; node != nullptr; node = node->next) {
      const auto role = role_of(node);
      for (ValueInfo* value : node->outputs) {
        if (!is_activation(value)) continue;
        const Node* before =
            role == kActivation && node->input(0) != nullptr ? node->input(0)->producer : nullptr;
        const Node* by =
            before != nullptr && members_.contains(before) && fused_after(before) == node ? before
                                                                                          : node;
        if (is_read_by_member(value) || needs_quantized_result(by, node))
          result_.values.push_back(value);
      }
      if (members_.contains(node)) share_scales(node, *role);
    }
  }

  // Of a member, whether the target has an integer kernel only with a quantized result, where
  // `last` is the node or the activation that is fused into it.
  bool needs_quantized_result(const Node* node, const Node* last) const {
    if (!members_.contains(node)) return false;
    const auto role = role_of(node);
    const bool is_last = node == last ? fused_after(node) == nullptr : true;
    return is_last && role != kWeighted && role != kProduct;
  }

  void share_scales(Node* node, QuantizedRole role) {
    if (role == kSameScale) result_.scale_of[node->outputs[0]] = node->inputs[0];
    if (role != kSharedScale) return;
    ValueInfo* const shared = result_of(node);
    for (ValueInfo* input : node->inputs) {
      ValueInfo* const root = result_.root_of(input);
      if (root != shared) result_.scale_of[root] = shared;
    }
  }

  onnx::Model& model_;
  const targets::QuantizationTarget& target_;
  std::vector<precision::Pattern> keep_;
  std::set<const Node*> kept_, members_, wanted_;
  std::set<const ValueInfo*> inputs_;
  Placement result_;
};

}  // namespace

ValueInfo* Placement::root_of(ValueInfo* value) const {
  for (auto at = scale_of.find(value); at != scale_of.end(); at = scale_of.find(value))
    value = at->second;
  return value;
}

Placement place(onnx::Model& model, const targets::QuantizationTarget& target,
                const std::vector<std::string>& keep) {
  return Placing(model, target, keep).run();
}

void check_is_float(const onnx::Model& model) {
  for (const Node* node = model.graph->first; node != nullptr; node = node->next) {
    const std::string_view type = node->op_type;
    if (type.starts_with("QLinear") || type == "QuantizeLinear" || type == "DequantizeLinear" ||
        type == "MatMulNBits" || type == "MatMulInteger" || type == "ConvInteger" ||
        type == "GatherBlockQuantized" || type == "DynamicQuantizeLinear")
      base::fail("SX1831", "the model is quantized already",
                 "quantize the model in float that it was made of");
  }
}

}  // namespace sardonyx::quantization
