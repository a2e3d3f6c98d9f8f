#include <algorithm>
#include <cstdio>

#include "sardonyx/report.h"

namespace sardonyx {
namespace {

// Length of the well-formed UTF-8 sequence at the front of text; 0 when there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Overlong forms, surrogates and code points above U+10FFFF.
  if (lead == 0xE0 && byte(1) < 0xA0) return 0;
  if (lead == 0xED && byte(1) > 0x9F) return 0;
  if (lead == 0xF0 && byte(1) < 0x90) return 0;
  if (lead == 0xF4 && byte(1) > 0x8F) return 0;
  return length;
}

std::string severity_text(Severity severity) {
  if (severity == Severity::kNote) return "note";
  return severity == Severity::kWarning ? "warning" : "error";
}

}  // namespace

std::string json_string(std::string_view text) {
  // What stands for itself, as most characters do, is copied in one piece.
  const auto is_plain = [](char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; };
  std::string result = "\"";
  while (true) {
    const auto plain =
        static_cast<std::size_t>(std::ranges::find_if_not(text, is_plain) - text.begin());
    result += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const char c = text[0];
    if (c == '"' || c == '\\') {
      result += {'\\', c};
    } else if (c == '\n') {
      result += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      result += escape;
    } else {
      const std::size_t length = utf8_length(text);
      result += length ? text.substr(0, length) : std::string_view("\xEF\xBF\xBD");
      text.remove_prefix(length ? length : 1);
      continue;
    }
    text.remove_prefix(1);
  }
  return result + "\"";
}

std::string to_json(std::span<const Diagnostic> diagnostics) {
  std::string result = "[";
  for (const Diagnostic& diagnostic : diagnostics) {
    if (result.size() > 1) result += ", ";
    result += "{\"code\": " + json_string(diagnostic.code);
    result += ", \"severity\": " + json_string(severity_text(diagnostic.severity));
    result += ", \"message\": " + json_string(diagnostic.message);
    result += ", \"help\": " + json_string(diagnostic.help);
    result += ", \"op\": " + json_string(diagnostic.op);
    result += ", \"node\": " + json_string(diagnostic.node);
    result += ", \"module_path\": " + json_string(diagnostic.module_path);
    result += ", \"file\": " + json_string(diagnostic.location.file);
    result += ", \"line\": " + std::to_string(diagnostic.location.line);
    result += ", \"function\": " + json_string(diagnostic.location.function);
    result += ", \"contexts\": [";
    for (std::size_t i = 0; i < diagnostic.contexts.size(); ++i) {
      result += (i ? ", " : "") + json_string(diagnostic.contexts[i]);
    }
    result += "]}";
  }
  return result + "]";
}

}  // namespace sardonyx
