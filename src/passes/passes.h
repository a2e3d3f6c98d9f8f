// Graph simplification: named rules in one pipeline.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "onnx/graph/ir.h"

namespace sardonyx::passes {

struct Pass {
  std::string_view name;  // says the rule: "drop-identity", "fuse-rotary-embedding"
  // Whether it changed anything. Keeps names and metadata; in debug builds the verifier runs after
  // it.
  bool (*run)(onnx::Model& model);
  // Whether it replaces weights by what is computed of them.
  bool changes_weights = false;
  // Whether ONNX Runtime computes something else without it.
  bool corrects = false;
};

// Runs the pipeline, up to and including the pass called `stop_after` when one is named (SX1801
// when there is none of that name), without those that change weights where `keep_weights`. Returns
// the names of the passes that changed the model, in order.
std::vector<std::string> optimize(onnx::Model& model, std::string_view stop_after = {},
                                  bool keep_weights = false);

// Runs the passes alone without which ONNX Runtime computes something else.
void correct(onnx::Model& model);

// Writes DequantizeLinear of weights out where their products are to be those of real numbers: ONNX
// Runtime rounds the other factor to 8 bits otherwise (MatMulNBits, off by half a percent).
bool spell_out_weights(onnx::Model& model);

// Makes int8 factors uint8, 128 more, beside first factors of uint8: on x86 without VNNI, ONNX
// Runtime adds the products of uint8 and int8 in 16 bits, which are too few. Weights are changed as
// they are written, or where `keep_weights` at run time.
bool unsigned_factors(onnx::Model& model, bool keep_weights);

// The passes in the order they run.
std::vector<Pass> pipeline();

}  // namespace sardonyx::passes
