// A run of `convert` as a page for people to read.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sardonyx/diagnostic.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx::cli {

// What is gathered while it runs; `model` is null where there is none.
struct RunRecord {
  std::string input;
  std::vector<std::pair<std::string, double>> steps;  // and the seconds of each that succeeded
  const Model* model = nullptr;
  std::vector<Diagnostic> notes;
};

// Markdown: the steps, what is wrong, notes, the model's operators and the model itself.
std::string markdown_report(const RunRecord& run, const std::vector<Diagnostic>& errors);

}  // namespace sardonyx::cli
