// The time of each node of a model in ONNX Runtime.
#pragma once

#include <string>
#include <vector>

#include "cli/model_cost.h"

namespace sardonyx::cli {

// By a run of `sardonyx run` with random inputs; `sizes` as it takes them. Throws SX2006 where that
// fails, after it said why.
NodeTimes run_times(const std::string& model, const std::vector<std::string>& sizes);

}  // namespace sardonyx::cli
