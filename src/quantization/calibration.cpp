#include "quantization/calibration.h"

#include <algorithm>
#include <set>

#include "base/diagnostic.h"
#include "symbolic/expr.h"

namespace sardonyx::quantization {

std::vector<Observed> observed_values(const Placement& placement) {
  std::vector<Observed> observed;
  std::map<const onnx::ValueInfo*, std::int64_t> axes;
  for (const Layer& layer : placement.layers) axes.emplace(layer.input, layer.input_axis);
  for (onnx::ValueInfo* value : placement.values) {
    const auto axis = axes.find(value);
    // Elements of a value with the scale of its producer's input are observed there.
    const auto shares = placement.scale_of.find(value);
    const bool is_moved =
        shares != placement.scale_of.end() && value->producer != nullptr &&
        std::ranges::find(value->producer->inputs, shares->second) != value->producer->inputs.end();
    if (is_moved && axis == axes.end()) continue;
    observed.push_back({value->name, axis == axes.end() ? -1 : axis->second});
  }
  return observed;
}

std::vector<std::int64_t> observed_bytes(
    const onnx::Model& model, std::span<const Observed> observed,
    const std::map<std::string, std::vector<std::int64_t>>& dims) {
  std::vector<symbolic::Binding> sizes;
  std::map<std::string_view, const onnx::ValueInfo*> values;
  for (const onnx::ValueInfo* input : model.graph->inputs) {
    values.emplace(input->name, input);
    const auto found = dims.find(input->name);
    if (found == dims.end() || found->second.size() != input->shape.size()) continue;
    for (std::size_t i = 0; i < found->second.size(); ++i)
      if (input->shape[i].is_symbol()) sizes.push_back({input->shape[i], found->second[i]});
  }
  for (const onnx::Node* node = model.graph->first; node != nullptr; node = node->next)
    for (const onnx::ValueInfo* value : node->outputs)
      if (value != nullptr) values.emplace(value->name, value);
  std::vector<std::int64_t> result;
  for (const Observed& each : observed) {
    const onnx::ValueInfo* value = values.at(each.name);
    std::int64_t bytes = value->has_rank ? std::int64_t{sizeof(float)} : -1;
    for (const symbolic::Expr& size : value->shape) {
      const auto known = symbolic::evaluate(size, sizes);
      if (!known || *known < 0 || __builtin_mul_overflow(bytes, *known, &bytes)) bytes = -1;
      if (bytes < 0) break;
    }
    result.push_back(bytes);
  }
  return result;
}

Calibration::Calibration(const Placement& placement, std::size_t rows)
    : observed_(observed_values(placement)), rows_(rows) {
  for (const Observed& each : observed_) axes_.emplace(each.name, each.axis);
  for (const Layer& layer : placement.layers) {
    const std::string& name = layer.node->outputs[0]->name;
    layers_.emplace(layer.input->name, name);
    inputs_.emplace(name, LayerInputs(layer));
  }
}

void Calibration::add(const std::string& name, std::span<const float> elements,
                      std::span<const std::int64_t> dims) {
  statistics_.add(name, elements, dims, axes_.at(name));
  if (rows_ == 0) return;
  const auto [begin, end] = layers_.equal_range(name);
  for (auto at = begin; at != end; ++at) inputs_.at(at->second).add(elements, dims, rows_);
}

void add_outputs(onnx::Model& model, std::span<const std::string> names) {
  std::map<std::string_view, onnx::ValueInfo*> values;
  for (onnx::ValueInfo* input : model.graph->inputs) values.emplace(input->name, input);
  for (const onnx::Node* node = model.graph->first; node != nullptr; node = node->next)
    for (onnx::ValueInfo* value : node->outputs)
      if (value != nullptr) values.emplace(value->name, value);
  std::vector<onnx::ValueInfo*> outputs = model.graph->outputs;
  std::set<onnx::ValueInfo*> present(outputs.begin(), outputs.end());
  for (const std::string& name : names) {
    const auto found = values.find(name);
    if (found != values.end() && present.insert(found->second).second)
      outputs.push_back(found->second);
  }
  onnx::set_outputs(model.graph, std::move(outputs));
}

}  // namespace sardonyx::quantization
