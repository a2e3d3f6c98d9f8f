// `--fixed` and `--max`: numbers for dynamic dimensions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>

#include "sardonyx/sardonyx.h"

namespace sardonyx::cli {

// Of NAME=N, with so many digits at most; nothing for another text.
std::optional<std::pair<std::string, std::int64_t>> named_number(const std::string& text,
                                                                 std::size_t max_digits);

void add_dim_options(CLI::App& command, DimOptions& options);

}  // namespace sardonyx::cli
