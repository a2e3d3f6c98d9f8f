#include "onnx/graph/structure.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <variant>
#include <vector>

namespace sardonyx::onnx {
namespace {

// Constants up to this size are compared by their bytes.
constexpr std::int64_t kComparedBytes = 4096;

// Words are multiplied and folded, one after the other.
class Hash {
 public:
  Hash& add(std::uint64_t word) {
    value_ = (value_ ^ word) * 0x9e3779b97f4a7c15ULL;
    value_ ^= value_ >> 32;
    return *this;
  }
  Hash& add(std::string_view text) {
    add(text.size());
    for (; text.size() >= sizeof(std::uint64_t); text.remove_prefix(sizeof(std::uint64_t))) {
      std::uint64_t word = 0;
      std::memcpy(&word, text.data(), sizeof(word));
      add(word);
    }
    std::uint64_t rest = 0;
    if (!text.empty()) std::memcpy(&rest, text.data(), text.size());
    return add(rest);
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

void add(Hash& hash, const Tensor& tensor) {
  hash.add(static_cast<std::uint64_t>(tensor.dtype)).add(tensor.dims.size());
  for (const std::int64_t dim : tensor.dims) hash.add(static_cast<std::uint64_t>(dim));
  for (const std::string& text : tensor.strings) hash.add(text);
  const bool is_plain =
      tensor.data != nullptr && !tensor.missing && tensor.contiguous() && tensor.is_materialized();
  if (is_plain && tensor.byte_count() <= kComparedBytes) {
    hash.add(std::string_view(reinterpret_cast<const char*>(tensor.data),
                              static_cast<std::size_t>(tensor.byte_count())));
    return;
  }
  hash.add(reinterpret_cast<std::uintptr_t>(tensor.data));
  hash.add(reinterpret_cast<std::uintptr_t>(tensor.recipe.get()));
  for (const std::int64_t stride : tensor.strides) hash.add(static_cast<std::uint64_t>(stride));
}

class Structure {
 public:
  explicit Structure(const Model& model) : model_(model), of_(model.value_count(), 0) {}

  std::uint64_t run() {
    Hash hash;
    hash.add(static_cast<std::uint64_t>(model_.ir_version));
    for (const auto& [domain, version] : model_.opsets)
      hash.add(domain).add(static_cast<std::uint64_t>(version));
    for (const ValueInfo* input : model_.graph->inputs) of_[input->id] = named(input);
    hash.add(graph(*model_.graph));
    for (const ValueInfo* output : model_.graph->outputs) hash.add(output->name);
    for (const Function& each : model_.functions) {
      hash.add(each.domain).add(each.name).add(each.overload);
      for (const auto& [domain, version] : each.opsets)
        hash.add(domain).add(static_cast<std::uint64_t>(version));
      if (each.body == nullptr) continue;
      for (const ValueInfo* input : each.body->inputs) of_[input->id] = named(input);
      hash.add(graph(*each.body));
    }
    return hash.value();
  }

 private:
  static std::uint64_t named(const ValueInfo* input) {
    Hash hash;
    hash.add("input").add(input->name).add(static_cast<std::uint64_t>(input->dtype));
    if (input->initial != nullptr) add(hash, *input->initial);
    return hash.value();
  }

  std::uint64_t value(const ValueInfo* value) {
    if (value == nullptr) return 1;
    std::uint64_t& known = of_[value->id];
    if (known != 0) return known;
    Hash hash;
    if (value->constant != nullptr && value->producer == nullptr)
      add(hash.add("constant"), *value->constant);
    else
      hash.add("other").add(value->name);
    return known = hash.value();
  }

  std::uint64_t graph(const Graph& graph) {
    Hash hash;
    std::uint64_t nodes = 0, sum = 0;
    for (const Node* node = graph.first; node != nullptr; node = node->next, ++nodes)
      sum += this->node(*node);  // in any order
    hash.add(nodes).add(sum).add(graph.inputs.size());
    for (const ValueInfo* output : graph.outputs) hash.add(value(output));
    return hash.value();
  }

  std::uint64_t node(const Node& node) {
    Hash hash;
    hash.add(node.domain).add(node.op_type).add(node.overload).add(node.carried);
    for (const ValueInfo* input : node.inputs) hash.add(value(input));
    std::vector<const Attribute*> attributes;
    for (const Attribute& each : node.attributes) attributes.push_back(&each);
    std::ranges::sort(attributes, {}, &Attribute::name);
    for (const Attribute* each : attributes) {
      hash.add(each->name).add(each->reference).add(each->carried);
      hash.add(each->data.index());
      std::visit([&](const auto& data) { this->data(hash, data); }, each->data);
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      hash.add(node.outputs[i] != nullptr ? 1 : 0);
      if (node.outputs[i] == nullptr) continue;
      Hash output = hash;
      of_[node.outputs[i]->id] = output.add(i).value();
    }
    return hash.value();
  }

  template <class Data>
  void data(Hash& hash, const Data& data) {
    if constexpr (std::is_same_v<Data, float>) {
      hash.add(std::bit_cast<std::uint32_t>(data));
    } else if constexpr (std::is_same_v<Data, std::string>) {
      hash.add(data);
    } else if constexpr (std::is_same_v<Data, std::shared_ptr<const Tensor>>) {
      if (data != nullptr) add(hash, *data);
    } else if constexpr (std::is_same_v<Data, Graph*>) {
      body(hash, *data);
    } else if constexpr (std::is_same_v<Data, Opaque>) {
      hash.add(static_cast<std::uint64_t>(data.kind)).add(data.fields);
    } else if constexpr (std::is_arithmetic_v<Data> || std::is_enum_v<Data>) {
      hash.add(static_cast<std::uint64_t>(data));
    } else {
      hash.add(data.size());
      for (const auto& each : data) this->data(hash, each);
    }
  }

  // What a body is given is known by its place.
  void body(Hash& hash, const Graph& inner) {
    ++depth_;
    for (std::size_t i = 0; i < inner.inputs.size(); ++i)
      of_[inner.inputs[i]->id] = Hash().add("given").add(depth_).add(i).value();
    hash.add(graph(inner));
    --depth_;
  }

  const Model& model_;
  std::vector<std::uint64_t> of_;  // by the value's id; 0: not known yet
  std::uint64_t depth_ = 0;
};

}  // namespace

std::uint64_t structure_of(const Model& model) { return Structure(model).run(); }

}  // namespace sardonyx::onnx
