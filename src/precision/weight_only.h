// Factors of matrix products and tables of embeddings as numbers of a few bits in blocks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/block_quantizer.h"
#include "onnx/graph/ir.h"
#include "precision/report.h"

namespace sardonyx::precision {

// Weights whose name, or whose reader's, is found to match have so many bits; 0: they stay.
struct Bits {
  std::string pattern;
  int bits;
};

struct WeightOnlyOptions {
  int bits = 4;  // of weights that no pattern names; 0: they stay
  std::int64_t block_size = 32;
  bool symmetric = true;
  bool search = true;
  std::vector<std::string> keep;  // operators, nodes or weights that stay as they are
  std::vector<Bits> mixed;        // the first that matches counts
  // MatMulNBits, GatherBlockQuantized and QMoE of com.microsoft, or else DequantizeLinear of
  // opset 21.
  bool contrib = false;
  std::int64_t accuracy_level = 0;  // of these
};

// Quantizes constant weights of MatMul, Gemm, Gather and, in float16, MoE in blocks; they are
// computed as the model is written. Weights in bodies are quantized, those in functions stay.
// Throws SX1812 for a pattern that names nothing, SX1813 for a block size that there is not, SX1814
// for a weight that `mixed` names and that cannot be held so; the model is as it was then.
Report code_weights(onnx::Model& model, const WeightOnlyOptions& options);

}  // namespace sardonyx::precision
