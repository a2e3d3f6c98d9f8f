#include "onnx/operators/operator.h"

#include <algorithm>

#include "onnx/gen/op.h"

namespace sardonyx::onnx {
namespace {

const Formal* formal_at(std::span<const Formal> formals, std::size_t index) {
  if (index < formals.size()) return &formals[index];
  if (formals.empty() || formals.back().option != FormalOption::kVariadic) return nullptr;
  return &formals.back();
}

}  // namespace

const Formal* OperatorVersion::input(std::size_t index) const { return formal_at(inputs, index); }
const Formal* OperatorVersion::output(std::size_t index) const { return formal_at(outputs, index); }

const AttributeFormal* OperatorVersion::attribute(std::string_view name) const {
  for (const AttributeFormal& formal : attributes)
    if (formal.name == name) return &formal;
  return nullptr;
}

const OperatorVersion* Operator::at(std::int64_t opset) const {
  const OperatorVersion* found = nullptr;
  for (const OperatorVersion& version : versions)
    if (version.since <= opset) found = &version;
  // A later version may be there again, as of GroupNormalization.
  return found == &versions.back() && found->deprecated ? nullptr : found;
}

const Operator& operator_of(Op id) { return operators()[static_cast<std::size_t>(id)]; }

const Operator* find_operator(std::string_view name) {
  const std::span<const Operator> all = operators();
  const auto found = std::ranges::lower_bound(all, name, {}, &Operator::name);
  return found != all.end() && found->name == name ? &*found : nullptr;
}

}  // namespace sardonyx::onnx
