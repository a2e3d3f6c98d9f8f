// `--fixed` and `--max`: numbers for dynamic dimensions.
#pragma once

#include <CLI/CLI.hpp>

#include "sardonyx/sardonyx.h"

namespace sardonyx::cli {

void add_dim_options(CLI::App& command, DimOptions& options);

}  // namespace sardonyx::cli
