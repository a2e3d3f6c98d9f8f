#include "quantization/rounded_weights.h"

#include <cstddef>

namespace sardonyx::quantization {

bool RoundingTime::is_enough_for(double products, double limit) const {
  const double rate = products_ > 0 ? seconds_ / products_ : 0;
  return limit > 0 && seconds_ + rate * products <= limit;
}

void RoundingTime::add(double products, double seconds) {
  products_ += products;
  seconds_ += seconds;
}

const QuantizedWeight* RoundedWeights::find(const std::string& output,
                                            const std::vector<float>& least_scales) const {
  const auto found = weights_.find(output);
  if (found == weights_.end()) return nullptr;
  const auto& [before, weight] = found->second;
  if (before == least_scales) return &weight;
  if (before.size() != least_scales.size() || before.size() != weight.scales.size()) return nullptr;
  // Neither decided the scale.
  for (std::size_t i = 0; i < before.size(); ++i)
    if (before[i] * 2 >= weight.scales[i] || least_scales[i] * 2 >= weight.scales[i])
      return nullptr;
  return &weight;
}

void RoundedWeights::add(const std::string& output, std::vector<float> least_scales,
                         const QuantizedWeight& weight) {
  if (keeps_) weights_.insert_or_assign(output, Rounded{std::move(least_scales), weight});
}

}  // namespace sardonyx::quantization
