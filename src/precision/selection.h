// What users name of a model: operators by their type, nodes and weights by a piece of their name.
#pragma once

#include <optional>
#include <regex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/graph/ir.h"

namespace sardonyx::precision {

// A regular expression that is found in the name of a node, of what it makes or of a weight, or
// that is an operator's whole type. Remembers whether it ever did.
class Pattern {
 public:
  // Throws SX1811 for what is no regular expression.
  explicit Pattern(std::string text);

  bool matches(const onnx::Node* node);
  bool matches(const onnx::ValueInfo* weight);
  bool matches(const std::string& weight_name);
  bool matches_either(const onnx::Node* node, const onnx::ValueInfo* weight);
  const std::string& text() const { return text_; }
  bool used() const { return used_; }

 private:
  bool found(bool is) {
    used_ = used_ || is;
    return is;
  }

  std::string text_;
  std::regex expression_;
  bool used_ = false;
};

std::vector<Pattern> patterns(std::span<const std::string> texts);
// The program's weights that the weight was before they were joined, transposed or scaled.
std::vector<std::string> origins(const onnx::ValueInfo* weight);
// Throws SX1812 for those that matched nothing.
void check_used(std::span<const Pattern> patterns);

}  // namespace sardonyx::precision
