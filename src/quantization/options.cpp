#include "quantization/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "base/diagnostic.h"
#include "base/dtype.h"

namespace sardonyx::quantization {
namespace {

Method method_of(const std::string& name) {
  using enum Method;
  if (name == "minmax") return kMinMax;
  if (name == "percentile") return kPercentile;
  if (name == "mse") return kMse;
  if (name == "entropy") return kEntropy;
  base::fail("SX1810", fmt::format("there is no method '{}'", name),
             "choose minmax, percentile, mse or entropy");
}

template <typename Rows>
std::string names_of(const Rows& rows) {
  std::vector<std::string_view> names;
  for (const auto& row : rows) names.push_back(row.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

// "keep", or the bits of activations of the layers that the pattern matches, where the target has
// them in some scheme.
void mix(Options& options, const std::string& pattern, const std::string& type) {
  if (type == "keep") {
    options.keep.push_back(pattern);
    return;
  }
  for (const targets::QuantizationScheme& scheme : options.target->schemes) {
    const std::string_view bits = base::bit_width(scheme.activations) == 16 ? "a16" : "a8";
    if (type != bits || !base::is_integer(scheme.activations)) continue;
    options.mixed.push_back({pattern, scheme.activations});
    options.opset = std::max(options.opset, scheme.opset);
    return;
  }
  base::fail("SX1830", fmt::format("{} has no activations '{}'", options.target->title, type),
             "choose keep, a8 or a16, as its schemes have them");
}

}  // namespace

Options options_of(NamedOptions named) {
  Options options;
  options.target = targets::find_quantization_target(named.target);
  if (options.target == nullptr)
    base::fail("SX1830", fmt::format("there is no table of quantization for '{}'", named.target),
               "choose " + names_of(targets::quantization_targets()));
  const auto& schemes = options.target->schemes;
  options.scheme =
      named.scheme.empty() ? &schemes.front() : targets::find_scheme(*options.target, named.scheme);
  if (options.scheme == nullptr)
    base::fail("SX1830", fmt::format("{} has no scheme '{}'", options.target->title, named.scheme),
               "choose " + names_of(schemes));
  if (!(named.percentile > 50 && named.percentile <= 100))
    base::fail("SX1810", fmt::format("{} is no percentile", named.percentile),
               "choose one above 50, and at most 100");
  if (!(named.rounding_seconds >= 0))
    base::fail("SX1810", fmt::format("{} is no time to round weights in", named.rounding_seconds),
               "choose a number of seconds; 0 rounds to nearest");
  options.opset = options.scheme->opset;
  options.ranges = {method_of(named.method), named.percentile};
  options.per_channel = named.per_channel;
  options.correct_bias = named.correct_bias;
  options.rounding_seconds = named.rounding_seconds;
  options.keep = std::move(named.keep);
  for (const auto& [pattern, type] : named.mixed) mix(options, pattern, type);
  return options;
}

}  // namespace sardonyx::quantization
