// The arguments of one call of an operator, as the code writes them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontends/torchscript/values/abstract_value.h"

namespace sardonyx::torchscript {

using NamedValue = std::pair<std::string, AbstractValue>;

struct Operands {
  std::string op;  // "aten::add"
  std::vector<AbstractValue> positional;
  std::vector<NamedValue> named;

  // By position; SX1211 where there is none.
  const AbstractValue& at(std::size_t position) const;
  // By position, or by name; null where there is none.
  const AbstractValue* find(std::size_t position, std::string_view name) const;
};

// SX1211, to which the interpreter adds the line that it follows.
[[noreturn]] void refuse(const std::string& what, const std::string& help = {});

}  // namespace sardonyx::torchscript
