// What a model costs to run: multiply-adds and bytes, by operator and by module.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "onnx/graph/ir.h"

namespace sardonyx::cli {

// Sizes of dynamic dimensions by name.
using DimSizes = std::map<std::string, std::int64_t>;

// The milliseconds of a run, by what a runtime calls its nodes.
using NodeTimes = std::map<std::string, double>;

struct CostedModel {
  onnx::Model& model;
  const NodeTimes* times = nullptr;  // null where they were not measured
};

// Dimensions that `sizes` does not name are 1. The types of the model are inferred.
// Throws SX1001 for a name that no input has.
std::string cost_text(const CostedModel& model, const DimSizes& sizes, int depth);
// The same of two models, by the names of operators and modules.
std::string cost_text(const CostedModel& before, const CostedModel& after, const DimSizes& sizes,
                      int depth);
// An object of JSON.
std::string cost_json(const CostedModel& model, const DimSizes& sizes);

}  // namespace sardonyx::cli
