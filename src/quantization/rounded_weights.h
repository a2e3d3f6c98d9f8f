// What the attempts to quantize one model have in common: how long weights were rounded by samples,
// and what they became, which does not depend on the layers that stay in float.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "quantization/weights.h"

namespace sardonyx::quantization {

// How long rounding by samples takes: learnt of the weights before.
class RoundingTime {
 public:
  // Whether so many more products of weights and samples end within the limit, in seconds.
  bool is_enough_for(double products, double limit) const;
  // What was rounded, and how long it took.
  void add(double products, double seconds);

 private:
  double products_ = 0, seconds_ = 0;
};

class RoundedWeights {
 public:
  // `keeps`: whether there are further attempts.
  explicit RoundedWeights(bool keeps) : keeps_(keeps) {}

  RoundingTime& time() { return time_; }
  // By the name of the layer's output and the least scales; null where it was not rounded yet, or
  // to other scales.
  const QuantizedWeight* find(const std::string& output,
                              const std::vector<float>& least_scales) const;
  void add(const std::string& output, std::vector<float> least_scales,
           const QuantizedWeight& weight);
  // Weights of another model follow, in the time that is left.
  void clear() { weights_.clear(); }

 private:
  struct Rounded {
    std::vector<float> least_scales;
    QuantizedWeight weight;
  };
  bool keeps_;
  RoundingTime time_;
  std::map<std::string, Rounded> weights_;
};

}  // namespace sardonyx::quantization
