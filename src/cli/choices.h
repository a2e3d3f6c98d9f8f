// Options that take one of a few words.
#pragma once

#include <map>
#include <string>

#include <CLI/CLI.hpp>

#include "sardonyx/sardonyx.h"

namespace sardonyx::cli {

// Turns the words into the values that they stand for; help lists the words alone: {auto,never}.
template <class Value>
CLI::Validator choices(const std::map<std::string, Value>& values) {
  std::string words;
  for (const auto& [word, value] : values) words += (words.empty() ? "" : ",") + word;
  CLI::Validator transformer = CLI::CheckedTransformer(values);
  transformer.description("{" + words + "}");
  return transformer;
}

// Where weights are written.
inline std::map<std::string, ExternalData> external_data_choices() {
  return {{"auto", ExternalData::kAuto},
          {"always", ExternalData::kAlways},
          {"never", ExternalData::kNever}};
}

}  // namespace sardonyx::cli
