#include "onnx/graph/names.h"

#include <fmt/format.h>

#include <cassert>

namespace sardonyx::onnx {

NameScope::Entry& NameScope::entry(std::string_view name) {
  const auto found = names_.find(name);
  return found != names_.end() ? found->second
                               : names_.try_emplace(std::string(name)).first->second;
}

std::string NameScope::unique(std::string_view wanted) {
  Entry& first = entry(wanted);  // references stay valid when the table grows
  if (first.holders == 0) {
    first.holders = 1;
    return std::string(wanted);
  }
  while (true) {
    std::string candidate = fmt::format("{}_{}", wanted, first.next++);
    Entry& other = entry(candidate);
    if (other.holders > 0 || other.reserved) continue;
    other.holders = 1;
    return candidate;
  }
}

void NameScope::reserve(std::string_view name) { entry(name).reserved = true; }

void NameScope::take(std::string_view name) { ++entry(name).holders; }

void NameScope::release(std::string_view name) {
  const auto found = names_.find(name);
  assert(found != names_.end() && found->second.holders > 0);
  // The entry stays: its number saves trying the same names again.
  if (found != names_.end() && found->second.holders > 0) --found->second.holders;
}

bool NameScope::has(std::string_view name) const {
  const auto found = names_.find(name);
  return found != names_.end() && found->second.holders > 0;
}

}  // namespace sardonyx::onnx
