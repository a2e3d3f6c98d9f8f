#include "frontends/torchscript/recording/operands.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/diagnostic.h"

namespace sardonyx::torchscript {

const AbstractValue& Operands::at(std::size_t position) const {
  if (position >= positional.size())
    base::fail("SX1211", fmt::format("{} takes more than {} arguments", op, positional.size()));
  return positional[position];
}

const AbstractValue* Operands::find(std::size_t position, std::string_view name) const {
  if (position < positional.size()) return &positional[position];
  const auto found = std::ranges::find(named, name, &NamedValue::first);
  return found == named.end() ? nullptr : &found->second;
}

void refuse(const std::string& what, const std::string& help) {
  base::Diagnostic diagnostic;
  diagnostic.code = "SX1211";
  diagnostic.message = what;
  diagnostic.help = help;
  throw base::Error(std::move(diagnostic));
}

}  // namespace sardonyx::torchscript
