// Diagnostics for programs to read.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sardonyx/diagnostic.h"
#include "sardonyx/export.h"

namespace sardonyx {

// `text` as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD.
SARDONYX_API std::string json_string(std::string_view text);

// A JSON array with one object a diagnostic; keys as the fields are called.
SARDONYX_API std::string to_json(std::span<const Diagnostic> diagnostics);

}  // namespace sardonyx
