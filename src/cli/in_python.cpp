// The commands that are written in Python: handed over to an interpreter that has the package, as
// `python -m sardonyx COMMAND ...`, which takes them from there (python/sardonyx/__main__.py).
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/python_options.h"

namespace sardonyx::cli {
namespace {

namespace fs = std::filesystem;

struct PythonCommand {
  const char* name;
  const char* description;
  const char* needs;  // the packages beside sardonyx
};

constexpr PythonCommand kPythonCommands[] = {
    {"hf", "Export a Hugging Face checkpoint folder (in Python, with transformers)",
     "torch and transformers"},
    {"refresh", "Replace the weights of an exported model (in Python)",
     "torch for its own formats"},
    {"run", "Run a model: outputs, and time by operator (in Python, with ONNX Runtime)",
     "onnxruntime"},
    {"calibrate", "Statistics of a model's values on samples (in Python, with ONNX Runtime)",
     "onnxruntime"},
    {"quantize", "Quantize weights and activations by samples (in Python, with ONNX Runtime)",
     "onnxruntime"},
    {"doctor", "Check the installation (in Python)", "torch"},
};

fs::path own_path() {
  std::error_code none;
  return fs::read_symlink("/proc/self/exe", none);
}

// What this program was called as. Where auditwheel grafted libraries, the program itself stands in
// the package, and a script of the environment runs it under its own name.
fs::path called_as() {
  std::ifstream words("/proc/self/cmdline", std::ios::binary);
  std::string word;
  std::getline(words, word, '\0');
  return word;
}

// Where to look for Python: what the user says, beside this program (a wheel puts both into the
// scripts of one environment), the environment that is active, and the first on the path.
std::vector<std::string> interpreters() {
  std::vector<std::string> found;
  if (const char* named = std::getenv("SARDONYX_PYTHON"); named && *named) return {named};
  std::error_code none;
  for (const fs::path& program : {called_as(), own_path()}) {
    const fs::path beside = fs::absolute(program, none).parent_path() / "python3";
    if (program.has_parent_path() && fs::exists(beside, none)) found.push_back(beside);
  }
  if (const char* environment = std::getenv("VIRTUAL_ENV"); environment && *environment)
    found.push_back(fs::path(environment) / "bin" / "python3");
  found.insert(found.end(), {"python3", "python"});
  return found;
}

// In a build folder the package stands beside this program's folder, and is in no interpreter.
void show_package_of_build() {
  std::error_code none;
  const fs::path package = own_path().parent_path().parent_path() / "python";
  if (!fs::exists(package / "sardonyx" / "__main__.py", none)) return;
  const char* before = std::getenv("PYTHONPATH");
  const std::string path = package.string() + (before && *before ? std::string(":") + before : "");
  setenv("PYTHONPATH", path.c_str(), 1);
}

// Returns only where no interpreter could be started. `name` is the command's, `needs` the packages
// beside sardonyx.
int become_python(const std::vector<std::string>& arguments, const char* name, const char* needs) {
  show_package_of_build();
  setenv("SARDONYX_COMMAND", own_path().c_str(), 1);
  for (const std::string& python : interpreters()) {
    std::vector<std::string> words = {python, "-m"};
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
  std::fprintf(
      stderr,
      "error[SX2006]: `sardonyx %s` runs in Python, and no interpreter was found\n"
      "  help: install Python and `pip install sardonyx` with %s, or name an interpreter in "
      "SARDONYX_PYTHON\n",
      name, needs);
  return kFailure;
}

int hand_over(const PythonCommand& command, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {"sardonyx", command.name};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return become_python(words, command.name, command.needs);
}

}  // namespace

std::optional<int> run_in_python(int argc, char** argv) {
  if (argc < 2) return std::nullopt;
  for (const PythonCommand& each : kPythonCommands) {
    if (std::strcmp(each.name, argv[1]) == 0) return hand_over(each, {argv + 2, argv + argc});
  }
  return std::nullopt;
}

int call_in_python(const std::vector<std::string>& words) {
  for (const PythonCommand& each : kPythonCommands) {
    if (words.empty() || words[0] != each.name) continue;
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      const int nothing = open("/dev/null", O_WRONLY);
      dup2(nothing, STDOUT_FILENO);
      _exit(hand_over(each, {words.begin() + 1, words.end()}));
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return kFailure;
    return WEXITSTATUS(status);
  }
  return kUsage;
}

pid_t start_in_python(const std::string& module, const std::string& argument,
                      const std::string& variable, const std::string& value) {
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child != 0) return child;
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
  if (getppid() != parent) _exit(kFailure);  // it ended before that
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
  dup2(STDERR_FILENO, STDOUT_FILENO);  // what the user's code prints
  setenv(variable.c_str(), value.c_str(), 1);
  _exit(become_python({module, argument}, "serve --watch", "torch"));
}

void add_python_commands(CLI::App& app) {
  for (const PythonCommand& each : kPythonCommands) {
    CLI::App* command = app.add_subcommand(each.name, each.description);
    for (const PythonOption& option : python_options()) {
      if (std::strcmp(option.command, each.name) != 0) continue;
      if (*option.takes == '\0')
        command->add_flag(option.names, option.help);
      else
        command->add_option(option.names, option.help)->type_name(option.takes);
    }
  }
}

}  // namespace sardonyx::cli
