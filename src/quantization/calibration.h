// What is observed while a model runs in float, sample by sample.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "quantization/layer_inputs.h"
#include "quantization/placement.h"
#include "quantization/statistics.h"

namespace sardonyx::quantization {

// A value to observe, and the axis of its channels; negative: none.
struct Observed {
  std::string name;
  std::int64_t axis;
};

std::vector<Observed> observed_values(const Placement& placement);

// What each value takes in memory where the inputs have these dims; -1 where that is not known.
std::vector<std::int64_t> observed_bytes(
    const onnx::Model& model, std::span<const Observed> observed,
    const std::map<std::string, std::vector<std::int64_t>>& dims);

// Samples of the inputs of products, by the name of the node's first output.
using SampledInputs = std::map<std::string, LayerInputs>;

class Calibration {
 public:
  // `rows`: how many samples of the input of each product to take of each tensor; 0: none.
  Calibration(const Placement& placement, std::size_t rows);

  const std::vector<Observed>& observed() const { return observed_; }
  // A tensor that the model gave to a value of `observed()`.
  void add(const std::string& name, std::span<const float> elements,
           std::span<const std::int64_t> dims);
  void count_sample() { statistics_.count_sample(); }
  const Statistics& statistics() const { return statistics_; }
  Statistics& statistics() { return statistics_; }
  const SampledInputs& inputs() const { return inputs_; }

 private:
  std::vector<Observed> observed_;
  std::map<std::string, std::int64_t> axes_;
  std::multimap<std::string, std::string> layers_;  // by the input's name
  std::size_t rows_;
  Statistics statistics_;
  SampledInputs inputs_;
};

// Adds the values to the outputs of the model; they keep their names.
void add_outputs(onnx::Model& model, std::span<const std::string> names);

}  // namespace sardonyx::quantization
