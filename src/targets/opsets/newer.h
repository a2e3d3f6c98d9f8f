// One use of an operator in the form of a newer opset, for which the tables of this folder have the
// older one.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "onnx/gen/op.h"
#include "targets/lowering.h"

namespace sardonyx::targets {

struct Newer {
  Lowering& onnx;
  const onnx::Operator& op;
  Values& inputs;
  std::vector<Attribute>& attributes;
  std::int64_t since;  // the first opset that has this form

  bool has(std::size_t i) const { return i < inputs.size() && inputs[i]; }
  void drop(std::string_view name) const {
    std::erase_if(attributes, [name](const Attribute& each) { return each.name == name; });
  }
  [[noreturn]] void lacks(std::string_view what) const { lacks(what, since); }
  [[noreturn]] void lacks(std::string_view what, std::int64_t first) const {
    base::fail_before_opset(first, "SX1504",
                            fmt::format("opset {} has no {} of {}", onnx.opset(), what, op.name));
  }
};

// Nothing where inputs and attributes were changed; else what other nodes give instead.
using Changed = std::optional<Values>;

struct Form {
  onnx::Op op;
  Changed (*change)(const Newer& use);
};

inline const Form* form_of(std::span<const Form> forms, onnx::Op op) {
  const auto found = std::ranges::find(forms, op, &Form::op);
  return found == forms.end() ? nullptr : &*found;
}

}  // namespace sardonyx::targets
