#include "viewer/alignment.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstring>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>

#include "proto/writer/write.h"
#include "viewer/attribute_text.h"
#include "viewer/model_texts.h"

namespace sardonyx::viewer {
namespace {

using onnx::Node;
using onnx::Tensor;
using onnx::ValueInfo;
using Index = std::int32_t;

std::size_t at(Index index) { return static_cast<std::size_t>(index); }

// Where a node may have its counterpart; empty: nowhere.
using Key = std::function<std::string(const Groups&, Index)>;

// Nodes of one key go together in order.
void pair_by(const Key& key, const Groups& a, const Groups& b, Alignment& found) {
  std::unordered_map<std::string, std::vector<Index>> of_b;
  for (Index i = 0; i < static_cast<Index>(b.nodes.size()); ++i) {
    if (found.a_of_b[at(i)] >= 0) continue;
    if (std::string text = key(b, i); !text.empty()) of_b[std::move(text)].push_back(i);
  }
  std::unordered_map<std::string, std::size_t> taken;
  for (Index i = 0; i < static_cast<Index>(a.nodes.size()); ++i) {
    if (found.b_of_a[at(i)] >= 0) continue;
    const std::string text = key(a, i);
    const auto others = of_b.find(text);
    if (text.empty() || others == of_b.end()) continue;
    std::size_t& next = taken[text];
    if (next == others->second.size()) continue;
    const Index other = others->second[next++];
    found.b_of_a[at(i)] = other;
    found.a_of_b[at(other)] = i;
  }
}

std::string place(const Groups& groups, Index node) {
  const Group& group = groups.groups[at(groups.group_of[at(node)])];
  return fmt::format("{}\n{}\n{}", static_cast<int>(group.kind), group.path,
                     operator_name(*groups.nodes[at(node)]));
}

std::string by_name(const Groups& groups, Index node) {
  const std::string& name = groups.nodes[at(node)]->name;
  return name.empty() ? "" : name + "\n" + operator_name(*groups.nodes[at(node)]);
}

std::string by_output(const Groups& groups, Index node) {
  const ValueInfo* output = groups.nodes[at(node)]->output();
  return output == nullptr ? "" : output->name;
}

std::string text_of(const ValueInfo* value) {
  if (value == nullptr) return "none";
  if (value->constant == nullptr) return type_text(*value);
  return fmt::format("constant {}[{}]", base::dtype_name(value->constant->dtype),
                     fmt::join(value->constant->dims, ", "));
}

void compare_values(const char* kind, const std::vector<ValueInfo*>& a,
                    const std::vector<ValueInfo*>& b, std::vector<std::string>& changes) {
  if (a.size() != b.size())
    changes.push_back(fmt::format("{}s: {} → {}", kind, a.size(), b.size()));
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    const std::string before = text_of(a[i]), after = text_of(b[i]);
    if (before != after) {
      changes.push_back(fmt::format("{} {}: {} → {}", kind, i, before, after));
    } else if (a[i] != nullptr && a[i]->constant && !same_data(*a[i]->constant, *b[i]->constant)) {
      changes.push_back(fmt::format("{} {}: other data", kind, i));
    }
  }
}

std::vector<std::string> changes_of(const Node& a, const Node& b) {
  std::vector<std::string> changes;
  if (operator_name(a) != operator_name(b))
    changes.push_back(fmt::format("operator: {} → {}", operator_name(a), operator_name(b)));
  const auto text = [](const Node& node, const std::string& name) -> std::optional<std::string> {
    const onnx::Attribute* attribute = node.find(name);
    return attribute == nullptr ? std::nullopt : std::optional(attribute_text(*attribute));
  };
  for (const onnx::Attribute& attribute : a.attributes) {
    const std::string before = attribute_text(attribute);
    const std::string after = text(b, attribute.name).value_or("none");
    if (before != after)
      changes.push_back(fmt::format("{}: {} → {}", attribute.name, before, after));
  }
  for (const onnx::Attribute& attribute : b.attributes)
    if (!text(a, attribute.name))
      changes.push_back(fmt::format("{}: none → {}", attribute.name, attribute_text(attribute)));
  compare_values("input", a.inputs, b.inputs, changes);
  compare_values("output", a.outputs, b.outputs, changes);
  return changes;
}

}  // namespace

Alignment aligned(const Groups& a, const Groups& b) {
  Alignment found;
  found.b_of_a.assign(a.nodes.size(), -1);
  found.a_of_b.assign(b.nodes.size(), -1);
  found.state_a.assign(a.nodes.size(), NodeState::kOnlyHere);
  found.state_b.assign(b.nodes.size(), NodeState::kOnlyHere);
  for (const Key& key : {Key(by_name), Key(by_output), Key(place)}) pair_by(key, a, b, found);
  for (Index i = 0; i < static_cast<Index>(a.nodes.size()); ++i) {
    const Index other = found.b_of_a[at(i)];
    if (other < 0) continue;
    std::vector<std::string> changes = changes_of(*a.nodes[at(i)], *b.nodes[at(other)]);
    const NodeState state = changes.empty() ? NodeState::kSame : NodeState::kChanged;
    found.state_a[at(i)] = found.state_b[at(other)] = state;
    if (!changes.empty()) found.changes.emplace(i, std::move(changes));
  }
  return found;
}

bool same_data(const Tensor& a, const Tensor& b) {
  if (a.missing || b.missing) return a.missing == b.missing;
  if (a.dtype == base::DType::kString) return a.strings == b.strings;
  const auto lies = [](const Tensor& tensor) {
    return tensor.is_materialized() && tensor.contiguous() && tensor.data != nullptr;
  };
  if (lies(a) && lies(b))
    return a.data == b.data ||
           std::memcmp(a.data, b.data, static_cast<std::size_t>(a.byte_count())) == 0;
  return proto::bytes_of(a) == proto::bytes_of(b);
}

}  // namespace sardonyx::viewer
