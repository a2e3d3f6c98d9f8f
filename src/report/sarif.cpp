// SARIF 2.1.0, the interchange format of static analysis (OASIS, docs.oasis-open.org/sarif).
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "report/rules.h"
#include "sardonyx/report.h"

namespace sardonyx {
namespace {

std::string level(Severity severity) {
  if (severity == Severity::kNote) return "note";
  return severity == Severity::kWarning ? "warning" : "error";
}

std::string message(std::string_view text) {
  return fmt::format("{{\"text\": {}}}", json_string(text.empty() ? "no message" : text));
}

// A sentence, as SARIF wants the texts of rules.
std::string sentence(std::string_view text) {
  std::string result(text);
  if (!result.empty() && result[0] >= 'a' && result[0] <= 'z')
    result[0] = static_cast<char>(result[0] - 'a' + 'A');
  return result.ends_with('.') ? result : result + ".";
}

// A path as a URI: absolute ones get a scheme, bytes that URIs do not hold are escaped.
std::string uri(std::string_view path) {
  std::string result = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~/!$&'()*+,;=@").find(c) != std::string_view::npos;
    if (plain) {
      result += c;
    } else {
      result += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return result;
}

template <class T>
std::string joined(const std::vector<T>& items) {
  return fmt::format("{}", fmt::join(items, ", "));
}

const Rule* rule_of(const std::string& code) {
  const std::span<const Rule> all = rules();
  const auto found = std::ranges::lower_bound(all, code, {}, &Rule::code);
  return found != all.end() && found->code == code ? &*found : nullptr;
}

class Log {
 public:
  Log(std::span<const Diagnostic> diagnostics, const SarifRun& run)
      : diagnostics_(diagnostics), run_(run) {
    for (const Diagnostic& diagnostic : diagnostics) {
      remember(codes_, diagnostic.code);
      if (!diagnostic.location.file.empty()) remember(files_, diagnostic.location.file);
    }
    std::ranges::sort(codes_);
  }

  std::string text() const {
    std::vector<std::string> results, artifacts;
    for (const Diagnostic& diagnostic : diagnostics_) results.push_back(result(diagnostic));
    for (const std::string& file : files_)
      artifacts.push_back(fmt::format("{{\"location\": {{\"uri\": {}}}}}", json_string(uri(file))));
    return fmt::format(
        "{{\"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\", \"version\": \"2.1.0\", "
        "\"runs\": [{{\"tool\": {}, \"invocations\": [{}], \"artifacts\": [{}], "
        "\"columnKind\": \"unicodeCodePoints\", \"results\": [{}]}}]}}\n",
        tool(), invocation(), joined(artifacts), joined(results));
  }

 private:
  static void remember(std::vector<std::string>& items, const std::string& item) {
    if (std::ranges::find(items, item) == items.end()) items.push_back(item);
  }

  static std::size_t position(const std::vector<std::string>& items, const std::string& item) {
    return static_cast<std::size_t>(std::ranges::find(items, item) - items.begin());
  }

  std::string tool() const {
    std::vector<std::string> used;
    for (const std::string& code : codes_) used.push_back(rule(code));
    return fmt::format(
        "{{\"driver\": {{\"name\": \"Sardonyx\", \"version\": {}, \"rules\": [{}]}}}}",
        json_string(run_.version.empty() ? "0" : run_.version), joined(used));
  }

  static std::string rule(const std::string& code) {
    const Rule* known = rule_of(code);
    if (known == nullptr) return fmt::format("{{\"id\": {}}}", json_string(code));
    return fmt::format(
        "{{\"id\": {}, \"shortDescription\": {}, \"fullDescription\": {}, \"help\": {}, "
        "\"properties\": {{\"tags\": [{}]}}}}",
        json_string(code), message(sentence(known->meaning)),
        message(sentence(known->meaning) + " Stage: " + std::string(known->stage) + "."),
        message(sentence(known->remedy)), json_string(known->stage));
  }

  std::string invocation() const {
    const bool failed = std::ranges::any_of(
        diagnostics_, [](const Diagnostic& d) { return d.severity == Severity::kError; });
    std::string text = fmt::format("{{\"executionSuccessful\": {}", !failed);
    if (!run_.command_line.empty())
      text += fmt::format(", \"commandLine\": {}", json_string(run_.command_line));
    if (!run_.end_time_utc.empty())
      text += fmt::format(", \"endTimeUtc\": {}", json_string(run_.end_time_utc));
    return text + "}";
  }

  std::string result(const Diagnostic& diagnostic) const {
    std::string text = diagnostic.message;
    if (!diagnostic.help.empty()) text += "\nHelp: " + diagnostic.help;
    return fmt::format(
        "{{\"ruleId\": {}, \"ruleIndex\": {}, \"level\": \"{}\", \"message\": {}, "
        "\"locations\": [{}], \"properties\": {}}}",
        json_string(diagnostic.code), position(codes_, diagnostic.code), level(diagnostic.severity),
        message(text), location(diagnostic), properties(diagnostic));
  }

  std::string location(const Diagnostic& diagnostic) const {
    std::vector<std::string> parts;
    const UserLocation& user = diagnostic.location;
    if (!user.file.empty()) {
      std::string place = fmt::format(
          "\"physicalLocation\": {{\"artifactLocation\": {{\"uri\": {}, \"index\": {}}}",
          json_string(uri(user.file)), position(files_, user.file));
      if (user.line > 0) place += fmt::format(", \"region\": {{\"startLine\": {}}}", user.line);
      parts.push_back(place + "}");
    }
    std::vector<std::string> logical;
    if (!diagnostic.module_path.empty())
      logical.push_back(fmt::format("{{\"fullyQualifiedName\": {}, \"kind\": \"module\"}}",
                                    json_string(diagnostic.module_path)));
    if (!user.function.empty())
      logical.push_back(
          fmt::format("{{\"name\": {}, \"kind\": \"function\"}}", json_string(user.function)));
    if (!logical.empty())
      parts.push_back(fmt::format("\"logicalLocations\": [{}]", joined(logical)));
    return parts.empty() ? std::string() : "{" + joined(parts) + "}";
  }

  static std::string properties(const Diagnostic& diagnostic) {
    std::vector<std::string> parts;
    const auto add = [&parts](std::string_view key, const std::string& value) {
      if (!value.empty()) parts.push_back(fmt::format("\"{}\": {}", key, json_string(value)));
    };
    add("operator", diagnostic.op);
    add("node", diagnostic.node);
    if (!diagnostic.contexts.empty()) {
      std::vector<std::string> contexts;
      for (const std::string& context : diagnostic.contexts)
        contexts.push_back(json_string(context));
      parts.push_back(fmt::format("\"contexts\": [{}]", joined(contexts)));
    }
    return "{" + joined(parts) + "}";
  }

  std::span<const Diagnostic> diagnostics_;
  const SarifRun& run_;
  std::vector<std::string> codes_;
  std::vector<std::string> files_;
};

}  // namespace

std::string to_sarif(std::span<const Diagnostic> diagnostics, const SarifRun& run) {
  return Log(diagnostics, run).text();
}

}  // namespace sardonyx
