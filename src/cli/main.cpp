#include <string>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "sardonyx/sardonyx.h"

int main(int argc, char** argv) {
  CLI::App app{
      "Sardonyx turns PyTorch programs (.pt2 files of torch.export.save) into ONNX models.\n"
      "Neither Python nor PyTorch is needed to run it, but for `hf`."};
  app.name("sardonyx");
  app.set_version_flag("--version", std::string(sardonyx::version()));
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 success, 1 the input could not be read, converted or written, 2 wrong usage.\n"
      "Every error has a code (SX1300); docs/diagnostics.md explains each.");
  int exit_code = sardonyx::cli::kSuccess;
  sardonyx::cli::add_convert(app, exit_code);
  sardonyx::cli::add_inspect(app, exit_code);
  sardonyx::cli::add_optimize(app, exit_code);
  sardonyx::cli::add_hf(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11 gives 0 for --help and --version, and a code of its own for each kind of misuse.
    return app.exit(error) == 0 ? sardonyx::cli::kSuccess : sardonyx::cli::kUsage;
  }
  return exit_code;
}
