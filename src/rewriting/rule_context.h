// What a rule sees of the model around the node it is asked about.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "onnx/graph/ir.h"
#include "rewriting/report.h"

namespace sardonyx::rewriting {

// The metadata of a node that names its rules, in the order in which they made or changed it:
// "raise-swish, quick-gelu".
inline constexpr const char* kRulesOfANode = "sardonyx.rules";

class RuleContext {
 public:
  RuleContext(onnx::Model& model, Options options, Report& report)
      : model_(model),
        options_(std::move(options)),
        report_(report),
        opset_(onnx::opset_of(model.graph)) {}

  onnx::Model& model() const { return model_; }
  const Limits& limits() const { return options_.limits; }
  const Tuning& tuning() const { return options_.tuning; }
  bool may_change_weights() const { return !options_.keep_weights; }
  std::int64_t quantized_block_size() const { return options_.quantized_block_size; }
  // Whether somebody else made the model, whose weights are what they are.
  bool is_foreign() const { return options_.infer_types; }
  // The version of ONNX's own operators at the node: a function has one of its own.
  std::int64_t opset() const { return opset_; }

  // Adds the rule to the node's metadata, where the options ask for it.
  void record_rule(onnx::Node* node) const;

  // Says why the rule leaves what it has found as it is. Always false, to be returned.
  bool decline(const onnx::Node* node, std::string reason);

  // Whether another initializer that something reads lies over the same bytes.
  bool shares_storage(const onnx::ValueInfo* weight);

  // The rules look at the node again, because something about it has changed.
  void touch(onnx::Node* node);
  // At what makes the value and, where these are few, at what reads it.
  void touch(const onnx::ValueInfo* value);

 private:
  friend class Worklist;
  friend class PassScope;

  onnx::Model& model_;
  Options options_;
  Report& report_;
  std::string_view rule_;
  std::int64_t opset_;
  std::deque<onnx::Node*> waiting_;
  std::vector<bool> is_waiting_;  // by the node's id
  // Initializers by the address of their data; those before `indexed_` are in it.
  std::unordered_map<const std::byte*, std::vector<const onnx::ValueInfo*>> by_storage_;
  std::size_t indexed_ = 0;
};

// While it lives, reasons are those of the pass of this name.
class PassScope {
 public:
  PassScope(RuleContext& context, std::string_view name) : context_(context) {
    context.rule_ = name;
  }
  ~PassScope() { context_.rule_ = {}; }
  PassScope(const PassScope&) = delete;
  PassScope& operator=(const PassScope&) = delete;

 private:
  RuleContext& context_;
};

}  // namespace sardonyx::rewriting
