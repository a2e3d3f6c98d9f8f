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

// What a SARIF log says of the run itself; empty fields say nothing.
struct SarifRun {
  std::string version;  // of Sardonyx
  std::string command_line;
  std::string end_time_utc;  // "2026-01-31T12:00:00Z"
};

// A SARIF 2.1.0 log of one run: a rule for each code there is, with its meaning and remedy, and a
// result for each diagnostic, with its place in the user's file.
SARDONYX_API std::string to_sarif(std::span<const Diagnostic> diagnostics, const SarifRun& run);

}  // namespace sardonyx
