// The public diagnostic types under the name the layers use, and the way to raise one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sardonyx/diagnostic.h"

namespace sardonyx::base {

using sardonyx::Diagnostic;
using sardonyx::Error;
using sardonyx::Severity;
using sardonyx::UserLocation;

// Throws Error with a diagnostic of severity error.
[[noreturn]] void fail(std::string_view code, std::string message, std::string help = {});

// The same for what opset `since` or a newer one cures, which the help says.
[[noreturn]] void fail_before_opset(std::int64_t since, std::string_view code, std::string message);

}  // namespace sardonyx::base
