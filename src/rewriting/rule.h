// A rule of the pipeline: what it looks for at one node, and what it puts in its place.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "onnx/gen/op.h"
#include "onnx/graph/ir.h"
#include "rewriting/rule_context.h"

namespace sardonyx::rewriting {

struct Rule {
  std::string_view name;  // says the rule: "drop-identity", "fuse-rotary-embedding"
  // The operators at whose nodes it is tried, which are the last of what it looks for; empty for a
  // rule of every operator.
  std::span<const onnx::Op> roots;
  // Whether it changed anything. It has found what it looks for, and declines with a reason, or
  // has not and says nothing. Keeps names and metadata. Attributes are values: a function whose
  // nodes refer to attributes of its own is not looked at.
  bool (*rewrite)(onnx::Node* root, RuleContext& context);
  std::int64_t first_opset =
      1;  // the oldest in which the operators are what the rule takes them for
  bool changes_weights = false;  // replaces weights by what is computed of them
};

// Asks the rules about every node of the model, its bodies and its functions, those listed first
// first, again about nodes whose neighbors were rewritten, and all over until nothing is found any
// more. How often each was applied.
std::vector<std::int64_t> apply_rules(std::span<const Rule* const> rules, RuleContext& context);

}  // namespace sardonyx::rewriting
