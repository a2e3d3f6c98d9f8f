#include "quantization/removal.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "onnx/graph/recipe.h"
#include "quantization/ir_names.h"
#include "quantization/ranges.h"

namespace sardonyx::quantization {
namespace {

// The elements of a constant as floats; none where the value is no constant.
std::optional<std::vector<double>> elements_of(const ValueInfo* value) {
  if (value == nullptr || value->constant == nullptr || value->constant->missing)
    return std::nullopt;
  const Tensor& tensor = *value->constant;
  return onnx::derivation_of(tensor) != nullptr ? onnx::computed(tensor).reals() : tensor.reals();
}

// Scales, and zero points for each of them.
struct Scales {
  std::vector<double> scales, zeros;

  static std::optional<Scales> of(const Node* node) {
    auto scales = elements_of(node->input(1));
    if (!scales || scales->empty() || node->inputs[1]->constant->dtype != DType::kFloat32 ||
        node->int_or("block_size", 0) != 0)
      return std::nullopt;
    std::vector<double> zeros(scales->size());
    if (node->input(2) != nullptr) {
      auto given = elements_of(node->input(2));
      if (!given || given->size() != scales->size()) return std::nullopt;
      zeros = std::move(*given);
    }
    return Scales{std::move(*scales), std::move(zeros)};
  }
};

// How many elements follow one another before the channel changes.
std::optional<std::size_t> inner_of(const Node* node, const Tensor& tensor, std::size_t scales) {
  if (scales == 1) return 1;
  const auto rank = static_cast<std::int64_t>(tensor.dims.size());
  std::int64_t axis = node->int_or("axis", 1);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank ||
      tensor.dims[static_cast<std::size_t>(axis)] != static_cast<std::int64_t>(scales))
    return std::nullopt;
  std::int64_t inner = 1;
  for (std::int64_t i = axis + 1; i < rank; ++i) inner *= tensor.dims[static_cast<std::size_t>(i)];
  return static_cast<std::size_t>(inner);
}

class Removing {
 public:
  explicit Removing(onnx::Model& model) : model_(model) {}

  void run() {
    std::vector<Node*> nodes;
    for (Node* node = model_.graph->first; node != nullptr; node = node->next)
      nodes.push_back(node);
    for (Node* node : nodes) {
      if (node->is(Op::kDequantizeLinear)) {
        const bool is_constant = node->inputs[0]->constant != nullptr;
        is_constant ? restore_constant(node) : bypass(node);
      } else if (moves_elements(node)) {
        const auto found = ranges_.find(node->input(0));
        if (found != ranges_.end()) ranges_.emplace(node->outputs[0], found->second);
      }
    }
    for (Node* node : nodes)
      if (node->graph != nullptr && node->is(Op::kQuantizeLinear) &&
          !onnx::has_uses(node->outputs[0]))
        onnx::erase(node);
  }

 private:
  static bool moves_elements(const Node* node) {
    return node->is(Op::kMaxPool) || node->is(Op::kReshape) || node->is(Op::kFlatten) ||
           node->is(Op::kTranspose) || node->is(Op::kSqueeze) || node->is(Op::kUnsqueeze);
  }

  void restore_constant(Node* node) {
    const ValueInfo* codes = node->inputs[0];
    const auto scales = Scales::of(node);
    auto elements = elements_of(codes);
    if (!scales || !elements || !node->outputs[0]->returns.empty()) return;
    const std::size_t count = scales->scales.size();
    const auto inner = inner_of(node, *codes->constant, count);
    if (!inner) return;
    std::vector<float> floats(elements->size());
    for (std::size_t i = 0; i < floats.size(); ++i) {
      const std::size_t channel = i / *inner % count;
      floats[i] =
          static_cast<float>(((*elements)[i] - scales->zeros[channel]) * scales->scales[channel]);
    }
    ValueInfo* const weight = model_.add_weight(
        codes->name + "_float", Tensor::of_bytes(DType::kFloat32, codes->constant->dims,
                                                 std::as_bytes(std::span<const float>(floats))));
    onnx::replace_all_uses(node->outputs[0], weight);
    onnx::erase(node);
  }

  // The operand of a node that passes codes on, or limits them by a constant; null for any other.
  static ValueInfo* codes_of(const Node* node) {
    if (moves_elements(node)) return node->inputs[0];
    if ((!node->is(Op::kMax) && !node->is(Op::kMin)) || node->inputs.size() != 2) return nullptr;
    for (std::size_t i = 0; i < 2; ++i)
      if (node->inputs[i]->constant == nullptr && elements_of(node->inputs[1 - i]))
        return node->inputs[i];
    return nullptr;
  }

  // Nodes between the QuantizeLinear and the DequantizeLinear, which no other node reads.
  static std::vector<Node*> nodes_between(const Node* dequantize) {
    std::vector<Node*> nodes;
    const ValueInfo* value = dequantize->inputs[0];
    while (value != nullptr && value->producer != nullptr && codes_of(value->producer) != nullptr &&
           value->index == 0 && value->uses.size() == 1 && value->returns.empty()) {
      nodes.push_back(value->producer);
      value = codes_of(value->producer);
    }
    return nodes;
  }

  // They compute on floats from now on, of `source`.
  void compute_on_floats(const std::vector<Node*>& nodes, ValueInfo* source, const Scales& scales) {
    for (Node* node : nodes) {
      const bool is_first = node == nodes.back();
      const ValueInfo* codes = codes_of(node);
      for (std::size_t i = 0; i < node->inputs.size(); ++i) {
        ValueInfo* const input = node->inputs[i];
        if (input == codes) {
          if (is_first) onnx::set_input(node, i, source);
        } else if (!moves_elements(node)) {
          std::vector<float> floats;
          const auto elements = elements_of(input);
          for (const double code : *elements)
            floats.push_back(static_cast<float>((code - scales.zeros[0]) * scales.scales[0]));
          onnx::set_input(
              node, i,
              model_.add_constant(Tensor::of_bytes(DType::kFloat32, input->constant->dims,
                                                   std::as_bytes(std::span<const float>(floats)))));
        }
      }
      node->outputs[0]->dtype = DType::kFloat32;
    }
  }

  void bypass(Node* node) {
    const std::vector<Node*> between = nodes_between(node);
    const ValueInfo* codes = between.empty() ? node->inputs[0] : codes_of(between.back());
    const Node* quantize = codes->producer;
    const auto after = Scales::of(node);
    if (quantize == nullptr || !quantize->is(Op::kQuantizeLinear) || !after ||
        after->scales.size() != 1)
      return;
    // Models that were read have no types in between; without a zero point it is uint8.
    const ValueInfo* zero = node->input(2);
    const DType dtype = zero != nullptr ? zero->constant->dtype : DType::kUInt8;
    if (zero == nullptr && quantize->int_or("output_dtype", 0) != 0) return;
    constexpr double kLargestFloat8 = 448;
    const bool is_integer = base::is_integer(dtype);
    const double lowest =
        is_integer ? static_cast<double>(base::integer_min(dtype)) : -kLargestFloat8;
    const double highest =
        is_integer ? static_cast<double>(base::integer_max(dtype)) : kLargestFloat8;
    const Range range{(lowest - after->zeros[0]) * after->scales[0],
                      (highest - after->zeros[0]) * after->scales[0]};
    ValueInfo* source = quantize->inputs[0];
    if (!between.empty()) {
      compute_on_floats(between, source, *after);
      source = node->inputs[0];
    }
    put_clip(node, source, range);
  }

  // In place of the DequantizeLinear. What moves elements of a narrower range needs none.
  void put_clip(Node* node, ValueInfo* source, Range range) {
    ValueInfo* const value = node->outputs[0];
    const auto found = ranges_.find(source);
    const bool is_within = found != ranges_.end() && found->second.low >= range.low &&
                           found->second.high <= range.high;
    if (is_within && value->returns.empty()) {
      onnx::replace_all_uses(value, source);
      onnx::erase(node);
      return;
    }
    Node* const clip = model_.add_node("Clip", "");
    clip->origin = node->origin;
    clip->metadata = node->metadata;
    model_.name_node(clip, value->name + "_Clip");
    onnx::insert_before(node, clip);
    for (ValueInfo* input : {source, limit(range.low), limit(range.high)})
      onnx::add_input(clip, input);
    node->outputs.clear();
    clip->outputs = {value};
    value->producer = clip;
    value->index = 0;
    onnx::erase(node);
    ranges_.insert_or_assign(value, range);
  }

  ValueInfo* limit(double value) {
    return model_.add_constant(Tensor::filled(DType::kFloat32, {}, value));
  }

  onnx::Model& model_;
  std::map<const ValueInfo*, Range> ranges_;
};

}  // namespace

void remove_quantization(onnx::Model& model) { Removing(model).run(); }

}  // namespace sardonyx::quantization
