// `sardonyx hf`, which is written in Python: handed over to an interpreter that has the package.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/command.h"

namespace sardonyx::cli {
namespace {

// Where to look for Python: what the user says, beside this program (a wheel puts both into the
// scripts of one environment), the environment that is active, and the first on the path.
std::vector<std::string> interpreters() {
  namespace fs = std::filesystem;
  std::vector<std::string> found;
  if (const char* named = std::getenv("SARDONYX_PYTHON"); named && *named) return {named};
  std::error_code none;
  const fs::path self = fs::read_symlink("/proc/self/exe", none);
  if (!none && fs::exists(self.parent_path() / "python3", none))
    found.push_back(self.parent_path() / "python3");
  if (const char* environment = std::getenv("VIRTUAL_ENV"); environment && *environment)
    found.push_back(fs::path(environment) / "bin" / "python3");
  found.insert(found.end(), {"python3", "python"});
  return found;
}

// Returns only where no interpreter could be started.
int hand_over(const std::vector<std::string>& arguments) {
  for (const std::string& python : interpreters()) {
    std::vector<std::string> words = {python, "-m", "sardonyx", "hf"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    execvp(pointers.front(), pointers.data());
    if (errno == ENOENT) continue;
    std::fprintf(stderr, "error[SX2006]: cannot run %s: %s\n", python.c_str(),
                 std::strerror(errno));
    return kFailure;
  }
  std::fprintf(stderr,
               "error[SX2006]: `sardonyx hf` runs in Python, and no interpreter was found\n"
               "  help: install Python with the packages sardonyx, torch and transformers, or name "
               "one in SARDONYX_PYTHON\n");
  return kFailure;
}

}  // namespace

void add_hf(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "hf", "Export the folder of a Hugging Face checkpoint (in Python, with transformers)");
  // All that follows is for the command in Python, --help included.
  command->prefix_command();
  command->set_help_flag();
  command->final_callback([command, &exit_code] { exit_code = hand_over(command->remaining()); });
}

}  // namespace sardonyx::cli
