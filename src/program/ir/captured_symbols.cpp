#include "program/ir/captured_symbols.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace sardonyx::program {
namespace {

// "u" and "12" are numbered: "u12"; "users" and "u" are not.
bool is_numbered(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix) || name.size() == prefix.size()) return false;
  name.remove_prefix(prefix.size());
  return std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_of_data(std::string_view name) {
  return is_numbered(name, "u") || is_numbered(name, "zuf");
}

}  // namespace

void mark_unbacked_symbols(symbolic::Pool& pool) {
  for (const symbolic::Expr symbol : pool.symbols()) {
    if (is_of_data(symbol.name())) pool.mark_unbacked(symbol);
  }
}

symbolic::Range range_at_run_time(std::string_view symbol, symbolic::Range captured,
                                  std::int64_t declared_least) {
  constexpr std::int64_t kPresumed = 2;
  if (captured.low == kPresumed && captured.high > kPresumed && !is_of_data(symbol))
    captured.low = std::clamp<std::int64_t>(declared_least, 0, kPresumed);
  return captured;
}

}  // namespace sardonyx::program
