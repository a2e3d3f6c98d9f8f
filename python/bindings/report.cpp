// Diagnostics of the Python package in the forms that programs read.
#include "sardonyx/report.h"

#include <nanobind/stl/string.h>

#include <string>
#include <vector>

#include "bindings.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx::bindings {
namespace nb = nanobind;
using namespace nb::literals;

namespace {

Severity severity_named(const std::string& name) {
  if (name == "note") return Severity::kNote;
  return name == "warning" ? Severity::kWarning : Severity::kError;
}

// Of a sardonyx.Diagnostic.
Diagnostic diagnostic_of(nb::handle record) {
  const auto text = [&record](const char* field) {
    return nb::cast<std::string>(nb::getattr(record, field));
  };
  Diagnostic diagnostic;
  diagnostic.code = text("code");
  diagnostic.severity = severity_named(text("severity"));
  diagnostic.message = text("message");
  diagnostic.help = text("help");
  diagnostic.op = text("op");
  diagnostic.node = text("node");
  diagnostic.module_path = text("module_path");
  diagnostic.location = {text("file"), nb::cast<int>(nb::getattr(record, "line")),
                         text("function")};
  for (const nb::handle context : nb::getattr(record, "contexts"))
    diagnostic.contexts.push_back(nb::cast<std::string>(context));
  return diagnostic;
}

std::string sarif(const nb::iterable& records, const std::string& command_line,
                  const std::string& end_time_utc) {
  std::vector<Diagnostic> diagnostics;
  for (const nb::handle record : records) diagnostics.push_back(diagnostic_of(record));
  return to_sarif(diagnostics, {std::string(version()), command_line, end_time_utc});
}

}  // namespace

void bind_report(nb::module_& module) {
  module.def("to_sarif", &sarif, "diagnostics"_a, nb::kw_only(), "command_line"_a, "end_time_utc"_a,
             "A SARIF 2.1.0 log of sardonyx.Diagnostics.");
}

}  // namespace sardonyx::bindings
