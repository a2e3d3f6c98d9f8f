// The public diagnostic types under the name the layers use, and the way to raise one.
#pragma once

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

}  // namespace sardonyx::base
