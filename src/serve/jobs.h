// What the page asks to be done with a model.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "sardonyx/diagnostic.h"
#include "sardonyx/sardonyx.h"
#include "serve/shelf.h"

namespace sardonyx::serve {

// As the options of `convert` and `optimize` are called; empty ones are left out. Those of `input`
// and `dynamic` are one a line.
struct JobOptions {
  std::string runtime, opset, precision, fixed, max, input, dynamic;
  std::string rules;  // "1": nodes name the rules that made them

  // "onnxruntime-cpu, opset 21, int4"; what is left out has no part.
  std::string text() const;
};

struct JobResult {
  std::string output;  // the file's name
  std::int64_t nodes_before = 0, nodes_after = 0;
  double seconds = 0;
  std::vector<Diagnostic> notes;
  std::vector<OptimizationReport::Applied> applied;

  // The members nodesBefore (null of a program), nodesAfter, seconds, notes, applied.
  std::string members(bool is_of_program) const;
};

// Converts a program, or optimizes a model, and writes it into `folder`. Throws Error.
JobResult run_job(const Shelved& source, const JobOptions& options,
                  const std::filesystem::path& folder);

// The page of a model; the text of a program as a page.
std::string page_of(const Shelved& each);
std::string page_of_both(const Shelved& a, const Shelved& b);

}  // namespace sardonyx::serve
