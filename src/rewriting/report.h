// The options of a run over the rules, and its report.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rewriting/tuning.h"

namespace sardonyx::rewriting {

// What rules may make of a model.
struct Limits {
  // Elements of a constant that is computed from others.
  std::int64_t folded_elements = 262144;
  // Reasons that are kept; a model of many layers gives the same ones again and again.
  std::size_t reasons = 1000;
};

struct Options {
  // The last pass or rule that runs, by name; all where it is empty.
  std::string_view stop_after;
  // Without those that replace weights by what is computed of them.
  bool keep_weights = false;
  // Whether types are inferred first: of models that others have made. Where a file declares
  // others, the report says so.
  bool infer_types = false;
  Limits limits;
  // Of the target that the model is for.
  Tuning tuning = {};
  // The names of rules and passes that do not run.
  std::vector<std::string> disabled = {};
  // Whether nodes have the names of the rules that made or changed them, as their metadata.
  bool record_rules = false;
  // The weights that share a scale where weights are quantized afterwards; 0 where they are not.
  std::int64_t quantized_block_size = 0;
};

// A rule that had found what it looks for, and left it as it is.
struct Declined {
  std::string rule;
  std::string node;
  std::string reason;
};

// A pass or rule that changed the model, and how often.
struct Applied {
  std::string name;
  std::int64_t count = 0;
};

struct Report {
  std::vector<Applied> applied;  // in the order of the pipeline
  std::vector<Declined> declined;

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Applied& each : applied) names.push_back(each.name);
    return names;
  }
};

}  // namespace sardonyx::rewriting
