// From a functional Program to an ONNX model.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "aten/library.h"
#include "onnx/emit.h"
#include "onnx/ir.h"
#include "program/program.h"

namespace sardonyx::aten {

// A translator that is not in the library (the user's): asked before it.
using CustomTranslator = std::function<Outputs(const Call& call, Emit& onnx)>;
using CustomLookup = std::function<const CustomTranslator*(const program::Call& call)>;

struct TranslateOptions {
  onnx::EmitOptions emit;
  // Names for the model's inputs and outputs, in order; missing or empty ones are derived.
  std::vector<std::string> input_names;
  std::vector<std::string> output_names;
  bool mutated_buffers_as_outputs = true;
  CustomLookup custom;  // may be empty
};

// Every operator must be pure by now (functionalize). Collects all failures and throws them
// together as one base::Error: SX1300 for operators without a translator, SX1301/1302 for refused
// calls.
std::unique_ptr<onnx::Model> translate(const program::Program& program,
                                       const TranslateOptions& options);

}  // namespace sardonyx::aten
