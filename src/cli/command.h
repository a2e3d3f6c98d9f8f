// What the subcommands share: a run that reports errors and gives scripts an exit code.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sardonyx/diagnostic.h"

namespace CLI {
class App;
}

namespace sardonyx {
class Model;
struct ReadOptions;
struct WriteOptions;
}  // namespace sardonyx

namespace sardonyx::cli {

inline constexpr int kSuccess = 0;
inline constexpr int kFailure = 1;    // the input or the conversion; diagnostics say what
inline constexpr int kUsage = 2;      // the command line itself
inline constexpr int kDifferent = 3;  // of `diff --exit-code`

// Runs `body`; prints what it throws to stderr, or as JSON to stdout, and returns the exit code.
// `finish` gets the errors before, to write them elsewhere, too; what it throws is an error more.
using Finish = std::function<void(const std::vector<Diagnostic>& errors)>;
int guarded(bool json, const std::function<void()>& body, const Finish& finish = {});

// The file of that path; for `-` one that holds what standard input does, and has no name.
std::string input_file(const std::string& path);

// Writes a model to the file of that path; to standard output for `-`, which must be no terminal.
void write_model(const Model& model, const std::string& path, const WriteOptions& options);

// Refuses to write a model over the program that it is made of, which nothing gives back.
void check_not_overwritten(const std::string& input, const std::string& output);

// Refuses JSON on standard output (wrong usage) where the model goes there.
void check_one_output(const std::string& path, bool json);

// Writes a report to a file; throws SX1601 where it cannot.
void write_text(const std::string& path, const std::string& text);

// A progress line on stderr; silent unless stderr is a terminal and `quiet` is false.
std::function<void(std::int64_t done, std::int64_t total)> progress_line(const std::string& label,
                                                                         bool quiet);

// --threads.
void add_threads_option(CLI::App& command);

// What the user says of a program's inputs: --input, --dynamic.
void add_read_options(CLI::App& command, ReadOptions& options);

// Each adds a subcommand; the exit code of the one that ran lands in `exit_code`.
void add_convert(CLI::App& app, int& exit_code);
void add_inspect(CLI::App& app, int& exit_code);
void add_optimize(CLI::App& app, int& exit_code);
void add_diff(CLI::App& app, int& exit_code);
void add_serve(CLI::App& app, int& exit_code);
void add_manual(CLI::App& app, int& exit_code);

// The commands that are written in Python: what the words of a command line end with where they
// name one of them (none otherwise), and their options, for help, manual pages and completions.
std::optional<int> run_in_python(int argc, char** argv);
// Runs such a command and waits for it; what it prints is dropped, but for errors. Returns its exit
// code.
int call_in_python(const std::vector<std::string>& words);
void add_python_commands(CLI::App& app);

// Starts `python -m MODULE ARGUMENT` with a variable of its environment set, as a process that ends
// with this one at the latest.
pid_t start_in_python(const std::string& module, const std::string& argument,
                      const std::string& variable, const std::string& value);

}  // namespace sardonyx::cli
