#include "proto/reader/node_order.h"

#include <cstddef>
#include <functional>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "proto/wire/decoder.h"
#include "proto/wire/fields.h"

namespace sardonyx::proto {
namespace {

using Names = std::unordered_set<std::string_view>;

// The reader refuses what is nested deeper.
constexpr int kDeepest = 64;

void read_names(std::string_view node, int depth, std::vector<std::string_view>& names);

// What a body reads of the graphs around it.
void names_of_body(std::string_view graph, int depth, std::vector<std::string_view>& names) {
  if (depth > kDeepest) return;
  Names own;
  std::vector<std::string_view> read;
  for (Decoder in(graph); in.next();) {
    switch (in.field()) {
      case field::graph::kNode: {
        const std::string_view node = in.text();
        read_names(node, depth, read);
        for (Decoder inner(node); inner.next();)
          if (inner.field() == field::node::kOutput) own.insert(inner.text());
        break;
      }
      case field::graph::kInput:
      case field::graph::kOutput:
      case field::graph::kInitializer: {
        const bool is_tensor = in.field() == field::graph::kInitializer;
        const bool is_output = in.field() == field::graph::kOutput;
        for (Decoder inner(in.text()); inner.next();) {
          const auto name = is_tensor ? field::tensor::kName : field::value_info::kName;
          if (inner.field() != name) continue;
          // An output may be a value of the graph around it.
          is_output ? read.push_back(inner.text()) : void(own.insert(inner.text()));
        }
        break;
      }
      default:
        break;
    }
  }
  for (const std::string_view name : read)
    if (!own.contains(name)) names.push_back(name);
}

void read_names(std::string_view node, int depth, std::vector<std::string_view>& names) {
  for (Decoder in(node); in.next();) {
    if (in.field() == field::node::kInput) names.push_back(in.text());
    if (in.field() != field::node::kAttribute) continue;
    for (Decoder attribute(in.text()); attribute.next();)
      if (attribute.field() == field::attribute::kGraph ||
          attribute.field() == field::attribute::kGraphs)
        names_of_body(attribute.text(), depth + 1, names);
  }
}

}  // namespace

std::vector<std::string_view> in_order(const std::vector<std::string_view>& nodes) {
  std::unordered_map<std::string_view, std::size_t> made_by;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (Decoder in(nodes[i]); in.next();)
      if (in.field() == field::node::kOutput)
        if (const std::string_view name = in.text(); !name.empty()) made_by.emplace(name, i);
  std::vector<std::vector<std::size_t>> readers(nodes.size());
  std::vector<std::size_t> waits_for(nodes.size(), 0);
  std::vector<std::string_view> names;
  bool ordered = true;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    names.clear();
    read_names(nodes[i], 0, names);
    for (const std::string_view name : names) {
      const auto found = made_by.find(name);
      if (found == made_by.end()) continue;
      ordered = ordered && found->second < i;
      readers[found->second].push_back(i);
      ++waits_for[i];
    }
  }
  if (ordered) return nodes;
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (waits_for[i] == 0) ready.push(i);
  std::vector<std::string_view> result;
  while (!ready.empty()) {
    const std::size_t next = ready.top();
    ready.pop();
    result.push_back(nodes[next]);
    for (const std::size_t reader : readers[next])
      if (--waits_for[reader] == 0) ready.push(reader);
  }
  return result.size() == nodes.size() ? result : nodes;
}

}  // namespace sardonyx::proto
