#include "precision/selection.h"

#include <fmt/format.h>

#include <utility>

#include "base/diagnostic.h"
#include "onnx/graph/origins.h"

namespace sardonyx::precision {
namespace {

std::regex compiled(const std::string& text) {
  try {
    return std::regex(text, std::regex::ECMAScript | std::regex::optimize);
  } catch (const std::regex_error& error) {
    base::fail("SX1811", fmt::format("`{}` is no regular expression: {}", text, error.what()));
  }
}

}  // namespace

Pattern::Pattern(std::string text) : text_(std::move(text)), expression_(compiled(text_)) {}

bool Pattern::matches(const onnx::Node* node) {
  bool is = std::regex_match(node->op_type, expression_) ||
            (!node->name.empty() && std::regex_search(node->name, expression_));
  for (const onnx::ValueInfo* output : node->outputs)
    is = is || (output != nullptr && std::regex_search(output->name, expression_));
  return found(is);
}

bool Pattern::matches(const onnx::ValueInfo* weight) { return matches(weight->name); }

bool Pattern::matches(const std::string& weight_name) {
  return found(std::regex_search(weight_name, expression_));
}

// Both are tried: a pattern names whatever it fits.
bool Pattern::matches_either(const onnx::Node* node, const onnx::ValueInfo* weight) {
  const bool fits_node = matches(node), fits_weight = matches(weight);
  return fits_node || fits_weight;
}

std::vector<Pattern> patterns(std::span<const std::string> texts) {
  return {texts.begin(), texts.end()};
}

std::vector<std::string> origins(const onnx::ValueInfo* weight) {
  std::vector<std::string> names;
  for (const onnx::ValueInfo* each : onnx::origins_of(*weight)) names.push_back(each->name);
  return names;
}

void check_used(std::span<const Pattern> patterns) {
  for (const Pattern& pattern : patterns) {
    if (pattern.used()) continue;
    base::fail("SX1812",
               fmt::format("`{}` names no operator, node or weight of the model", pattern.text()),
               "`sardonyx inspect` lists them; a piece of a name will do");
  }
}

}  // namespace sardonyx::precision
