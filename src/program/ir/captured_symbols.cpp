#include "program/ir/captured_symbols.h"

#include <algorithm>
#include <string_view>

namespace sardonyx::program {
namespace {

// "u" and "12" are numbered: "u12"; "users" and "u" are not.
bool is_numbered(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix) || name.size() == prefix.size()) return false;
  name.remove_prefix(prefix.size());
  return std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

void mark_unbacked_symbols(symbolic::Pool& pool) {
  for (const symbolic::Expr symbol : pool.symbols()) {
    if (is_numbered(symbol.name(), "u") || is_numbered(symbol.name(), "zuf"))
      pool.mark_unbacked(symbol);
  }
}

}  // namespace sardonyx::program
