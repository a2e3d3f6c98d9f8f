#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/usage_error.h"
#include "sardonyx/sardonyx.h"

namespace {

// Says what an option takes as it can be typed: {a,b} for TEXT:{a,b}, 13-28 for INT:INT in [13 -
// 28].
class PlainFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text = CLI::Formatter::make_option_opts(option);
    for (const char* type : {"TEXT:{", "ENUM:{", "INT:{"}) {
      if (const std::size_t at = text.find(type); at != std::string::npos)
        text.erase(at, std::string(type).size() - 1);
    }
    const std::string range = "INT:INT in ";
    if (const std::size_t at = text.find(range); at != std::string::npos)
      text.erase(at, range.size());
    return text;
  }
};

// Adds the command of that name; all of them where there is none.
void add_commands(CLI::App& app, std::string_view name, int& exit_code) {
  using namespace sardonyx::cli;
  constexpr std::pair<std::string_view, void (*)(CLI::App&, int&)> kCommands[] = {
      {"convert", add_convert},
      {"inspect", add_inspect},
      {"optimize", add_optimize},
      {"diff", add_diff},
      {"serve", add_serve}};
  for (const auto& [command, add] : kCommands)
    if (command == name) return add(app, exit_code);
  for (const auto& [command, add] : kCommands) add(app, exit_code);
  add_python_commands(app);
  add_manual(app, exit_code);  // of all commands above
}

}  // namespace

int main(int argc, char** argv) {
  if (const auto exit_code = sardonyx::cli::run_in_python(argc, argv)) return *exit_code;
  CLI::App app{
      "Converts PyTorch programs (.pt2 and TorchScript files) to ONNX, and optimizes ONNX models.\n"
      "Only `calibrate`, `doctor`, `hf`, `quantize`, `refresh` and `run` need Python."};
  app.name("sardonyx");
  app.formatter(std::make_shared<PlainFormatter>());
  app.set_version_flag("--version", std::string(sardonyx::version()));
  app.require_subcommand(1);
  app.failure_message(sardonyx::cli::usage_error);
  app.footer(
      "Examples:\n"
      "  sardonyx convert model.pt2 -o model.onnx\n"
      "  sardonyx optimize model.onnx -o smaller.onnx\n"
      "  sardonyx inspect model.onnx\n"
      "  sardonyx diff model.onnx smaller.onnx\n"
      "  sardonyx run smaller.onnx --random\n"
      "`sardonyx COMMAND --help` lists the options. `-` is standard input or output.\n"
      "\n"
      "Exit codes: 0 success, 1 the input could not be read, converted or written, 2 wrong usage.\n"
      "Every error has a code, such as SX1300: see docs/diagnostics.md.");
  int exit_code = sardonyx::cli::kSuccess;
  add_commands(app, argc > 1 ? argv[1] : "", exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11 gives 0 for --help and --version, and a code of its own for each kind of misuse.
    return app.exit(error) == 0 ? sardonyx::cli::kSuccess : sardonyx::cli::kUsage;
  }
  return exit_code;
}
