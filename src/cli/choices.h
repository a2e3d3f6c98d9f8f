// Options that take one of a few words.
#pragma once

#include <map>
#include <string>

#include <CLI/CLI.hpp>

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

}  // namespace sardonyx::cli
