// From a functional Program to an ONNX model.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "aten/library.h"
#include "base/diagnostic.h"
#include "onnx/emit/emit.h"
#include "onnx/graph/ir.h"
#include "program/ir/program.h"

namespace sardonyx::aten {

// A translator that is not in the library (the user's): asked before it.
using CustomTranslator = std::function<Outputs(const Call& call, Emit& onnx)>;
using CustomLookup = std::function<const CustomTranslator*(const program::Call& call)>;

// What becomes of an operator that has no translation.
enum class UnsupportedOps : std::uint8_t {
  kNo,    // it is reported
  kAsIs,  // a node of its own name: aten::foo
  kATen,  // a node org.pytorch.aten::ATen with the name as an attribute
};

// Values of a program under the names that their copies have among the outputs of the model.
using NamedValues = std::unordered_map<const program::Value*, std::string>;

// The tensors that the calls of the program make, and of bodies that run where their call stands,
// as PyTorch names their nodes ("value::add_1", of a body "value::submod_1/add"): before
// functionalization, which keeps what a captured value is wherever the value is still computed.
NamedValues name_values(const program::Program& program);

struct TranslateOptions {
  onnx::EmitOptions emit;
  // Names for the model's inputs and outputs, in order; missing or empty ones are derived.
  std::vector<std::string> input_names;
  std::vector<std::string> output_names;
  bool mutated_buffers_as_outputs = true;
  bool assertions_as_outputs = false;
  CustomLookup custom;  // may be empty
  UnsupportedOps fall_through = UnsupportedOps::kNo;
  // Where given, what failed is put there rather than thrown, and the model lacks it: for a caller
  // that has more to find.
  std::vector<base::Diagnostic>* failures = nullptr;
  // Values that become further outputs, where they are computed outside of bodies; may be null.
  const NamedValues* shown = nullptr;
  // Told of every operator that is kept as it is; may be empty.
  std::function<void(const base::Diagnostic& note)> on_note;
};

// Every operator must be pure by now (functionalize). Collects all failures and throws them
// together as one base::Error: SX1300 for operators without a translator, SX1301/1302 for refused
// calls.
std::unique_ptr<onnx::Model> translate(const program::Program& program,
                                       const TranslateOptions& options);

}  // namespace sardonyx::aten
