#include "rewriting/rule_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sardonyx::rewriting {

using onnx::Node;
using onnx::ValueInfo;

namespace {

// Readers of a value that are looked at again; a constant that thousands read is nobody's pattern.
constexpr std::size_t kFewReaders = 8;

std::string name_of(const Node* node) {
  if (!node->name.empty()) return node->name;
  const ValueInfo* output = node->output();
  return output != nullptr ? output->name : node->op_type;
}

}  // namespace

void RuleContext::record_rule(Node* node) const {
  if (!options_.record_rules || rule_.empty()) return;
  const auto found =
      std::ranges::find(node->metadata, kRulesOfANode, &std::pair<std::string, std::string>::first);
  if (found == node->metadata.end()) {
    node->metadata.emplace_back(kRulesOfANode, rule_);
    return;
  }
  // What is asked again and again is listed once.
  std::string& rules = found->second;
  const std::string listed = ", " + rules + ",";
  if (listed.find(fmt::format(", {},", rule_)) == std::string::npos)
    rules += fmt::format(", {}", rule_);
}

bool RuleContext::decline(const Node* node, std::string reason) {
  std::vector<Declined>& declined = report_.declined;
  Declined said{std::string(rule_), name_of(node), std::move(reason)};
  // A node is asked about again when its neighbors change.
  const auto same = [&](const Declined& other) {
    return other.rule == said.rule && other.node == said.node;
  };
  const auto recent = declined.size() > 64 ? declined.end() - 64 : declined.begin();
  if (const auto found = std::find_if(recent, declined.end(), same); found != declined.end()) {
    found->reason = std::move(said.reason);
  } else if (declined.size() < options_.limits.reasons) {
    declined.push_back(std::move(said));
  }
  return false;
}

bool RuleContext::shares_storage(const ValueInfo* weight) {
  const std::vector<ValueInfo*>& all = model_.initializers;
  for (; indexed_ < all.size(); ++indexed_) {
    const onnx::Tensor* tensor = all[indexed_]->constant.get();
    if (tensor != nullptr && tensor->data != nullptr)
      by_storage_[tensor->data].push_back(all[indexed_]);
  }
  const std::byte* const data = weight->constant->data;
  const auto found = by_storage_.find(data);
  if (data == nullptr || found == by_storage_.end()) return false;
  return std::ranges::any_of(found->second, [&](const ValueInfo* other) {
    return other != weight && other->constant != nullptr && other->constant->data == data &&
           onnx::has_uses(other);
  });
}

void RuleContext::touch(Node* node) {
  if (node == nullptr || node->graph == nullptr) return;
  if (node->id >= is_waiting_.size()) is_waiting_.resize(model_.node_count(), false);
  if (is_waiting_[node->id]) return;
  is_waiting_[node->id] = true;
  waiting_.push_back(node);
}

void RuleContext::touch(const ValueInfo* value) {
  if (value == nullptr) return;
  touch(value->producer);
  if (value->uses.size() > kFewReaders) return;
  for (const onnx::Use& use : value->uses) touch(use.node);
}

}  // namespace sardonyx::rewriting
