#include "viewer/measures.h"

#include <simdjson.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>

#include "base/diagnostic.h"
#include "base/mapped_file.h"

namespace sardonyx::viewer {
namespace {

namespace json = simdjson::dom;

constexpr std::string_view kSuffix = "_kernel_time";

// Events of a profile: each run of each node, in microseconds.
Measure profile_of(const json::array& events) {
  Measure measure{"time", "ms", {}};
  std::map<std::string, std::int64_t> runs;
  for (const json::element event : events) {
    std::string_view category, name;
    double microseconds = 0;
    if (event["cat"].get(category) != simdjson::SUCCESS || category != "Node" ||
        event["name"].get(name) != simdjson::SUCCESS || !name.ends_with(kSuffix) ||
        event["dur"].get(microseconds) != simdjson::SUCCESS)
      continue;
    name.remove_suffix(kSuffix.size());
    measure.nodes[std::string(name)] += microseconds / 1e3;
    ++runs[std::string(name)];
  }
  for (auto& [name, milliseconds] : measure.nodes)
    milliseconds /= static_cast<double>(std::max<std::int64_t>(runs[name], 1));
  return measure;
}

// Of Model Explorer: {"graph": {"results": {"name": {"value": number}}}}
bool add_node_data(const json::element& document, Measure& measure) {
  json::object graphs;
  bool is_node_data = false;
  if (document.get(graphs) != simdjson::SUCCESS) return false;
  for (const auto& [_, graph] : graphs) {
    json::object results;
    if (graph["results"].get(results) != simdjson::SUCCESS) continue;
    is_node_data = true;
    for (const auto& [name, result] : results) {
      double value = 0;
      if (result["value"].get(value) == simdjson::SUCCESS) measure.nodes[std::string(name)] = value;
    }
  }
  return is_node_data;
}

Measure numbers_of(const json::element& document, const std::string& file) {
  Measure measure{std::filesystem::path(file).stem().string(), "", {}};
  json::object nodes;
  if (document["nodes"].get(nodes) != simdjson::SUCCESS) {
    if (add_node_data(document, measure)) return measure;
    base::fail("SX1001", "no measures are in " + file +
                             ": it is no profile of ONNX Runtime, no node data of Model Explorer, "
                             "and has no \"nodes\"");
  }
  std::string_view text;
  if (document["title"].get(text) == simdjson::SUCCESS) measure.title = text;
  if (document["unit"].get(text) == simdjson::SUCCESS) measure.unit = text;
  for (const auto& [name, number] : nodes) {
    double value = 0;
    if (number.get(value) == simdjson::SUCCESS) measure.nodes[std::string(name)] = value;
  }
  json::object notes;
  if (document["notes"].get(notes) == simdjson::SUCCESS)
    for (const auto& [name, note] : notes)
      if (note.get(text) == simdjson::SUCCESS) measure.notes[std::string(name)] = text;
  return measure;
}

}  // namespace

Measure read_measure(const std::string& path) {
  const base::MappedFile file(path);
  return measure_of({reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()},
                    path);
}

Measure measure_of(std::string_view text, const std::string& file) {
  json::parser parser;
  json::element document;
  const simdjson::padded_string padded(text);
  if (const auto error = parser.parse(padded).get(document); error != simdjson::SUCCESS)
    base::fail("SX1001", file + " is not JSON: " + simdjson::error_message(error));
  json::array events;
  if (document.get(events) == simdjson::SUCCESS) return profile_of(events);
  return numbers_of(document, file);
}

}  // namespace sardonyx::viewer
