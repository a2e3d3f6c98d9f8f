// The options that say what numbers are held in.
#pragma once

#include <CLI/CLI.hpp>

#include "sardonyx/precision.h"

namespace sardonyx::cli {

void add_precision(CLI::App* command, PrecisionOptions& options);

}  // namespace sardonyx::cli
