// What Sardonyx says when something is wrong: one record for every audience.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "sardonyx/export.h"

namespace sardonyx {

enum class Severity { kNote, kWarning, kError };

// A place in the user's own program.
struct UserLocation {
  std::string file;
  int line = 0;
  std::string function;
};

// One thing to tell the user. `code` ("SX1203") is stable and listed in docs/diagnostics.md.
struct SARDONYX_API Diagnostic {
  std::string code;
  Severity severity = Severity::kError;
  std::string message;                // with the values in it
  std::string help;                   // what to do about it; may be empty
  std::string op;                     // "aten::slice.Tensor"; empty when no operator is at fault
  std::string node;                   // name of the captured node
  std::string module_path;            // "encoder.layers.0.attn (MultiheadAttention)"
  UserLocation location;              // empty file when unknown
  std::int64_t needs_opset = 0;       // the oldest opset that cures it; 0 when none is known to
  std::vector<std::string> contexts;  // innermost first: "while translating ...", "in model.pt2"

  // The whole record as a terminal shows it; several lines, no trailing newline.
  std::string str() const;
};

// Carries one diagnostic or, when a stage collects its failures, all of them.
class SARDONYX_API Error : public std::exception {
 public:
  explicit Error(Diagnostic diagnostic);
  explicit Error(std::vector<Diagnostic> diagnostics);

  const char* what() const noexcept override { return text_.c_str(); }
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

  // Adds "while doing this" to every diagnostic carried, outermost last.
  Error& within(const std::string& context);

 private:
  void render();

  std::vector<Diagnostic> diagnostics_;
  std::string text_;
};

}  // namespace sardonyx
