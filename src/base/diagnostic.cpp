#include "base/diagnostic.h"

#include <utility>

namespace sardonyx {
namespace {

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::kNote:
      return "note";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
      break;
  }
  return "error";
}

}  // namespace

std::string Diagnostic::str() const {
  std::string text = std::string(severity_name(severity)) + "[" + code + "]: " + message;
  if (!op.empty()) text += "\n  operator: " + op + (node.empty() ? "" : " (node " + node + ")");
  if (!module_path.empty()) text += "\n  module: " + module_path;
  if (!location.file.empty()) {
    text += "\n  at: " + location.file + ":" + std::to_string(location.line);
    if (!location.function.empty()) text += " in " + location.function;
  }
  for (const std::string& context : contexts) text += "\n  " + context;
  if (!help.empty()) text += "\n  help: " + help;
  return text;
}

Error::Error(Diagnostic diagnostic) {
  diagnostics_.push_back(std::move(diagnostic));
  render();
}

Error::Error(std::vector<Diagnostic> diagnostics) : diagnostics_(std::move(diagnostics)) {
  render();
}

Error& Error::within(const std::string& context) {
  for (Diagnostic& diagnostic : diagnostics_) diagnostic.contexts.push_back(context);
  render();
  return *this;
}

void Error::render() {
  text_.clear();
  for (const Diagnostic& diagnostic : diagnostics_) {
    if (!text_.empty()) text_ += "\n\n";
    text_ += diagnostic.str();
  }
}

namespace base {

void fail(std::string_view code, std::string message, std::string help) {
  Diagnostic diagnostic;
  diagnostic.code = code;
  diagnostic.message = std::move(message);
  diagnostic.help = std::move(help);
  throw Error(std::move(diagnostic));
}

void fail_before_opset(std::int64_t since, std::string_view code, std::string message) {
  Diagnostic diagnostic;
  diagnostic.code = code;
  diagnostic.message = std::move(message);
  diagnostic.help = "convert with opset_version=" + std::to_string(since) + " or newer";
  diagnostic.needs_opset = since;
  throw Error(std::move(diagnostic));
}

}  // namespace base
}  // namespace sardonyx
