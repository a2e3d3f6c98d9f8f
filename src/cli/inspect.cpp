#include <cstdio>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/describe.h"
#include "sardonyx/report.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx::cli {
namespace {

struct InspectArguments {
  std::string input;
  ReadOptions read;
  bool json = false;
};

void run_inspect(const InspectArguments& arguments) {
  // .onnx files are models; everything else is taken for a program.
  std::string text;
  std::string program;
  if (arguments.input.ends_with(".onnx")) {
    text = read_model(arguments.input).str();
  } else {
    const Program read_program = read(arguments.input, arguments.read);
    text = read_program.str();
    if (arguments.json) program = ", \"program\": " + program_json(read_program.internal());
  }
  if (arguments.json) {
    std::printf("{\"ok\": true, \"input\": %s, \"text\": %s%s}\n",
                json_string(arguments.input).c_str(), json_string(text).c_str(), program.c_str());
  } else {
    std::fwrite(text.data(), 1, text.size(), stdout);
    if (!text.ends_with('\n')) std::fputc('\n', stdout);
  }
}

}  // namespace

void add_inspect(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<InspectArguments>();
  CLI::App* command = app.add_subcommand("inspect", "Show what a .pt2, .pt or .onnx file holds");
  command->add_option("input", arguments->input, "the .pt2, .pt or .onnx file")->required();
  add_read_options(*command, arguments->read);
  command->add_flag("--json", arguments->json, "as JSON on standard output");
  command->callback([arguments, &exit_code] {
    exit_code = guarded(arguments->json, [&] { run_inspect(*arguments); });
  });
}

}  // namespace sardonyx::cli
