// Element types of a model's numbers and weights, other than those it came with.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sardonyx {

struct PrecisionOptions {
  // "fp16" or "bf16": the whole graph, but for what would lose more than rounding. "int8" or
  // "int4": factors of matrix products and tables of embeddings, as numbers of so many bits in
  // blocks. "fp16+int8" or "fp16+int4": both. Empty: nothing changes.
  std::string to;
  // Regular expressions that are found in names of nodes, of what they make or of weights, or that
  // are an operator's whole type: what they match stays as it is.
  std::vector<std::string> keep;

  // Where the graph is of fp16 or bf16: inputs and outputs of the model change their type, too.
  bool io = false;

  // Where weights are of int8 or int4: weights whose name, or whose node's, `pattern` matches are
  // of another type: "int8", "int4" or "keep". The first that matches counts.
  struct Mixed {
    std::string pattern, to;
  };
  std::vector<Mixed> mixed;
  std::int64_t block_size = 32;  // weights that share a scale: 16 to 256, a power of two
  bool symmetric = true;         // false: blocks have a zero point, too
  // "search": the scale of each block with the least squared error; "rtn": the one that the block's
  // extremes give, rounded to nearest.
  std::string method = "search";
  // Of MatMulNBits: 4 lets the runtime quantize the activations to 8 bits in blocks, which is
  // several times faster on CPUs; 0 does not. Missing: 4 for onnxruntime-cpu.
  std::optional<std::int64_t> accuracy_level;
};

// What holding a weight in another type changed of it.
struct WeightError {
  double relative = 0;  // root mean square of the differences, as a part of the weights'
  double largest = 0;   // difference
};

struct WeightPrecision {
  std::string weight;
  std::string type;  // "float16", "int4", ...
  std::int64_t bytes_before = 0, bytes_after = 0;
  // Measured while the model is written; computed when asked for before that.
  std::function<WeightError()> error;
  // Of block-wise quantized weights alone. The model's weights that this one was made of, in the
  // order in which they are concatenated; whether it is an embedding table, and no operand of a
  // MatMul; its size, where the elements of a row share scales; and its dequantized rows, which are
  // computed when they are read, and empty where there is no data.
  std::vector<std::string> made_of;
  bool is_table = false;
  std::int64_t rows = 0, columns = 0;
  std::function<std::vector<float>()> values;
};

}  // namespace sardonyx
