// A row of a target's table: what the target cannot take as it is, and what it gets instead.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "onnx/emit/emit.h"
#include "onnx/gen/op.h"

namespace sardonyx::targets {

using onnx::Attribute;
using onnx::DType;
using onnx::DTypeSet;
using onnx::Expr;
using onnx::Op;
using onnx::Value;
using onnx::Values;

class Lowering;
struct Rule;

// One use of an operator that is being lowered.
struct Use {
  Lowering& onnx;  // nodes that are emitted into it are lowered too
  const onnx::Operator& op;
  std::span<const Value> inputs;
  std::span<const Attribute> attributes;
  std::size_t outputs;
  // The node of the canonical IR; null where lowering itself emits the operator.
  const onnx::Node* node = nullptr;

  Value input(std::size_t i) const { return i < inputs.size() ? inputs[i] : Value(); }
  // Of the first input.
  DType dtype() const {
    return inputs.empty() || !inputs[0] ? DType::kUndefined : inputs[0].dtype();
  }
  const Attribute* attribute(std::string_view name) const;
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  float real(std::string_view name, float otherwise) const;
  std::string_view text(std::string_view name, std::string_view otherwise = {}) const;
  const std::vector<std::int64_t>* integers(std::string_view name) const;
};

enum class Reason : std::uint8_t {
  kLacks,     // it has no kernel for this
  kWrong,     // it computes something else
  kFails,     // it fails or crashes, as it loads the model or runs it
  kRewrites,  // its own optimizer turns it into something that is wrong
  kSlow,      // something else is quicker; measured
};

struct Rule {
  static constexpr std::int16_t kAnyOpset = 0x7fff;

  std::string_view name;  // "max-of-int64"; the test that shows the fault is called after it
  Op op;
  Reason reason;
  // Element types of the first input for which the rule is asked; 0: all.
  DTypeSet types = 0;
  // Opsets of the target in which it holds.
  std::int16_t first = 0, last = kAnyOpset;
  // Whether it applies; null: always. Changes nothing.
  bool (*when)(const Use& use) = nullptr;
  // What is emitted instead; nothing where it declines after all. Emitting the operator itself
  // through `use.onnx.without(rule, ...)` asks the rules after this one only.
  std::optional<Values> (*how)(const Use& use, const Rule& rule);
  std::string_view why;         // what the runtime does, for the documentation
  std::string_view since;       // the release in which it was seen
  std::string_view until = {};  // the release that is without it; empty: none known
};

using Rules = std::span<const Rule>;

// For rows whose operator is a composite that is decomposed for the target.
std::optional<Values> by_definition(const Use& use, const Rule& rule);

}  // namespace sardonyx::targets
