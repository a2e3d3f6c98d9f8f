// The definitions of ONNX's composites: how each is decomposed into simpler operators.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "onnx/emit/emit.h"

namespace sardonyx::onnx {

// One use of a composite that is to be decomposed, its arguments by name.
struct Composite {
  Emit& onnx;
  std::span<const Value> inputs;
  std::span<const Attribute> attributes;
  std::size_t outputs = 1;

  Value input(std::size_t i) const { return i < inputs.size() ? inputs[i] : Value(); }
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  float real(std::string_view name, float otherwise) const;
  // A list; as many of `otherwise` where it is not given.
  std::vector<std::int64_t> integers(std::string_view name, std::size_t count = 0,
                                     std::int64_t otherwise = 0) const;
  std::string text(std::string_view name, std::string otherwise = {}) const;
  // Null where it is not given.
  const std::vector<std::string>* texts(std::string_view name) const;
};

// What the operator computes, by operators that are closer to the ground (their own definitions
// included: they may be composites too). Nothing where it is no composite, or where its definition
// needs what is not known of these inputs (a rank).
std::optional<Values> spelled_out(const Composite& composite, const Operator& op);

// Whether the operator is there at `opset`, but means less than it does now or something else, so
// that its definition stands for it.
bool is_defined_before(const Operator& op, std::int64_t opset);

// Whether it is a constant with this number in every element, and no weight, which may yet get
// other data.
bool is_filled(Value x, double with);

}  // namespace sardonyx::onnx
