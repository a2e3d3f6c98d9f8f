// What the program says of a command line that it does not understand.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace sardonyx::cli {

// Of what CLI11 makes of it: the reason, the nearest name where a command or an option is mistyped,
// and whose --help to read.
std::string usage_error(const CLI::App* app, const CLI::Error& error);

}  // namespace sardonyx::cli
