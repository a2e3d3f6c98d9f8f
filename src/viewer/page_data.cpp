#include "viewer/page_data.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/diagnostic.h"
#include "onnx/graph/count_nodes.h"
#include "sardonyx/report.h"
#include "viewer/attribute_text.h"
#include "viewer/layered.h"
#include "viewer/measured_nodes.h"
#include "viewer/model_texts.h"
#include "viewer/statistics.h"

namespace sardonyx::viewer {
namespace {

using onnx::Model;
using onnx::Node;
using onnx::ValueInfo;
using Index = std::int32_t;

constexpr std::size_t kMaxCall = 400;   // letters of a captured call
constexpr std::size_t kMaxFrames = 12;  // of a stack trace, the innermost
constexpr Index kBend = 4;              // after the kinds of items

std::string_view metadata_of(const Node& node, std::string_view key) {
  for (const auto& [name, value] : node.metadata)
    if (name == key) return value;
  return {};
}

std::string_view stack_of(const Node& node) {
  return node.origin != nullptr ? std::string_view(node.origin->stack_trace)
                                : metadata_of(node, "pkg.torch.onnx.stack_trace");
}

std::string_view call_of(const Node& node) {
  return node.origin != nullptr ? std::string_view(node.origin->captured_text)
                                : metadata_of(node, "pkg.torch.onnx.fx_node");
}

// A frame is `File "...", line 1, in forward` and the line of code after it.
std::vector<std::string_view> frames_of(std::string_view stack) {
  constexpr std::string_view kFrame = "File \"";
  std::vector<std::string_view> frames;
  for (std::size_t begin = stack.find(kFrame); begin != std::string_view::npos;) {
    const std::size_t end = stack.find(kFrame, begin + 1);
    std::string_view frame = stack.substr(begin, end == std::string_view::npos ? end : end - begin);
    while (!frame.empty() && (frame.back() == '\n' || frame.back() == ' ')) frame.remove_suffix(1);
    frames.push_back(frame);
    begin = end;
  }
  if (frames.size() > kMaxFrames)
    frames.erase(frames.begin(), frames.end() - static_cast<std::ptrdiff_t>(kMaxFrames));
  return frames;
}

std::string number(double value) {
  return std::isfinite(value) ? fmt::format("{:.6g}", value) : "null";
}

std::string statistics_json(const Statistics& found) {
  std::vector<std::string> values;
  for (const std::string& value : found.values) values.push_back(json_string(value));
  return fmt::format(
      R"({{"elements":{},"sample":{},"min":{},"max":{},"mean":{},"deviation":{},"zeros":{},)"
      R"("nans":{},"infinities":{},"histogram":[{}],"values":[{}]}})",
      found.elements, found.looked_at, number(found.min), number(found.max), number(found.mean),
      number(found.deviation), found.zeros, found.nans, found.infinities,
      fmt::join(found.histogram, ","), fmt::join(values, ","));
}

class Writer {
 public:
  Writer(const Model& model, const Groups& groups, Texts& texts)
      : model_(model), groups_(groups), texts_(texts) {}

  std::string json(std::string_view title) {
    std::vector<std::string> groups, nodes, values;
    for (const Group& group : groups_.groups) groups.push_back(group_json(group));
    for (std::size_t i = 0; i < groups_.nodes.size(); ++i) nodes.push_back(node_json(i));
    for (const ValueInfo* value : groups_.values) values.push_back(value_json(*value));
    return fmt::format(
        R"({{"title":{},"facts":[{}],"groups":[{}],"nodes":[{}],"values":[{}],"statistics":[{}]}})",
        json_string(title), fmt::join(facts(), ","), fmt::join(groups, ",\n"),
        fmt::join(nodes, ",\n"), fmt::join(values, ",\n"), fmt::join(statistics_, ",\n"));
  }

 private:
  Index value(const ValueInfo* info) const {
    const auto found = groups_.value_index.find(info);
    return found == groups_.value_index.end() ? -1 : found->second;
  }

  std::vector<Index> values(const std::vector<ValueInfo*>& all) const {
    std::vector<Index> indices;
    for (const ValueInfo* each : all) indices.push_back(each == nullptr ? -1 : value(each));
    return indices;
  }

  // [kind, name, path, type, parent, node, nodes, bytes, weights, places, near, far]
  std::string group_json(const Group& group) {
    const Layering layering = layered(ranks_of(group), group.links);
    std::vector<Index> places, weights;
    places.reserve(layering.places.size() * 3);
    for (const Placement& place : layering.places) {
      const bool is_bend = place.item < 0;
      const Item item = is_bend ? Item{} : group.items[static_cast<std::size_t>(place.item)];
      places.push_back(is_bend ? kBend : static_cast<Index>(item.kind));
      places.push_back(is_bend ? -1 : item.index);
      places.push_back(place.layer);
    }
    for (const ValueInfo* weight : group.weights)
      if (const Index index = value(weight); index >= 0) weights.push_back(index);
    return fmt::format("[{},{},{},{},{},{},{},{},[{}],[{}],[{}],[{}]]",
                       static_cast<int>(group.kind), texts_.index(group.name),
                       texts_.index(group.path), texts_.index(group.type), group.parent, group.node,
                       group.node_count, group.weight_bytes, fmt::join(weights, ","),
                       fmt::join(places, ","), fmt::join(flat(layering.near), ","),
                       fmt::join(flat(layering.far), ","));
  }

  static std::vector<Index> flat(const std::vector<Link>& links) {
    std::vector<Index> numbers;
    numbers.reserve(links.size() * 3);
    for (const Link& link : links) numbers.insert(numbers.end(), {link.from, link.to, link.value});
    return numbers;
  }

  // [operator, name, group, attributes, inputs, outputs, frames, call, rules]
  std::string node_json(std::size_t index) {
    const Node& node = *groups_.nodes[index];
    std::vector<Index> attributes, frames;
    for (const onnx::Attribute& attribute : node.attributes) {
      attributes.push_back(texts_.index(attribute.name));
      attributes.push_back(texts_.index(attribute_text(attribute)));
    }
    for (const std::string_view frame : frames_of(stack_of(node)))
      frames.push_back(texts_.index(frame));
    return fmt::format("[{},{},{},[{}],[{}],[{}],[{}],{},{}]", texts_.index(operator_name(node)),
                       texts_.index(node.name), groups_.group_of[index], fmt::join(attributes, ","),
                       fmt::join(values(node.inputs), ","), fmt::join(values(node.outputs), ","),
                       fmt::join(frames, ","), texts_.index(call_of(node).substr(0, kMaxCall)),
                       texts_.index(metadata_of(node, "sardonyx.rules")));
  }

  // [name, type, is constant, bytes, statistics]
  std::string value_json(const ValueInfo& info) {
    Index statistics = -1;
    if (info.constant != nullptr) {
      if (const auto found = statistics_of(*info.constant)) {
        statistics = static_cast<Index>(statistics_.size());
        statistics_.push_back(statistics_json(*found));
      }
    }
    return fmt::format("[{},{},{},{},{}]", texts_.index(info.name), texts_.index(type_text(info)),
                       info.constant != nullptr ? 1 : 0,
                       info.constant != nullptr ? info.constant->byte_count() : 0, statistics);
  }

  std::vector<std::string> facts() const {
    std::int64_t bytes = 0;
    for (const ValueInfo* weight : weights_of(model_)) bytes += weight->constant->byte_count();
    const std::vector<std::string> dims = dynamic_dims(model_);
    std::vector<std::string> opsets;
    for (const auto& [domain, version] : model_.opsets)
      opsets.push_back(domain.empty() ? std::to_string(version)
                                      : fmt::format("{} {}", domain, version));
    std::vector<std::string> facts;
    const auto fact = [&](std::string_view name, std::string_view text) {
      if (!text.empty())
        facts.push_back(fmt::format("[{},{}]", json_string(name), json_string(text)));
    };
    fact("nodes", std::to_string(onnx::count_nodes(*model_.graph)));
    fact("weights", size_text(bytes));
    fact("opset", fmt::format("{}", fmt::join(opsets, ", ")));
    fact("dynamic", dims.empty() ? "no size" : fmt::format("{}", fmt::join(dims, ", ")));
    fact("made by", model_.producer_name + (model_.producer_version.empty() ? "" : " ") +
                        model_.producer_version);
    fact("target", model_.target);
    return facts;
  }

  const Model& model_;
  const Groups& groups_;
  Texts& texts_;
  std::vector<std::string> statistics_;
};

// A number or null for each node.
std::string numbers_json(const Groups& groups, const NodeNumbers& found) {
  std::vector<std::string> numbers;
  for (const Node* node : groups.nodes) {
    const auto place = found.find(node);
    numbers.push_back(place == found.end() ? "null" : number(place->second));
  }
  return fmt::format("[{}]", fmt::join(numbers, ","));
}

std::string notes_json(const Groups& groups, const std::map<std::string, std::string>& notes) {
  std::vector<std::string> items;
  for (std::size_t i = 0; i < groups.nodes.size() && !notes.empty(); ++i) {
    const Node* node = groups.nodes[i];
    auto found = notes.find(node->name);
    for (std::size_t k = 0; k < node->outputs.size() && found == notes.end(); ++k)
      if (node->outputs[k] != nullptr) found = notes.find(node->outputs[k]->name);
    if (found != notes.end())
      items.push_back(fmt::format("\"{}\":{}", i, json_string(found->second)));
  }
  return fmt::format("{{{}}}", fmt::join(items, ","));
}

}  // namespace

std::int32_t Texts::index(std::string_view text) {
  const auto [place, made] =
      index_.try_emplace(std::string(text), static_cast<Index>(texts_.size()));
  if (made) texts_.push_back(json_string(text));
  return place->second;
}

std::string Texts::json() const { return fmt::format("[{}]", fmt::join(texts_, ",\n")); }

std::string model_json(const Model& model, const Groups& groups, std::string_view title,
                       Texts& texts) {
  return Writer(model, groups, texts).json(title);
}

std::string measures_json(const Groups& groups, const Groups* others,
                          std::span<const Measure> measures) {
  std::vector<std::string> items;
  for (const Measure& measure : measures) {
    const bool of_parts = is_time(measure.unit);
    const NodeNumbers found = numbers_of_nodes(measure.nodes, groups.nodes, of_parts);
    if (found.empty())
      base::fail(
          "SX1001",
          fmt::format("the measures \"{}\" have no number of a node of this model", measure.title),
          "measure the same file, or name nodes as `sardonyx inspect --graph` does");
    std::string of_other;
    if (others != nullptr && !measure.others.empty())
      of_other = ",\"others\":" +
                 numbers_json(*others, numbers_of_nodes(measure.others, others->nodes, of_parts));
    items.push_back(fmt::format(R"({{"title":{},"unit":{},"nodes":{}{},"notes":{}}})",
                                json_string(measure.title), json_string(measure.unit),
                                numbers_json(groups, found), of_other,
                                notes_json(groups, measure.notes)));
  }
  return fmt::format("[{}]", fmt::join(items, ","));
}

std::string alignment_json(const Alignment& alignment) {
  const auto digits = [](const std::vector<NodeState>& states) {
    std::string text;
    for (const NodeState state : states) text += static_cast<char>('0' + static_cast<int>(state));
    return text;
  };
  std::vector<std::string> changes;
  for (const auto& [node, lines] : alignment.changes) {
    std::vector<std::string> texts;
    for (const std::string& line : lines) texts.push_back(json_string(line));
    changes.push_back(fmt::format(R"("{}":[{}])", node, fmt::join(texts, ",")));
  }
  return fmt::format(R"({{"counterparts":[{}],"states":["{}","{}"],"changes":{{{}}}}})",
                     fmt::join(alignment.b_of_a, ","), digits(alignment.state_a),
                     digits(alignment.state_b), fmt::join(changes, ",\n"));
}

}  // namespace sardonyx::viewer
