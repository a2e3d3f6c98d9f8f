// What each diagnostic code means, as docs/diagnostics.md says it.
#pragma once

#include <span>
#include <string_view>

namespace sardonyx {

struct Rule {
  std::string_view code;     // "SX1300"
  std::string_view stage;    // "operators unsupported, or arguments refused"
  std::string_view meaning;  // one sentence without its full stop
  std::string_view remedy;
};

// In the order of codes.
std::span<const Rule> rules();

}  // namespace sardonyx
