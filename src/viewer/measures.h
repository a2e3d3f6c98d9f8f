// Numbers of nodes that were measured elsewhere: times, errors.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace sardonyx::viewer {

struct Measure {
  std::string title;                    // "time"
  std::string unit;                     // "ms"
  std::map<std::string, double> nodes;  // by the node's name, or that of a value that it gives
  // The same of the other model, where two are compared; and texts of nodes of the first one.
  std::map<std::string, double> others = {};
  std::map<std::string, std::string> notes = {};
};

// From a file of JSON: {"title": ..., "unit": ..., "nodes": {"name": number}, "notes":
// {"name": text}}, where notes may be missing, a profile of ONNX
// Runtime, whose times are the means of its runs, or node data of Model Explorer. Throws SX1101 for
// a file that cannot be read, and SX1001 for anything else in it.
Measure read_measure(const std::string& path);
// The same of text; `file` is what messages call it.
Measure measure_of(std::string_view json, const std::string& file);

}  // namespace sardonyx::viewer
