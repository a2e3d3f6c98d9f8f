// The caches of decoders: their sizes, and the type that keys and values are kept in.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "bindings.h"
#include "onnx/graph/ir.h"
#include "onnx/graph/shared_memory.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx::bindings {
namespace nb = nanobind;
using namespace nb::literals;

namespace {

// Inputs and outputs of GroupQueryAttention.
constexpr std::size_t kPastKey = 3, kPastValue = 4, kCosines = 7, kKeyScale = 12;
constexpr std::size_t kPresentKey = 1;
constexpr std::int64_t kTokenAxis = 2;  // of keys and values

// From here on an axis of an input or output has this size, whatever comes of that elsewhere.
void set_size(Model& model, const std::string& name, std::size_t axis, std::int64_t size) {
  const onnx::Graph& graph = *model.internal().graph;
  for (const std::vector<onnx::ValueInfo*>* values : {&graph.inputs, &graph.outputs})
    for (onnx::ValueInfo* value : *values)
      if (value->name == name && value->has_rank && axis < value->shape.size())
        value->shape[axis] = size;
}

onnx::ValueInfo* named(const std::vector<onnx::ValueInfo*>& values, const std::string& name) {
  const auto found =
      std::ranges::find_if(values, [&name](const auto* value) { return value->name == name; });
  return found == values.end() ? nullptr : *found;
}

onnx::ValueInfo* input_of(const onnx::Model& model, const std::string& name) {
  return named(model.graph->inputs, name);
}

// Whether an input and an output of these names may be one buffer.
bool may_share_memory(const Model& model, const std::string& input, const std::string& output) {
  const onnx::Graph& graph = *model.internal().graph;
  const onnx::ValueInfo* before = named(graph.inputs, input);
  const onnx::ValueInfo* after = named(graph.outputs, output);
  return before != nullptr && after != nullptr && onnx::may_share_memory(*before, *after);
}

// Has an output written where all that reads an input has run, if that can be had.
void write_after_readers(Model& model, const std::string& input, const std::string& output) {
  onnx::Model& whole = model.internal();
  const onnx::ValueInfo* before = input_of(whole, input);
  onnx::ValueInfo* after = named(whole.graph->outputs, output);
  if (before != nullptr && after != nullptr) onnx::write_after_readers(whole, *before, *after);
}

std::vector<onnx::Node*> cache_readers(const Model& model) {
  std::vector<onnx::Node*> found;
  for (onnx::Node* node = model.internal().graph->first; node != nullptr; node = node->next)
    if (node->op_type == "GroupQueryAttention" && node->domain == "com.microsoft" &&
        node->input(kPastKey) != nullptr && node->input(kPastValue) != nullptr)
      found.push_back(node);
  return found;
}

bool is_length_of_cache(const onnx::Node& node) {
  return node.is("Shape") && node.int_or("start", 0) == kTokenAxis &&
         node.int_or("end", 0) == kTokenAxis + 1;
}

onnx::Node* add_int_node(onnx::Model& model, onnx::Node* position, const char* type,
                         std::vector<onnx::ValueInfo*> inputs) {
  onnx::Node* node = model.add_node(type, "");
  node->inputs = std::move(inputs);
  onnx::ValueInfo* value = model.add_value("past_length", position->graph);
  value->dtype = base::DType::kInt64;
  value->has_rank = true;
  value->shape = {1};
  onnx::add_output(node, value);
  onnx::enter_uses(node);
  onnx::insert_before(position, node);
  return node;
}

// The number of elements of the mask or the tokens along their second axis.
onnx::ValueInfo* length_of(onnx::Model& model, onnx::Node* position, onnx::ValueInfo* value) {
  onnx::Node* node = add_int_node(model, position, "Shape", {value});
  onnx::set_attribute(node, "start", std::int64_t{1});
  onnx::set_attribute(node, "end", std::int64_t{2});
  return node->output();
}

// Where the length of a cache is all that is read of it besides GroupQueryAttention, it becomes
// that of the mask but for the tokens: a buffer has more places than it holds tokens.
void count_past_by_mask(Model& model, const std::string& mask, const std::string& tokens) {
  onnx::Model& whole = model.internal();
  onnx::ValueInfo* of_all = input_of(whole, mask);
  onnx::ValueInfo* of_tokens = input_of(whole, tokens);
  if (of_all == nullptr || of_tokens == nullptr) return;
  std::vector<onnx::Node*> lengths;
  for (const onnx::Node* reader : cache_readers(model))
    for (std::size_t which : {kPastKey, kPastValue})
      for (const onnx::Use& use : reader->input(which)->uses)
        if (use.node->graph == whole.graph && is_length_of_cache(*use.node))
          lengths.push_back(use.node);
  for (onnx::Node* length : lengths) {
    onnx::ValueInfo* all = length_of(whole, length, of_all);
    onnx::ValueInfo* last = length_of(whole, length, of_tokens);
    onnx::Node* past = add_int_node(whole, length, "Sub", {all, last});
    onnx::replace_all_uses(length->output(), past->output());
    onnx::erase(length);
  }
}

// (past keys, past values, rotated width, whether pairs are neighbors) of each; the width is 0
// where keys come rotated or not from elsewhere.
nb::list rotations(const Model& model) {
  nb::list found;
  for (const onnx::Node* node : cache_readers(model)) {
    const onnx::ValueInfo* cosines = node->input(kCosines);
    const bool rotates = node->int_or("do_rotary", 0) != 0 && cosines != nullptr &&
                         cosines->has_rank && !cosines->shape.empty() &&
                         cosines->shape.back().is_constant();
    found.append(nb::make_tuple(node->input(kPastKey)->name, node->input(kPastValue)->name,
                                rotates ? 2 * cosines->shape.back().value() : 0,
                                node->int_or("rotary_interleaved", 0) != 0));
  }
  return found;
}

using Scales = std::map<std::string, std::vector<float>>;

onnx::ValueInfo* add_scale(onnx::Model& model, const onnx::ValueInfo& past, const Scales& scales) {
  const auto found = scales.find(past.name);
  if (found == scales.end()) base::fail("SX1001", "there is no scale for '" + past.name + "'");
  const std::vector<float>& values = found->second;
  auto owner = std::make_shared<std::vector<float>>(values);
  onnx::Tensor tensor;
  tensor.dtype = base::DType::kFloat32;
  tensor.dims = {1};
  if (values.size() > 1) {
    const std::int64_t heads = past.shape[1].value();
    tensor.dims = {1, heads, 1, static_cast<std::int64_t>(values.size()) / heads};
  }
  tensor.data = reinterpret_cast<const std::byte*>(owner->data());
  tensor.owner = std::move(owner);
  onnx::ValueInfo* value = model.add_weight(past.name + ".scale", std::move(tensor));
  value->is_weight = false;
  return value;
}

// Keys and values are kept as integers of `bits` bits, two to a byte where these are four. Their
// scales are a number, or one for each channel of each head.
void quantize_caches(Model& model, std::int64_t bits, const Scales& scales) {
  onnx::Model& graph = model.internal();
  for (onnx::Node* node : cache_readers(model)) {
    bool per_channel = false;
    for (std::size_t which = 0; which < 2; ++which) {
      onnx::ValueInfo* past = node->input(kPastKey + which);
      onnx::ValueInfo* scale = add_scale(graph, *past, scales);
      per_channel = per_channel || scale->shape.size() > 1;
      while (node->inputs.size() <= kKeyScale + which) onnx::add_input(node, nullptr);
      onnx::set_input(node, kKeyScale + which, scale);
      for (onnx::ValueInfo* value : {past, node->output(kPresentKey + which)}) {
        if (value == nullptr) continue;
        value->dtype = bits == 4 ? base::DType::kUInt8 : base::DType::kInt8;
        if (bits == 4) value->shape[3] = (value->shape[3].value() + 1) / 2;
      }
    }
    const std::string kind = per_channel ? "PER_CHANNEL" : "PER_TENSOR";
    onnx::set_attribute(node, "k_quant_type", kind);
    onnx::set_attribute(node, "v_quant_type", kind);
    onnx::set_attribute(node, "kv_cache_bit_width", bits);
  }
}

}  // namespace

void bind_caches(nb::module_& module) {
  module.def("set_size", &set_size, "model"_a, "name"_a, "axis"_a, "size"_a,
             "Says the size of an axis of an input or output.");
  module.def(
      "may_share_memory", &may_share_memory, "model"_a, "past"_a, "present"_a,
      "Whether a runtime may write an output over an input's memory, in any order of nodes.");
  module.def("write_after_readers", &write_after_readers, "model"_a, "past"_a, "present"_a,
             "Has a state written when all that reads it has run, where its sizes allow that.");
  module.def(
      "count_past_by_mask", &count_past_by_mask, "model"_a, "mask"_a, "tokens"_a,
      "Computes the length of caches that GroupQueryAttention keeps of those of the inputs.");
  module.def(
      "cache_rotations", &rotations, "model"_a,
      "(past keys, past values, rotated width, whether pairs are neighbors) of the operators "
      "that write new keys and values behind the old ones.");
  module.def("quantize_caches", &quantize_caches, "model"_a, "bits"_a, "scales"_a,
             "Has these keep keys and values in integers, by scales of the inputs' names.");
}

}  // namespace sardonyx::bindings
