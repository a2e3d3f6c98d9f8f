#pragma once

#include <optional>
#include <string_view>

namespace sardonyx::base {

// The number that a text is in C's notation, whatever the locale: "1.5e-3". Infinite where it is
// larger than any. None where the text is no number or goes on behind it.
std::optional<double> read_real(std::string_view text);

}  // namespace sardonyx::base
