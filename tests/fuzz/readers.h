// What is fuzzed: every reader of files that others may have made.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "mutators.h"

namespace sardonyx::fuzz {

struct Reader {
  std::string_view name;
  // Reads the bytes as such a file. An Error is an answer; anything else is a finding.
  void (*run)(std::span<const std::byte> bytes);
  // Changes such a file and leaves it whole, where its format wants that to be read at all.
  Mutator mutate = nullptr;
};

const std::vector<Reader>& readers();

}  // namespace sardonyx::fuzz
