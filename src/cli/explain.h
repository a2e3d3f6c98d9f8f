// What simplifying did and left, as text.
#pragma once

#include <string>
#include <vector>

#include "sardonyx/sardonyx.h"

namespace sardonyx::cli {

// "fold-pad: 3 times", then what was declined, a rule and reason a line with the nodes it stands
// for.
void print_explanation(const OptimizationReport& simplification);
// What is held in another type, in sum, and `each_of_them` with the error that was measured. On
// standard error, that nothing is, where a `precision` was asked for.
void print_weights(const OptimizationReport& simplification, const std::string& precision,
                   bool each_of_them);
// The same as a JSON array.
std::string weights_json(const OptimizationReport& simplification);
// The whole as members of a JSON object, each reason with its node: "nodes_before", "nodes",
// "applied", "declined", "weights".
std::string explanation_json(const OptimizationReport& simplification);

// On standard error, one after the other.
void print_notes(const std::vector<Diagnostic>& notes);
// The same as a further member of a JSON object, ", \"notes\": [...]"; empty where there are none.
std::string notes_json(const std::vector<Diagnostic>& notes);

}  // namespace sardonyx::cli
