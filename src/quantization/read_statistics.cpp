// Reading a file of statistics.
#include <simdjson.h>

#include <string>
#include <utility>

#include "base/diagnostic.h"
#include "quantization/statistics.h"

namespace sardonyx::quantization {
namespace {

using Json = simdjson::dom::element;

[[noreturn]] void refuse(std::string_view what) {
  base::fail("SX1832", "a file of statistics is damaged: " + std::string(what),
             "write it again with `sardonyx calibrate`");
}

template <typename T>
T as(Json json, std::string_view what) {
  T value;
  if (json.get(value) != simdjson::SUCCESS) refuse(what);
  return value;
}

Json member(Json object, std::string_view key) {
  Json value;
  if (object[key].get(value) != simdjson::SUCCESS) refuse("'" + std::string(key) + "' is missing");
  return value;
}

template <typename T>
std::vector<T> list(Json json, std::string_view what) {
  std::vector<T> result;
  for (const Json each : as<simdjson::dom::array>(json, what)) result.push_back(as<T>(each, what));
  return result;
}

ChannelSums channels_of(Json json) {
  const auto sums = list<std::string_view>(member(json, "sums"), "sums of channels");
  for (const std::string_view sum : sums)
    if (sum.size() != 32 || sum.find_first_not_of("0123456789abcdef") != std::string_view::npos)
      refuse("a sum is no number of 128 bits");
  return ChannelSums::of(as<std::uint64_t>(member(json, "count"), "count"), sums);
}

ValueStatistics value_of(Json json) {
  Histogram::Fields fields;
  fields.min = static_cast<float>(as<double>(member(json, "min"), "min"));
  fields.max = static_cast<float>(as<double>(member(json, "max"), "max"));
  fields.zeros = as<std::uint64_t>(member(json, "zeros"), "zeros");
  fields.not_finite = as<std::uint64_t>(member(json, "not_finite"), "not_finite");
  fields.counts = list<std::uint64_t>(member(json, "counts"), "counts");
  ValueStatistics value{Histogram::of(std::move(fields)), {}};
  Json channels;
  if (json["channels"].get(channels) == simdjson::SUCCESS) value.channels = channels_of(channels);
  return value;
}

}  // namespace

Statistics Statistics::of_json(std::string_view json) {
  simdjson::dom::parser parser;
  Json root;
  if (parser.parse(simdjson::padded_string(json)).get(root) != simdjson::SUCCESS)
    refuse("it is no JSON");
  std::string_view kind;
  if (root["sardonyx"].get(kind) != simdjson::SUCCESS || kind != "statistics")
    refuse("it is no file of statistics");
  Statistics result;
  result.samples_ = as<std::uint64_t>(member(root, "samples"), "samples");
  for (const auto [name, value] : as<simdjson::dom::object>(member(root, "values"), "values"))
    result.values_.emplace(std::string(name), value_of(value));
  return result;
}

}  // namespace sardonyx::quantization
