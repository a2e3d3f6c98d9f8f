// The options of quantization as users write them.
#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "quantization/quantize.h"

namespace sardonyx::quantization {

struct NamedOptions {
  std::string target, scheme;  // an empty scheme: the target's first
  std::string method = "mse";
  double percentile = 99.99;
  bool per_channel = true, correct_bias = true;
  double rounding_seconds = std::numeric_limits<double>::infinity();
  std::vector<std::string> keep;
  // Patterns with "keep", or the bits of activations: "a8", "a16".
  std::vector<std::pair<std::string, std::string>> mixed;
};

// Throws SX1830 for what the target has not, and SX1810 for words that are none.
Options options_of(NamedOptions named);

}  // namespace sardonyx::quantization
