// Options of the commands that are written in Python: a table that is made of their parsers.
#pragma once

#include <span>

namespace sardonyx::cli {

struct PythonOption {
  const char* command;
  const char* names;  // "-o,--output"; without dashes what is given by its place
  const char* takes;  // "" of a flag, "{a,b}" where it takes certain words, else as help calls it
  const char* help;
};

std::span<const PythonOption> python_options();

}  // namespace sardonyx::cli
