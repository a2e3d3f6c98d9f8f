// What is fuzzed: every reader of files that others may have made.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace sardonyx::fuzz {

struct Target {
  std::string_view name;
  // Reads the bytes as such a file. An Error is an answer; anything else is a finding.
  void (*run)(std::span<const std::byte> bytes);
  // What such files are made of.
  std::vector<std::string_view> tokens;
};

const std::vector<Target>& targets();

}  // namespace sardonyx::fuzz
